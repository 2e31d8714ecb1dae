"""Templates of periods: a month, quarter or range, days before a date, weekdays, a month of two years, durations."""

from questions.forms import *

DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split()


def dated(a, t):
    """A date column, a value of it, another date column if there is one, what people call the column."""
    d = a.one(dates(t))
    return d, a.one(d.values), a.other(dates(t), d), Period(a, d, "day").date


def first_of(year, month):
    """The first day of a month, which may lie in the year before or after."""
    return f"{year + (month - 1) // 12:04d}-{(month - 1) % 12 + 1:02d}-01"


def written(day):
    """A day as people write it."""
    return f"{MONTHS[int(day[5:7]) - 1]} {int(day[8:10])}, {day[:4]}"


def inside(a, t, what, d, first, after):
    return f"SELECT {what} FROM {t.sql} WHERE {within(a, d.sql, first, after)}"


def up_to_midnight(a, t, what, d, first, last):
    """The slip of timestamps: the last day is lost but for its first second."""
    return f"SELECT {what} FROM {t.sql} WHERE " + a.one(
        [f"{d.sql} BETWEEN '{first}' AND '{last}'", f"{d.sql} >= '{first}' AND {d.sql} <= '{last}'"]
    )


def in_month(a, t):
    """A month of a year."""
    d, v, e, dw = dated(a, t)
    many = a.many(t)
    m = measure(a, t, many)
    year, month = int(v[:4]), int(v[5:7])
    name = MONTHS[month - 1]
    q = told(
        a,
        [
            f"{m.ask} with {an(dw)} in {name} {year}?",
            f"{m.words}, {dw} in {name} {year}",
            f"For {name} {year} by {dw}, {m.ask}?",
            f"Give me the {m.words} for the month {year}-{month:02d} ({dw}).",
            f"I am after the {m.words} whose {dw} falls in {name[:3]} {year}.",
            f"{name} {year}: {m.words} ({dw})",
            f"Looking only at {name} of {year} by {dw}, {m.ask}?",
        ],
    )
    first, after = first_of(year, month), first_of(year, month + 1)
    base = f"SELECT {m.sql} FROM {t.sql} WHERE"
    right = a.one(
        [
            inside(a, t, m.sql, d, first, after),
            inside(a, t, m.sql, d, first, after),
            f"{base} strftime('%Y-%m', {d.sql}) = '{year}-{month:02d}'",
            f"{base} {d.sql} LIKE '{year}-{month:02d}-%'",
            f"{base} strftime('%Y', {d.sql}) = '{year}' AND strftime('%m', {d.sql}) = '{month:02d}'",
            f"{base} substr({d.sql}, 1, 7) = '{year}-{month:02d}'",
        ]
    )
    off = a.one([-1, 1])
    slips = [
        inside(a, t, m.sql, d, first_of(year, month + off), first_of(year, month + off + 1)),
        f"{base} strftime('%m', {d.sql}) = '{month:02d}'",
        up_to_midnight(a, t, m.sql, d, first, day_after(after, -1)),
        f"{base} strftime('%Y', {d.sql}) = '{year}'",
        inside(a, t, m.sql, d, first_of(year + off, month), first_of(year + off, month + 1)),
    ]
    if e:
        slips.append(inside(a, t, m.sql, e, first, after))
    return q, right, slips


def in_quarter(a, t):
    """A quarter, or a half, of a year."""
    d, v, e, dw = dated(a, t)
    many = a.many(t)
    m = measure(a, t, many)
    year, length = int(v[:4]), a.one([3, 3, 6])
    i = (int(v[5:7]) - 1) // length
    ordinal = ["first", "second", "third", "fourth"][i]
    name, short = (f"{ordinal} quarter", f"Q{i + 1}") if length == 3 else (f"{ordinal} half", f"H{i + 1}")
    q = told(
        a,
        [
            f"{m.ask} with {an(dw)} in the {name} of {year}?",
            f"{m.words}, {short} {year} ({dw})",
            f"{short}/{year}: {m.words} by {dw}",
            f"Work out the {m.words} for the {name} of {year}, going by {dw}.",
            f"In {short} of {year}, judged by {dw}, {m.ask}?",
            f"Restrict the {dw} to the {name} of {year} and tell me the {m.words}.",
        ],
    )
    start = i * length + 1
    make = lambda d, shift=0, n=length: inside(
        a, t, m.sql, d, first_of(year, start + shift), first_of(year, start + shift + n)
    )
    base = f"SELECT {m.sql} FROM {t.sql} WHERE"
    months = ", ".join(f"'{x:02d}'" for x in range(start, start + length))
    in_months = f"strftime('%m', {d.sql}) IN ({months})"
    right = a.one([make(d), make(d), f"{base} {in_months} AND strftime('%Y', {d.sql}) = '{year}'"])
    slips = [
        make(d, a.one([-length, length])),
        f"{base} {in_months}",
        make(d, 0, 1),
        make(d, 1),
        up_to_midnight(a, t, m.sql, d, first_of(year, start), day_after(first_of(year, start + length), -1)),
    ]
    if e:
        slips.append(make(e))
    return q, right, slips


def in_range(a, t):
    """From one day to another, with or without the last day."""
    d, v, e, dw = dated(a, t)
    many = a.many(t)
    m = measure(a, t, many)
    first, last = sorted(x[:10] for x in a.rng.sample(d.distinct, 2))
    if first == last:
        return None
    inclusive = a.rng.random() < 0.6
    says, said = a.one([(first, last), (written(first), written(last))])
    q = told(
        a,
        (
            [
                f"{m.ask} with {an(dw)} from {says} through {said}, both days included?",
                f"{m.words}, {dw} {says} to {said} inclusive",
                f"Between {says} and the end of {said} by {dw}, {m.ask}?",
                f"Give the {m.words} with {an(dw)} on or after {says} and "
                f"not later than {said}, that whole day included.",
                f"{dw} from {says} up to and including {said}: {m.words}",
                f"I need the {m.words} in the time from the start of {says} to the end of {said} ({dw}).",
            ]
            if inclusive
            else [
                f"{m.ask} with {an(dw)} from {says} on but before {said}?",
                f"{m.words}, {dw} {says} until {said} exclusive",
                f"Since {says} and before {said} by {dw}, {m.ask}?",
                f"Give the {m.words} with {an(dw)} on or after {says}, up to but not including {said}.",
                f"{dw} in [{says}, {said}), last day excluded: {m.words}",
                f"I need the {m.words} from {says} to the day before {said} ({dw}).",
            ]
        ),
    )
    end, other = (day_after(last), last) if inclusive else (last, day_after(last))
    slips = [
        inside(a, t, m.sql, d, first, other),
        inside(a, t, m.sql, d, day_after(first), end),
        f"SELECT {m.sql} FROM {t.sql} WHERE {d.sql} < '{first}' OR {d.sql} >= '{end}'",
        f"SELECT {m.sql} FROM {t.sql} WHERE {d.sql} >= '{first}'",
    ]
    if inclusive:
        slips.append(up_to_midnight(a, t, m.sql, d, first, last))
    if e:
        slips.append(inside(a, t, m.sql, e, first, end))
    return q, inside(a, t, m.sql, d, first, end), slips


def last_days_before(a, t):
    """The n days before a date that is named, without that date itself."""
    d, v, e, dw = dated(a, t)
    many = a.many(t)
    m = measure(a, t, many)
    n = a.one([7, 14, 30, 60, 90, 365])
    day = day_after(v[:10], a.rng.randint(1, n))
    says = a.one([day, written(day)])
    q = told(
        a,
        [
            f"{m.ask} with {an(dw)} in the {n} days before {says}? That day itself does not count.",
            f"{m.words}, last {n} days before {says} ({dw}), {says} excluded",
            f"Looking back {n} days from {says} (not included), {m.ask} by {dw}?",
            f"Report the {m.words} with {an(dw)} at most {n} days before {says} and before that day.",
            f"{dw} within {n} days prior to {says}, day itself out: {m.words}",
            f"Suppose it's the morning of {says}: {m.ask} with {an(dw)} in the past {n} days, today excluded?",
        ],
    )
    start = lambda n: day_after(day, -n)

    def make(n, d=d, end=day):
        bound = a.one([f"date('{day}', '-{n} days')", f"'{start(n)}'"])
        ways = [
            f"date({d.sql}) >= {bound} AND date({d.sql}) < '{end}'",
            f"{d.sql} >= {bound} AND {d.sql} < '{end}'",
            f"julianday('{day}') - julianday(date({d.sql})) <= {n} AND date({d.sql}) < '{end}'",
        ]
        return f"SELECT {m.sql} FROM {t.sql} WHERE {a.one(ways)}"

    slips = [
        f"SELECT {m.sql} FROM {t.sql} WHERE {within(a, d.sql, day, day_after(day, n))}",
        f"SELECT {m.sql} FROM {t.sql} WHERE {d.sql} < date('{day}', '-{n} days')",
        make(2 * n),
        f"SELECT {m.sql} FROM {t.sql} WHERE {d.sql} < '{day}'",
        f"SELECT {m.sql} FROM {t.sql} WHERE date({d.sql}) >= '{start(n)}'",
    ]
    if e:
        slips.insert(0, make(n, e))
    return q, make(n), slips


def on_weekday(a, t):
    """A day of the week, or weekends; SQLite counts from Sunday, which is 0."""
    d, v, e, dw = dated(a, t)
    many = a.many(t)
    m = measure(a, t, many)
    i = (datetime.date.fromisoformat(v[:10]).weekday() + 1) % 7
    weekend = i in (0, 6) and a.rng.random() < 0.7
    name = "weekend" if weekend else DAYS[i]
    day = "Saturday or Sunday" if weekend else f"a {DAYS[i]}"
    q = told(
        a,
        [
            f"{m.ask} with {an(dw)} on {day}?",
            f"{m.words} on {name}s ({dw})",
            f"Restricted to {name}s by {dw}, {m.ask}?",
            f"Tell me the {m.words} whose {dw} was {day}.",
            f"{dw} on {day}: {m.words}",
            f"Judging by {dw}, what {m.words} fall on {day}, over all weeks?",
        ],
    )
    part = lambda f="%w", d=d: f"strftime('{f}', {d.sql})"

    def make(days, f="%w", d=d):
        values = ", ".join(f"'{x}'" for x in days)
        one = a.one([f"= '{days[0]}'", f"IN ('{days[0]}')"])
        test = f"{part(f, d)} IN ({values})"
        if f == "%w" and a.rng.random() < 0.5:
            test = f"CAST({part(f, d)} AS INTEGER) IN ({', '.join(map(str, days))})"
        return f"SELECT {m.sql} FROM {t.sql} WHERE {test if len(days) > 1 else f'{part(f, d)} {one}'}"

    days = [0, 6] if weekend else [i]
    shifted = [(x + 1) % 7 for x in days] if not weekend else a.one([[6, 7], [5, 6], [0, 1]])
    slips = [
        make(shifted),
        make([x for x in range(7) if x not in days]),
        make([f"{x or 7:02d}" for x in days], "%d"),
        make([(x + 6) % 7 for x in days]),
    ]
    if e:
        slips.append(make(days, d=e))
    return q, make(days), slips


def by_weekday(a, t):
    """One row for each day of the week that occurs, by name."""
    d, _, e, dw = dated(a, t)
    many = a.many(t)
    m = measure(a, t, many)
    q = told(
        a,
        [
            f"{m.words} by day of the week of {dw} (0 = Sunday to 6 = Saturday)",
            f"For each weekday of {dw}, numbered 0 for Sunday through 6, {m.ask}?",
            f"weekday number (Sun = 0), {m.words}, by {dw}",
            f"Break the {m.words} down by weekday of the {dw}, Sunday being 0.",
            f"Show how the {m.words} is spread over the days of the week ({dw}); code Sunday as 0, Saturday as 6.",
            f"Is there a pattern over the week? {m.words} per weekday of {dw}, Sunday 0, Monday 1 and so on.",
        ],
    )

    def make(f, d=d, sql=m.sql, from_monday=False):
        part = a.one([f"strftime('{f}', {d.sql})", f"strftime('{f}', date({d.sql}))"])
        if from_monday:
            part = f"({part} + 6) % 7"
        if a.rng.random() < 0.3:
            return upon(a, f"SELECT {part} AS w, {sql} AS n FROM {t.sql} GROUP BY 1", "w, n")
        return f"SELECT {part}, {sql} FROM {t.sql} GROUP BY {a.one(['1', part])}"

    slips = [make("%d"), make("%w", from_monday=True), make("%m")]
    if m.others:
        slips.append(make("%w", sql=m.others[0]))
    if e:
        slips.append(make("%w", e))
    return in_order(a, (q, make("%w"), slips), "weekday")


def month_whatever_year(a, t):
    """Months of the calendar with all years together, or each month of each year."""
    d = a.one([d for d in dates(t) if len({v[:4] for v in d.values}) > 1])
    e = a.other(dates(t), d)
    many, dw = a.many(t), Period(a, d, "day").date
    m, apart = measure(a, t, many), a.rng.random() < 0.5
    q = told(
        a,
        (
            [
                f"{m.words} per year and month of {dw}, each month of each year on its own",
                f"For every month of every year ({dw}), {m.ask}? Show it as YYYY-MM.",
                f"YYYY-MM of {dw} and {m.words}",
                f"Month by month through the years, by {dw} as YYYY-MM: {m.words}",
                f"Break down the {m.words} by {dw} month; the same month of "
                "different years must not be mixed (YYYY-MM).",
                f"monthly {m.words}, {dw} formatted like 2015-04",
            ]
            if apart
            else [
                f"{m.words} per calendar month of {dw} (01 to 12), all years together",
                f"For each month of the calendar, numbered 01 to 12, over all years: {m.ask} by {dw}?",
                f"month number of {dw} and {m.words}, years pooled",
                f"Seasonality: {m.words} by month of {dw}, two-digit month, regardless of the year",
                f"Break down the {m.words} by month of the year of {dw} (01-12); add the years up.",
                f"What {m.words} do we have in Januaries (01), Februaries (02) and so on by {dw}, whatever the year?",
            ]
        ),
    )
    together = lambda d: a.one([f"strftime('%m', {d.sql})", f"substr({d.sql}, 6, 2)"])
    single = lambda d: a.one([f"strftime('%Y-%m', {d.sql})", f"substr({d.sql}, 1, 7)"])

    def make(e, sql=m.sql):
        if a.rng.random() < 0.3:
            return upon(a, f"SELECT {e} AS mon, {sql} AS n FROM {t.sql} GROUP BY 1", "mon, n")
        return f"SELECT {e}, {sql} FROM {t.sql} GROUP BY {a.one(['1', e])}"

    asked, other = (single, together) if apart else (together, single)
    slips = [make(other(d)), make(f"strftime('%Y', {d.sql})"), make(f"strftime('%d', {d.sql})")]
    if m.others:
        slips.append(make(asked(d), m.others[0]))
    if e:
        slips.append(make(asked(e)))
    return in_order(a, (q, make(asked(d)), slips), "month")


def year_on_year(a, t):
    """A month or a year against the one a year before: the difference of two periods."""
    many = a.many(t)
    w = span(a, t, units=("year",), busy=True)
    m = measure(a, t, many)
    values = sorted({int(str(v)[:4]) for v in w.column.distinct})
    late = a.one([v for v in values if v - 1 in values] or values[1:])
    early = late - 1 if late - 1 in values else values[values.index(late) - 1]
    q = told(
        a,
        [
            f"How did the {m.words} change from {early} to {late} ({w.by})? Give the difference.",
            f"{m.words} {late} minus {early}, by {w.by}",
            f"By how much is the {m.words} of {late} higher than that of {early}, going by {w.by}?",
            f"Compare {late} with {early} by {w.by}: difference in {m.words}, negative if it fell",
            f"{late} vs {early} ({w.by}): change in {m.words}",
            f"Take the {m.words} for {w.by} {late} and subtract that for {early}.",
        ],
    )
    is_year = lambda y: f"{w.sql()} = " + (f"'{y}'" if w.column.is_date else str(y))

    def make(x, y, sign="-"):
        if a.rng.random() < 0.5:
            return (
                f"SELECT (SELECT {m.sql} FROM {t.sql} WHERE {is_year(x)}) {sign} "
                f"(SELECT {m.sql} FROM {t.sql} WHERE {is_year(y)})"
            )
        cell = lambda y: sum_where(a, m.column.sql, is_year(y)) if m.column else hits(a, is_year(y))
        return f"SELECT {cell(x)} {sign} {cell(y)} FROM {t.sql}"

    around = a.other([v for v in values], late, early)
    slips = [make(early, late), make(late, early, "+"), f"SELECT {m.sql} FROM {t.sql} WHERE {is_year(late)}"]
    if around:
        slips.append(make(late, around))
    if m.column:
        slips.append(f"SELECT {hits(a, is_year(late))} - {hits(a, is_year(early))} FROM {t.sql}")
    return q, make(late, early), slips


def same_month_years(a, t):
    """Each period with what it was one year before, matched by date and not by row."""
    d = a.one([d for d in dates(t) if len({v[:4] for v in d.values}) > 1])
    many, dw = a.many(t), Period(a, d, "day").date
    m, monthly = measure(a, t, many), a.rng.random() < 0.4
    unit, e = ("month", f"strftime('%Y-%m', {d.sql})") if monthly else ("year", f"strftime('%Y', {d.sql})")
    before = "same month of the previous year" if monthly else "year before"
    q = told(
        a,
        [
            f"For each {unit} of {dw}, show the {m.words} and that of the {before}, empty if there is none.",
            f"{unit} of {dw}, {m.words}, {m.words} of the {before} (null where nothing)",
            f"Year-on-year table by {unit} of {dw}: {m.words} now and in the {before}",
            f"yoy by {unit} ({dw}): current and prior-year {m.words}",
            f"Set the {m.words} of every {unit} of {dw} against the "
            f"{before}; {unit}s with no counterpart keep a blank.",
            f"How does each {unit} compare with the {before} in {m.words}? List {unit} of {dw} and both figures.",
        ],
    )
    inner = f"SELECT {e} AS p, {m.sql} AS n FROM {t.sql} GROUP BY 1"
    shift = lambda sign: (
        f"strftime('%Y-%m', x.p || '-01', '{sign}1 year')" if monthly else f"CAST(x.p {sign} 1 AS TEXT)"
    )

    def make(sign, kind="LEFT JOIN"):
        if kind == "LEFT JOIN" and a.rng.random() < 0.4:
            return (
                f"WITH g AS ({inner}) SELECT x.p, x.n, (SELECT y.n FROM g AS y WHERE y.p = {shift(sign)}) FROM g AS x"
            )
        return f"WITH g AS ({inner}) SELECT x.p, x.n, y.n FROM g AS x {kind} g AS y ON y.p = {shift(sign)}"

    slips = [
        make("+"),
        upon(a, inner, "p, n, LAG(n) OVER (ORDER BY p)"),
        make("-", "JOIN"),
        upon(a, inner, "p, n, LAG(n, 12) OVER (ORDER BY p)" if monthly else "p, n, LEAD(n) OVER (ORDER BY p)"),
    ]
    return in_order(a, (q, make("-"), slips), unit)


def before_and_since(a, t):
    """What there was before a day and from that day on, side by side."""
    d, v, e, dw = dated(a, t)
    many = a.many(t)
    m = measure(a, t, many)
    day = v[:10]
    says = a.one([day, written(day)])
    q = told(
        a,
        [
            f"{m.words} before {says} and, as second figure, from {says} on ({dw})",
            f"Split the {m.words} at {says} by {dw}: earlier | that day or later.",
            f"How does the {m.words} with {an(dw)} before {says} compare with "
            f"that since {says}, the day included? Two columns.",
            f"pre {says} vs. {says} and after ({dw}): {m.words}",
            f"Put the {m.words} with {an(dw)} earlier than {says} next to those on or after it.",
            f"For {dw}: the {m.words} up to the day before {says}, and the {m.words} starting with {says}",
        ],
    )
    cell = lambda c: sum_where(a, m.column.sql, c) if m.column else hits(a, c)

    def make(early, late):
        if a.rng.random() < 0.25 and not m.column:
            of = lambda c: f"(SELECT {m.sql} FROM {t.sql} WHERE {c})"
            return f"SELECT {of(early)}, {of(late)}"
        return f"SELECT {cell(early)}, {cell(late)} FROM {t.sql}"

    next_day = day_after(day)
    slips = [
        make(f"{d.sql} < '{next_day}'", f"{d.sql} >= '{next_day}'"),
        make(f"{d.sql} < '{day}'", f"{d.sql} >= '{next_day}'"),
        make(f"{d.sql} < '{day}'", f"{d.sql} IS NOT NULL"),
        f"SELECT {m.sql} FROM {t.sql} WHERE {d.sql} < '{day}'",
    ]
    if e:
        slips.insert(0, make(f"{e.sql} < '{day}'", f"{e.sql} >= '{day}'"))
    return q, make(f"{d.sql} < '{day}'", f"{d.sql} >= '{day}'"), slips


def busiest_period(a, t):
    """The period with the most; all that share the first place."""
    many = a.many(t)
    w, m = span(a, t, busy=True), measure(a, t, many)
    up = a.rng.random() < 0.65
    word, d, u, f = ("highest", "DESC", "ASC", "MAX") if up else ("lowest", "ASC", "DESC", "MIN")
    q = told(
        a,
        [
            f"Which {w.by} has the {word} {m.words}? Name all of them if tied.",
            f"{w.unit}(s) of {word} {m.words}, by {w.by}",
            f"When was the {m.words} at its {'peak' if up else 'lowest'}? I need the {w.by}, several in case of a tie.",
            f"Find every {w.by} that reaches the {word} {m.words} of any {w.unit} with data.",
            f"{'best' if up else 'weakest'} {w.unit} by {m.words} ({w.by}), ties kept",
            f"Of all {w.unit}s in the data ({w.by}), which saw the "
            f"{'most' if up else 'least'} in terms of {m.words}? Include equals.",
        ],
    )

    def make(sql, order, f):
        inner = f"SELECT {w.sql()} AS p, {sql} AS n FROM {t.sql} GROUP BY 1"
        ranked = f"SELECT p, RANK() OVER (ORDER BY n {order}) AS i FROM ({inner})"
        ways = [
            f"WITH g AS ({inner}) SELECT p FROM g WHERE n = (SELECT {f}(n) FROM g)",
            upon(a, ranked, "p", " WHERE i = 1"),
            f"SELECT {w.sql()} FROM {t.sql} GROUP BY 1 HAVING {sql} = (SELECT {f}(n) FROM ({inner}))",
        ]
        return a.one(ways)

    slips = [
        make(m.sql, u, "MIN" if up else "MAX"),
        f"SELECT {f}(n) FROM (SELECT {m.sql} AS n FROM {t.sql} GROUP BY {w.sql()})",
    ]
    slips += [make(x, d, f) for x in m.others[:2]]
    slips.append(f"SELECT {f}({w.sql()}) FROM {t.sql}")
    return q, make(m.sql, d, f), slips


def mean_duration(a, t):
    """Days from one date of a row to another, averaged over all or by kind."""
    d, e = two_dates(a, t)
    many, dw, ew = a.many(t), Period(a, d, "day").date, Period(a, e, "day").date
    k = a.one(kinds(t)) if kinds(t) and a.rng.random() < 0.6 else None
    per = f" per {a.say(k.words)}" if k else ""
    q = told(
        a,
        [
            f"How many days pass on average from {dw} to {ew} of {many}{per}?",
            f"Average number of days between {dw} and {ew}{per}, {many}",
            f"mean duration in days, {dw} to {ew}{per} ({many})",
            f"Calculate the average time in days that lies between the {dw} and the {ew} of {many}{per}.",
            f"On average, how long after its {dw} does the {ew} of a {a.single(t)} come, in days{per}?",
            f"{ew} minus {dw} in days, averaged over all {many}{per}",
        ],
    )

    def make(x, y, f="AVG"):
        gap = f"{f}(julianday({x.sql}) - julianday({y.sql}))"
        if a.rng.random() < 0.3:
            inner = (
                f"SELECT {f'{k.sql} AS k, ' if k else ''}julianday({x.sql}) - julianday({y.sql}) AS days FROM {t.sql}"
            )
            return upon(a, inner, f"{'k, ' if k else ''}{f}(days)", " GROUP BY k" if k else "")
        return (
            f"SELECT {k.sql}, {gap} FROM {t.sql} GROUP BY {a.one(['1', k.sql])}" if k else f"SELECT {gap} FROM {t.sql}"
        )

    years = f"AVG(strftime('%Y', {e.sql}) - strftime('%Y', {d.sql}))"
    text = f"AVG({e.sql} - {d.sql})"
    of = lambda x: f"SELECT {k.sql}, {x} FROM {t.sql} GROUP BY 1" if k else f"SELECT {x} FROM {t.sql}"
    return q, make(e, d), [make(d, e), of(text), of(years), make(e, d, "SUM"), make(e, d, "MAX")]


def two_dates(a, t):
    """A date that begins and one that ends something."""
    ends = r"\b(end|finish|to|until|closed?|left|return\w*|deliver\w*|settle\w*|settlement|dispos\w*|out|destruction)\b"
    found = dates(t)
    end = a.one([c for c in found if re.search(ends, c.words)])
    start = a.one([c for c in found if not re.search(ends, c.words)])
    return start, end


def active_on(a, t):
    """What had begun by a day and was not over yet."""
    d, e = two_dates(a, t)
    rows = [(x[:10], y[:10]) for x, y in zip(d.values, e.values) if x[:10] < y[:10]]
    begin, end = a.one(rows)
    length = (datetime.date.fromisoformat(end) - datetime.date.fromisoformat(begin)).days
    day = day_after(begin, a.rng.randint(1, length))
    says, many = a.one([day, written(day)]), a.many(t)
    m, dw, ew = measure(a, t, many), Period(a, d, "day").date, Period(a, e, "day").date
    q = told(
        a,
        [
            f"{m.ask} that were running on {says}, with {dw} on or before and {ew} on or after that day?",
            f"{m.words} active on {says} ({dw} <= day <= {ew})",
            f"As of {says}, with {dw} not later and {ew} not earlier than that day, {m.ask}?",
            f"Give me the {m.words} whose span from {dw} to {ew} covers {says}, both ends included.",
            f"in force at {says}: {m.words}, by {dw} / {ew}, bounds inclusive",
            f"What {m.words} did we have on {says}? Something counts from its {dw} through its {ew}.",
        ],
    )
    base = f"SELECT {m.sql} FROM {t.sql} WHERE"
    x, y = f"date({d.sql})", f"date({e.sql})"
    right = a.one(
        [
            f"{base} '{day}' BETWEEN {x} AND {y}",
            f"{base} {x} <= '{day}' AND {y} >= '{day}'",
            f"{base} NOT ({x} > '{day}' OR {y} < '{day}')",
            f"{base} substr({d.sql}, 1, 10) <= '{day}' AND substr({e.sql}, 1, 10) >= '{day}'",
        ]
    )
    slips = [
        a.one([f"{base} {x} >= '{day}' AND {y} <= '{day}'", f"{base} '{day}' BETWEEN {y} AND {x}"]),
        f"{base} {x} <= '{day}'",
        f"{base} {y} >= '{day}'",
        f"{base} {x} <= '{day}' OR {y} >= '{day}'",
        f"{base} {a.one([x, y])} = '{day}'",
    ]
    return q, right, slips


def longer_than(a, t):
    """Rows between whose dates lie more than n days; or those that end before they begin."""
    d, e = two_dates(a, t)
    days = lambda v: datetime.date.fromisoformat(v[:10]).toordinal()
    gaps = sorted({days(y) - days(x) for x, y in zip(d.values, e.values)})
    n = a.one([g for g in gaps[1:-1] if g > 0])
    up = gaps[0] < 0 or a.rng.random() < 0.6
    m = measure(a, t, a.many(t))
    dw, ew = Period(a, d, "day").date, Period(a, e, "day").date
    bound = a.one(
        [f"more than {n:,} days", f"over {n:,} days"] if up else [f"fewer than {n:,} days", f"less than {n:,} days"]
    )
    q = told(
        a,
        [
            f"{m.ask} whose {ew} comes {bound} after the {dw}? Ignore the time of day.",
            f"{m.words}, {bound} from {dw} to {ew} (calendar days)",
            f"Considering only those with {bound} between the day of {dw} and the day of {ew}, {m.ask}?",
            f"Find the {m.words} that took {bound} from {dw} to {ew}, dates without times.",
            f"{dw} -> {ew} {bound} (whole days): {m.words}",
            f"Limit to a {ew} {bound} later than the {dw}, going by dates alone, and give me the {m.words}.",
        ],
    )
    gap = lambda x, y: f"julianday(date({x.sql})) - julianday(date({y.sql}))"
    base = f"SELECT {m.sql} FROM {t.sql} WHERE"
    op, back = (">", "<") if up else ("<", ">")

    def make(op, n, x=e, y=d):
        ways = [f"{gap(x, y)} {op} {n}", f"date({x.sql}) {op} date({y.sql}, '{n:+d} days')"]
        return f"{base} {a.one(ways)}"

    slips = [make(back, n), make(op, n, d, e), make(f"{op}=", n), f"{base} {e.sql} - {d.sql} {op} {n}"]
    return q, make(op, n), slips


OF_TABLE = [
    in_month,
    in_quarter,
    in_range,
    last_days_before,
    on_weekday,
    by_weekday,
    month_whatever_year,
    year_on_year,
    same_month_years,
    before_and_since,
    busiest_period,
    mean_duration,
    active_on,
    longer_than,
]
