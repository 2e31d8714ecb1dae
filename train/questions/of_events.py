"""Templates of a parent and its events: gaps, first and latest ones, cohorts, those without any, shares."""

from questions.forms import *


def events(a, c):
    """A date, or a year, of the events; their order in time."""
    return a.one(dates(c) * 2 + [y for y in c.of("is_year") if not y.n_null])


def distinct_events(a, c, link, years=True):
    """A date, or a year, that no two events of the same parent share."""
    if link.n_null:
        raise IndexError
    found = dates(c) * 2 + [y for y in c.of("is_year") if years and not y.n_null]
    return a.one([d for d in found if len(set(zip(link.values, d.values))) == c.n_rows])


def time_words(a, d):
    return Period(a, d, "day").date


def year_form(a, d):
    """The SQL of a year, for a reference to the column."""
    return a.one(PARTS["year"]) if d.is_date else "{0}"


def several(link):
    """Some parent has more than one."""
    if len(link.distinct) == len(link.values):
        raise IndexError


def chained(a, p, key, c, link):
    """The join, begun at either end."""
    other = f"{c.sql} AS c JOIN {p.sql} AS p ON c.{link.sql} = p.{key.sql}"
    return a.one([joined(p, key, c, link), other])


def days_between(a, p, key, c, link):
    """Days from each event to the one before of the same parent."""
    several(link)
    d = distinct_events(a, c, link, years=False)
    label, one, many, child, dw = p.label(), a.single(p), a.many(c), a.single(c), time_words(a, d)
    q = told(
        a,
        [
            f"For each {child}, show the {one}, the {dw} and how many days "
            f"after the previous {child} of the same {one} it came.",
            f"{one}, {dw}, days since that {one}'s last {child} (empty for the first)",
            f"How long, in days, did each {one} wait between one {child} and the "
            f"next? List {one}, {dw} and the gap to the one before.",
            f"gaps in days between successive {many} per {one}, with {dw} of the later one",
            f"Days elapsed from the preceding {child} of the {one} to this one: give {one}, {dw}, days.",
            f"I would like every {child} by {one} and {dw}, along with the "
            f"days that passed since the {one} had one before.",
        ],
    )
    cols = f"{shown(label, 'p.')}, c.{d.sql}"

    def make(partition=f"PARTITION BY c.{link.sql} ", f="LAG", turn=False):
        now, then = f"julianday(c.{d.sql})", f"julianday({f}(c.{d.sql}) OVER ({partition}ORDER BY c.{d.sql}))"
        gap = f"{then} - {now}" if turn else f"{now} - {then}"
        return f"SELECT {cols}, {gap} FROM {chained(a, p, key, c, link)}"

    def scalar(same=True, f="MAX", op="<"):
        alike = f"y.{link.sql} = c.{link.sql} AND " if same else ""
        then = f"(SELECT {f}(y.{d.sql}) FROM {c.sql} AS y WHERE {alike}y.{d.sql} {op} c.{d.sql})"
        return f"SELECT {cols}, julianday(c.{d.sql}) - julianday({then}) FROM {chained(a, p, key, c, link)}"

    slips = [
        a.one([make(""), scalar(False)]),
        a.one([make(f="LEAD"), scalar(f="MIN", op=">")]),
        make(turn=True),
        a.one([make(f="FIRST_VALUE"), scalar(f="MIN", op="<=")]),
    ]
    return q, a.one([make(), scalar()]), slips


def event_of_each(a, p, key, c, link):
    """The first or the latest event of each parent, with something else about it."""
    several(link)
    d = distinct_events(a, c, link)
    x = a.one([y for y in c.of("is_number") + kinds(c) + c.label() + dates(c) if y.name != d.name])
    e = a.other(dates(c), d, x)
    label, one, child, dw = p.label(), a.single(p), a.single(c), time_words(a, d)
    xw = time_words(a, x) if x.is_date else a.say(x.words)
    late = a.rng.random() < 0.6
    f, order, g, turned = ("MAX", "DESC", "MIN", "ASC") if late else ("MIN", "ASC", "MAX", "DESC")
    word = a.one(["latest", "most recent", "last"] if late else ["first", "earliest"])
    q = told(
        a,
        [
            f"For each {one} with any, give the {dw} and {xw} of its {word} {child} by {dw}.",
            f"{one}, {dw} and {xw} of the {word} {child} (by {dw})",
            f"What was the {word} {child} of every {one}? Order by {dw} decides; show {one}, {dw}, {xw}.",
            f"{word} {child} per {one}: {dw} + {xw}",
            f"Take only the {word} {child} of each {one} as given by {dw}, and list {one}, {dw} and {xw}.",
            f"I want one line per {one}, its {word} {child} in terms of {dw}, with that {dw} and the {xw}.",
        ],
    )
    cols = f"{shown(label, 'p.')}, c.{d.sql}, c.{x.sql}"
    names = [f"v{i}" for i in range(len(label) + 2)]
    renamed = ", ".join(f"{s} AS {n}" for s, n in zip(cols.split(", "), names))

    def make(f=f, order=order, own=True, d=d):
        partition = f"PARTITION BY c.{link.sql} " if own else ""
        number = (
            f"SELECT {renamed}, ROW_NUMBER() OVER ({partition}ORDER BY c.{d.sql} "
            f"{order}) AS i FROM {chained(a, p, key, c, link)}"
        )
        alike = f" WHERE y.{link.sql} = c.{link.sql}" if own else ""
        of = f"SELECT {f}(y.{d.sql}) FROM {c.sql} AS y{alike}"
        inner = f"SELECT {link.sql} AS k, {f}({d.sql}) AS m FROM {c.sql} GROUP BY 1"
        ways = [
            upon(a, number, ", ".join(names), " WHERE i = 1"),
            f"SELECT {cols} FROM {chained(a, p, key, c, link)} WHERE c.{d.sql} = ({of})",
        ]
        if own:
            ways.append(
                f"SELECT {cols} FROM {chained(a, p, key, c, link)} JOIN ({inner}) "
                f"AS g ON g.k = c.{link.sql} AND g.m = c.{d.sql}"
            )
        return a.one(ways)

    slips = [make(g, turned), make(own=False), f"SELECT {cols} FROM {chained(a, p, key, c, link)}"]
    if x.is_number:
        slips.append(
            f"SELECT {shown(label, 'p.')}, {f}(c.{d.sql}), {f}(c.{x.sql}) "
            f"FROM {joined(p, key, c, link)} GROUP BY p.{key.sql}"
        )
    if e:
        slips.insert(0, make(d=e))
    return q, make(), slips


def second_of_each(a, p, key, c, link):
    """The nth event of each parent in time."""
    several(link)
    d = distinct_events(a, c, link)
    n, word = a.one([(2, "second"), (2, "second"), (3, "third")])
    label, one, child, many, dw = p.label(), a.single(p), a.single(c), a.many(c), time_words(a, d)
    q = told(
        a,
        [
            f"When was the {word} {child} of each {one}, in order of {dw}? Only {a.many(p)} that have at least {n}.",
            f"{one} and {dw} of its {word} {child} (oldest first)",
            f"For every {one} with at least {a.number(n)} {many}, the {dw} of {child} number {n} in time",
            f"{dw} of {child} no. {n} per {one}, counting from the earliest",
            f"Sort the {many} of each {one} by {dw} from the oldest on and give me the {word}: {one} and {dw}.",
            f"At which {dw} did the {a.many(p)} have their {word} {child}? Skip those with fewer.",
        ],
    )
    names = [f"v{i}" for i in range(len(label) + 1)]
    renamed = ", ".join(f"{s} AS {v}" for s, v in zip([f"p.{x.sql}" for x in label] + [f"c.{d.sql}"], names))

    def make(order="", i=n, own=True, op="="):
        partition = f"PARTITION BY c.{link.sql} " if own else ""
        number = (
            f"SELECT {renamed}, ROW_NUMBER() OVER ({partition}ORDER BY "
            f"c.{d.sql}{order}) AS i FROM {chained(a, p, key, c, link)}"
        )
        return upon(a, number, ", ".join(names), f" WHERE i {op} {i}")

    def counted(op, before=n - 1):
        of = f"SELECT COUNT(*) FROM {c.sql} AS y WHERE y.{link.sql} = c.{link.sql} AND y.{d.sql} {op} c.{d.sql}"
        return f"SELECT {shown(label, 'p.')}, c.{d.sql} FROM {chained(a, p, key, c, link)} WHERE ({of}) = {before}"

    slips = [
        a.one([make(" DESC"), counted(">")]),
        a.one([make(i=n - 1), counted("<", n - 2)]),
        make(own=False),
        make(op="<="),
        a.one([make(i=n + 1), counted("<", n)]),
    ]
    return q, a.one([make(), counted("<")]), slips


def latest_less_first(a, p, key, c, link):
    """How a number of a parent changed from its first to its latest event."""
    several(link)
    d, x = distinct_events(a, c, link), a.one([y for y in numbers(c) if not y.n_null])
    label, one, child, many, dw, xw = p.label(), a.single(p), a.single(c), a.many(c), time_words(a, d), a.say(x.words)
    q = told(
        a,
        [
            f"For each {one} with {many}, how much did the {xw} change from its first to its latest {child} (by {dw})?",
            f"{one}: {xw} of the last {child} minus {xw} of the first, in order of {dw}",
            f"Give every {one} and the difference in {xw} between the most recent and the earliest {child} by {dw}.",
            f"first-to-last change of {xw} per {one} ({many} sorted by {dw})",
            f"How far is the {xw} of each {one}'s newest {child} above that of "
            f"its oldest, going by {dw}? Zero if it has just one.",
            f"Subtract, for each {one}, the {xw} at the earliest {dw} from the {xw} at the latest {dw}.",
        ],
    )
    cols = shown(label, "p.")

    def at(order, y=x):
        return (
            f"(SELECT y.{y.sql} FROM {c.sql} AS y WHERE y.{link.sql} = p.{key.sql} ORDER BY y.{d.sql} {order} LIMIT 1)"
        )

    def make(last="DESC", first="ASC"):
        if a.rng.random() < 0.5:
            return (
                f"SELECT {cols}, {at(last)} - {at(first)} FROM {p.sql} AS p WHERE "
                f"p.{key.sql} IN (SELECT {link.sql} FROM {c.sql})"
            )
        over = lambda order: f"FIRST_VALUE({x.sql}) OVER (PARTITION BY {link.sql} ORDER BY {d.sql} {order})"
        ends = f"SELECT DISTINCT {link.sql} AS k, {over(last)} - {over(first)} AS gap FROM {c.sql}"
        return f"WITH g AS ({ends}) SELECT {cols}, g.gap FROM {p.sql} AS p JOIN g ON g.k = p.{key.sql}"

    grouped = lambda e: f"SELECT {cols}, {e} FROM {chained(a, p, key, c, link)} GROUP BY p.{key.sql}"
    lag = f"c.{x.sql} - LAG(c.{x.sql}) OVER (PARTITION BY c.{link.sql} ORDER BY c.{d.sql})"
    slips = [
        make("ASC", "DESC"),
        grouped(f"MAX(c.{x.sql}) - MIN(c.{x.sql})"),
        f"SELECT {cols}, {lag} FROM {chained(a, p, key, c, link)}",
        grouped(f"COUNT(DISTINCT c.{x.sql})"),
        grouped(f"SUM(c.{x.sql})"),
    ]
    return q, make(), slips


def cohort(a, p, key, c, link):
    """Parents whose first event lies in a year; not those that have any then."""
    several(link)
    d = events(a, c)
    year = str(a.one(d.values))[:4]
    label, one, many, child, dw = p.label(), a.single(p), a.many(p), a.single(c), time_words(a, d)
    counted = a.rng.random() < 0.4
    ask, noun = ("How many", f"number of {many}") if counted else ("Which", many)
    q = told(
        a,
        [
            f"{ask} {many} had their very first {child} in {year}, by {dw}?",
            f"{noun} whose earliest {dw} of {an(child)} is in {year}",
            f"{ask} {many} started in {year}, meaning that the first {child} they ever had ({dw}) is of that year?",
            f"{year} cohort: {noun} with the first {child} ({dw}) in {year}",
            f"{ask} {many} have no {child} before {year} but do have one in {year}, going by {dw}?",
            f"I am interested in the {noun} for whom {year} is the year of the first {child} ({dw}).",
        ],
    )
    form = year_form(a, d)
    y = form.format(d.sql)
    literal_year = f"'{year}'" if d.is_date else year
    grouped = f"SELECT {link.sql} FROM {c.sql} GROUP BY {link.sql}"
    of = lambda test, f="MIN": f"{grouped} HAVING {f}({y}) {test} {literal_year}"
    what = "COUNT(*)" if counted else shown(label, "p.")

    def make(test="=", f="MIN"):
        earliest = f"SELECT {f}({y}) FROM {c.sql} WHERE {link.sql} = p.{key.sql}"
        inner = f"SELECT {link.sql} AS k, {f}({d.sql}) AS d FROM {c.sql} GROUP BY 1"
        ways = [
            f"SELECT {what} FROM {p.sql} AS p WHERE p.{key.sql} IN ({of(test, f)})",
            f"SELECT {what} FROM {p.sql} AS p WHERE ({earliest}) {test} {literal_year}",
            f"WITH g AS ({inner}) SELECT {what} FROM {p.sql} AS p JOIN g ON g.k = "
            f"p.{key.sql} WHERE {form.format('g.d')} {test} {literal_year}",
        ]
        return a.one(ways)

    in_year = f"SELECT {link.sql} FROM {c.sql} WHERE {y} = {literal_year}"
    rows = f"SELECT {what} FROM {chained(a, p, key, c, link)} WHERE {form.format(f'c.{d.sql}')} = {literal_year}"
    slips = [
        f"SELECT {what} FROM {p.sql} AS p WHERE p.{key.sql} IN ({in_year})",
        make("=", "MAX"),
        make(">="),
        rows,
        make("<="),
    ]
    return q, make(), slips


def cohort_sizes(a, p, key, c, link):
    """How many parents had their first event in each year."""
    several(link)
    d = events(a, c)
    many, child, dw = a.many(p), a.single(c), time_words(a, d)
    q = told(
        a,
        [
            f"How many {many} had their first {child} in each year ({dw})?",
            f"New {many} per year, new meaning the year of the first {child} by {dw}",
            f"Group the {many} by the year of their earliest {child} ({dw}) and count them.",
            f"cohort sizes: year of first {child} ({dw}), number of {many}",
            f"For every year, count the {many} for whom it is the year of their very first {child}, by {dw}.",
            f"By year of {dw}: {many} appearing for the first time with {an(child)}",
        ],
    )
    y = year_form(a, d).format(d.sql)
    of = lambda f: f"SELECT {link.sql} AS k, {f}({y}) AS y FROM {c.sql} WHERE {link.sql} IS NOT NULL GROUP BY 1"
    rank = (
        f"SELECT {y} AS y, ROW_NUMBER() OVER (PARTITION BY {link.sql} ORDER "
        f"BY {y}) AS i FROM {c.sql} WHERE {link.sql} IS NOT NULL"
    )
    make = lambda f: upon(a, of(f), "y, COUNT(*)", " GROUP BY y")
    slips = [
        f"SELECT {y}, COUNT(DISTINCT {link.sql}) FROM {c.sql} GROUP BY 1",
        make("MAX"),
        f"SELECT {y}, COUNT(*) FROM {c.sql} GROUP BY 1",
        upon(a, of("MIN"), "y, SUM(COUNT(*)) OVER (ORDER BY y)", " GROUP BY y"),
    ]
    return q, a.one([make("MIN"), make("MIN"), upon(a, rank, "y, COUNT(*)", " WHERE i = 1 GROUP BY y")]), slips


def active_parents(a, p, key, c, link):
    """How many different parents have an event in each period; not how many events there are."""
    several(link)
    w = span(a, c, busy=True)
    many, child, events_ = a.many(p), a.single(c), a.many(c)
    q = told(
        a,
        [
            f"How many different {many} had {an(child)} in each {w.by}?",
            f"Active {many} per {w.by}: distinct {many} with at least one {child}",
            f"For each {w.by}, count every {a.single(p)} that has {events_} once.",
            f"{w.ly} number of unique {many} with {events_}, by {w.by}",
            f"By {w.by}, how many {many} show up among the {events_}? Each just once per {w.unit}.",
            f"distinct {many} w/ {events_} by {w.by}",
        ],
    )
    make = lambda x: f"SELECT {w.sql()}, COUNT({x}) FROM {c.sql} GROUP BY {a.one(['1', w.sql()])}"
    pairs = f"SELECT DISTINCT {w.sql()} AS w, {link.sql} AS k FROM {c.sql}"
    slips = [
        make(link.sql),
        make(f"DISTINCT {w.column.sql}"),
        upon(a, f"SELECT MIN({w.sql()}) AS w FROM {c.sql} GROUP BY {link.sql}", "w, COUNT(*)", " GROUP BY w"),
        upon(a, pairs.replace("DISTINCT ", ""), "w, COUNT(k)", " GROUP BY w"),
    ]
    return q, a.one([make(f"DISTINCT {link.sql}"), upon(a, pairs, "w, COUNT(k)", " GROUP BY w")]), slips


def totals_with_none(a, p, key, c, link):
    """The sum of an amount for every parent, zero for those without events."""
    x = a.one(amounts(c))
    label, one, many, xw = p.label(), a.single(p), a.many(c), a.say(x.words)
    q = told(
        a,
        [
            f"{total_of(xw)} of {many} for each {one}, with 0 for {a.many(p)} that have none",
            f"For every single {one}, also those without {many}, add up the {xw}; put 0 if there is nothing to add.",
            f"{one} and summed {xw} of its {many} (0 if no {many})",
            f"How much {xw} do the {many} of each {one} come to? List all {a.many(p)}; none counts as zero.",
            f"Sum of {xw} over {many} by {one}, nobody left out, zero instead of blank",
            f"I need all {a.many(p)} with their {total_of(xw)} from {many}, "
            f"including a 0 where no {a.single(c)} exists.",
        ],
    )
    cols = shown(label, "p.")
    grouped = (
        lambda e, kind, more="": f"SELECT {cols}, {e} FROM {joined(p, key, c, link, kind)}{more} GROUP BY p.{key.sql}"
    )
    total = f"COALESCE(SUM(c.{x.sql}), 0)"

    def scalar(f="SUM", zero=True):
        of = f"(SELECT {f}(c.{x.sql}) FROM {c.sql} AS c WHERE c.{link.sql} = p.{key.sql})"
        return f"SELECT {cols}, {f'COALESCE({of}, 0)' if zero else of} FROM {p.sql} AS p"

    right = a.one([grouped(total, "LEFT JOIN"), grouped(f"IFNULL(SUM(c.{x.sql}), 0)", "LEFT JOIN"), scalar()])
    slips = [
        a.one([grouped(total, "JOIN"), grouped(total, "LEFT JOIN", f" WHERE c.{x.sql} IS NOT NULL")]),
        a.one([grouped(f"SUM(c.{x.sql})", "LEFT JOIN"), scalar(zero=False)]),
        grouped("COUNT(*)", "LEFT JOIN"),
        a.one([grouped(f"COALESCE(AVG(c.{x.sql}), 0)", "LEFT JOIN"), scalar("AVG")]),
    ]
    return q, right, slips


def of_kind_with_none(a, p, key, c, link):
    """The number of events of a kind for every parent: the condition belongs to the join."""
    k = a.one(kinds(c))
    v = common(a, k)
    label, one, many, cond = p.label(), a.single(p), a.many(c), condition(a, k, v)
    q = told(
        a,
        [
            f"How many {many} {cond} does each {one} have? Show all {a.many(p)}, 0 where there are none.",
            f"{one}, number of {many} {cond}, including zeros",
            f"For every {one}, even without any, count the {many} {cond}.",
            f"Count {many} {cond} by {one} and keep those {a.many(p)} that come to 0.",
            f"I want the complete list of {a.many(p)}, each with its number of {many} {cond} (possibly none).",
            f"{many} {cond} per {one}, zero rows too",
        ],
    )
    cols, test = shown(label, "p."), f"c.{k.sql} = {literal(v)}"
    join = joined(p, key, c, link, "LEFT JOIN")
    grouped = lambda e, more="", j=join: f"SELECT {cols}, {e} FROM {j}{more} GROUP BY p.{key.sql}"
    own = f"c.{link.sql} = p.{key.sql}"
    right = a.one(
        [
            grouped(f"COUNT(c.{link.sql})", f" AND {test}"),
            grouped(f"COUNT(CASE WHEN {test} THEN 1 END)"),
            grouped(f"SUM(CASE WHEN {test} THEN 1 ELSE 0 END)"),
            grouped(f"COUNT(*) FILTER (WHERE {test})"),
            f"SELECT {cols}, (SELECT COUNT(*) FROM {c.sql} AS c WHERE {own} AND {test}) FROM {p.sql} AS p",
        ]
    )
    slips = [
        grouped(f"COUNT(c.{link.sql})", f" WHERE {test}"),
        grouped("COUNT(*)", f" AND {test}"),
        grouped(f"COUNT(CASE WHEN {test} THEN 1 ELSE 0 END)"),
        a.one(
            [
                grouped(f"COUNT(c.{link.sql})"),
                f"SELECT {cols}, (SELECT COUNT(*) FROM {c.sql} AS c WHERE {own}) FROM {p.sql} AS p",
            ]
        ),
        grouped("COUNT(*)", f" WHERE {test}", chained(a, p, key, c, link)),
    ]
    return q, right, slips


def mean_with_none(a, p, key, c, link):
    """The average number of events over all parents, those without any as zero."""
    many, one, child = a.many(p), a.single(p), a.many(c)
    x = a.one(amounts(c)) if amounts(c) and a.rng.random() < 0.5 else None
    what = f"{total_of(a.say(x.words))} of {child}" if x else f"number of {child}"
    q = told(
        a,
        [
            f"What is the average {what} per {one} if {many} without any count as zero?",
            f"Average {what} over all {many}, zero for those without",
            f"Mean {what} per {one}, including the {many} that have no {child}",
            f"{what} on average per {one} (all {many}, none = 0)",
            f"Across every {one} we have, whether with {child} or not, what {what} falls to one on average?",
            f"Spread evenly over all {many}, also those that lack {child}: how high is the {what}?",
        ],
    )
    f, count = (
        (f"SUM(c.{x.sql})", f"COALESCE(SUM(c.{x.sql}), 0)") if x else (f"COUNT(c.{link.sql})", f"COUNT(c.{link.sql})")
    )
    of = f.replace("c.", "")
    linked = f"{c.sql} WHERE {link.sql} IN (SELECT {key.sql} FROM {p.sql})"
    each = lambda e, kind: f"SELECT {e} AS n FROM {joined(p, key, c, link, kind)} GROUP BY p.{key.sql}"
    right = a.one(
        [
            upon(a, each(count, "LEFT JOIN"), "AVG(n)"),
            f"SELECT 1.0 * (SELECT {of} FROM {linked}) / (SELECT COUNT(*) FROM {p.sql})",
            f"SELECT 1.0 * {f} / COUNT(DISTINCT p.{key.sql}) FROM {joined(p, key, c, link, 'LEFT JOIN')}",
        ]
    )
    slips = [
        a.one([upon(a, each(f, "JOIN"), "AVG(n)"), f"SELECT 1.0 * {of} / COUNT(DISTINCT {link.sql}) FROM {linked}"]),
        upon(a, each("COUNT(*)", "LEFT JOIN"), "AVG(n)"),
        upon(
            a,
            each(f"AVG(c.{x.sql})", "LEFT JOIN") if x else each(f"COUNT(DISTINCT c.{link.sql})", "LEFT JOIN"),
            "AVG(n)",
        ),
        f"SELECT 1.0 * (SELECT COUNT(*) FROM {p.sql}) / {of} FROM {linked}",
    ]
    return q, right, slips


def lacking(a, p, key, c, link):
    """How many parents have no event: anti joins in all their forms."""
    many, one, child = a.many(p), a.single(p), a.single(c)
    also = a.rng.random() < 0.4
    k = a.one(kinds(c)) if also else None
    v = common(a, k) if also else None
    cond = f" {condition(a, k, v)}" if also else ""
    q = told(
        a,
        [
            f"How many {many} have no {child}{cond} at all?",
            f"Number of {many} lacking any {child}{cond}",
            f"Count the {many} for which there is no {child}{cond}.",
            f"{many} without {a.many(c)}{cond}, how many?",
            f"For how many {many} is not a single {child}{cond} on file?",
            f"no. of {many} never seen with {an(child)}{cond}",
        ],
    )
    test = f" WHERE {k.sql} = {literal(v)}" if also else ""
    and_test = f" AND c.{k.sql} = {literal(v)}" if also else ""
    keys, links = f"SELECT {key.sql} FROM {p.sql}", f"SELECT {link.sql} FROM {c.sql}{test}"
    known = f"{links}{' AND' if also else ' WHERE'} {link.sql} IS NOT NULL"
    exists = (
        f"SELECT COUNT(*) FROM {p.sql} AS p WHERE {{}}EXISTS (SELECT 1 FROM "
        f"{c.sql} AS c WHERE c.{link.sql} = p.{key.sql}{and_test})"
    )
    outer = joined(p, key, c, link, "LEFT JOIN")
    right = a.one(
        [
            exists.format("NOT "),
            f"SELECT COUNT(*) FROM {outer}{and_test} WHERE c.{link.sql} IS NULL",
            f"SELECT COUNT(*) FROM ({keys} EXCEPT {links})",
            f"SELECT COUNT(*) FROM {p.sql} WHERE {key.sql} NOT IN ({known})",
            f"SELECT (SELECT COUNT(*) FROM {p.sql}) - COUNT(DISTINCT "
            f"p.{key.sql}) FROM {joined(p, key, c, link)}{and_test}",
        ]
    )
    slips = [
        a.one([exists.format(""), f"SELECT COUNT(*) FROM ({keys} INTERSECT {links})"]),
        a.one(
            [
                f"SELECT COUNT(*) FROM ({links} EXCEPT {keys})",
                f"SELECT COUNT(*) FROM {c.sql} WHERE {link.sql} NOT IN ({keys})",
            ]
        ),
        f"SELECT COUNT(*) FROM {outer}{f' WHERE c.{k.sql} <> {literal(v)}' if also else ''}",
        f"SELECT COUNT(*) FROM ({keys} UNION {links})",
    ]
    return q, right, slips


def other_children(a, p, key, c):
    """Another kind of events of the same parent."""
    names = [x.name for x, _ in p.children]
    fits = lambda x, l: x.n_rows > 1 and x.words not in (c.words, p.words) and set(l.values) <= set(key.values)
    return a.one([(x, l) for x, l in p.children if x.name != c.name and names.count(x.name) == 1 and fits(x, l)])


def in_either(a, p, key, c, link):
    """How many parents occur in one of two tables of events, or in both: each counts once."""
    o, other = other_children(a, p, key, c)
    many, one, cs, os_ = a.many(p), a.single(p), a.many(c), a.many(o)
    both = a.rng.random() < 0.35
    q = told(
        a,
        (
            [
                f"How many different {many} have both {cs} and {os_}?",
                f"Number of {many} with at least one {a.single(c)} and at least one {a.single(o)}",
                f"Count the {many} that show up among the {cs} as well as among the {os_}.",
                f"overlap of {cs} and {os_}: how many {many} are in both",
                f"In how many cases does {an(one)} have {cs} and also {os_}? Count each {one} once.",
                f"{many} having {cs} & {os_}, distinct count",
            ]
            if both
            else [
                f"How many different {many} have {cs} or {os_} or both?",
                f"Number of {many} with at least one {a.single(c)} or {a.single(o)}, each counted once",
                f"Count the {many} that show up among the {cs} or among the {os_}, without counting any twice.",
                f"distinct {many} across {cs} and {os_} taken together",
                f"Over {cs} and {os_} combined, how many {many} occur? No double counting, please.",
                f"unique {many} in {cs} and/or {os_}, count",
            ]
        ),
    )
    one_, two = f"SELECT {link.sql} FROM {c.sql}", f"SELECT {other.sql} FROM {o.sql}"
    sets = lambda op: f"SELECT COUNT({link.sql}) FROM ({one_} {op} {two})"
    within_ = lambda op: f"SELECT COUNT(*) FROM {p.sql} WHERE {key.sql} IN ({one_}) {op} {key.sql} IN ({two})"

    def exists(op):
        has = lambda t, l: f"EXISTS (SELECT 1 FROM {t.sql} AS x WHERE x.{l.sql} = p.{key.sql})"
        return f"SELECT COUNT(*) FROM {p.sql} AS p WHERE {has(c, link)} {op} {has(o, other)}"

    either, common_ = [sets("UNION"), within_("OR"), exists("OR")], [sets("INTERSECT"), within_("AND"), exists("AND")]
    added = (
        f"SELECT (SELECT COUNT(DISTINCT {link.sql}) FROM {c.sql}) + (SELECT COUNT(DISTINCT {other.sql}) FROM {o.sql})"
    )
    right, wrong = (common_, either) if both else (either, common_)
    slips = [a.one(wrong), sets("UNION ALL"), added, sets("EXCEPT"), f"SELECT COUNT(DISTINCT {link.sql}) FROM {c.sql}"]
    return q, a.one(right), slips


def rows_of_both(a, p, key, c, link):
    """How many rows two tables of events have together for each parent, none of them merged away."""
    o, other = other_children(a, p, key, c)
    label, one, cs, os_ = p.label(), a.single(p), a.many(c), a.many(o)
    q = told(
        a,
        [
            f"How many {cs} and {os_} together does each {one} have? Only {a.many(p)} with at least one of either.",
            f"{one} and its number of {cs} plus {os_} (where it has any)",
            f"Add up the number of {cs} and the number of {os_} for every {one} that has some.",
            f"combined count of {cs} + {os_} per {one}, those with nothing left out",
            f"For each {one} that occurs in either, count all {cs} and all {os_} in one figure.",
            f"I want to see, {one} by {one}, how many {cs} and {os_} there are in sum; skip those at zero.",
        ],
    )
    cols = shown(label, "p.")

    def make(op, e="COUNT(*)"):
        both = f"SELECT {link.sql} AS k FROM {c.sql} {op} SELECT {other.sql} FROM {o.sql}"
        if a.rng.random() < 0.5:
            return (
                f"WITH u AS ({both}) SELECT {cols}, {e} FROM {p.sql} AS p "
                f"JOIN u ON u.k = p.{key.sql} GROUP BY p.{key.sql}"
            )
        return f"SELECT {cols}, {e} FROM ({both}) AS u JOIN {p.sql} AS p ON p.{key.sql} = u.k GROUP BY p.{key.sql}"

    count = lambda t, l: f"(SELECT COUNT(*) FROM {t.sql} AS x WHERE x.{l.sql} = p.{key.sql})"
    summed = f"SELECT {cols}, {count(c, link)} + {count(o, other)} FROM {p.sql} AS p"
    multiplied = (
        f"{p.sql} AS p JOIN {c.sql} AS c ON c.{link.sql} = p.{key.sql} JOIN {o.sql} AS o ON o.{other.sql} = p.{key.sql}"
    )
    slips = [
        make("UNION"),
        f"SELECT {cols}, COUNT(*) FROM {multiplied} GROUP BY p.{key.sql}",
        summed,
        f"SELECT {cols}, COUNT(*) FROM {chained(a, p, key, c, link)} GROUP BY p.{key.sql}",
    ]
    return q, a.one([make("UNION ALL"), f"{summed} WHERE {count(c, link)} + {count(o, other)} > 0"]), slips


def more_of_kind(a, p, key, c, link):
    """More than n events of a kind."""
    several(link)
    k = a.one(kinds(c))
    v = common(a, k)
    n = a.one([1, 1, 1, 2, 2, 3])
    label, many, cond, one = p.label(), a.many(p), condition(a, k, v), a.single(p)
    child = a.many(c)
    q = told(
        a,
        [
            f"Which {many} have more than {a.number(n)} {child if n > 1 else a.single(c)} {cond}?",
            f"{many} with at least {a.number(n + 1)} {child} {cond}",
            f"Name every {one} that has {n + 1} or more {child} {cond}.",
            f"Who among the {many} comes to over {n} when only {child} {cond} are counted?",
            f"{one} list: > {n} {child} {cond}",
            f"For which {many} do the {child} {cond} number more than {a.number(n)}?",
        ],
    )
    cols, test = shown(label, "p."), f"c.{k.sql} = {literal(v)}"
    rows = lambda where: f"{chained(a, p, key, c, link)}{where}"
    grouped = lambda having, where="": f"SELECT {cols} FROM {rows(where)} GROUP BY p.{key.sql} HAVING {having}"
    where = f" WHERE {test}"

    def scalar(op, test=f" AND {test}"):
        of = f"SELECT COUNT(*) FROM {c.sql} AS c WHERE c.{link.sql} = p.{key.sql}{test}"
        return f"SELECT {cols} FROM {p.sql} AS p WHERE ({of}) {op} {n}"

    right = a.one(
        [
            grouped(f"COUNT(*) > {n}", where),
            grouped(f"{hits(a, test)} > {n}"),
            scalar(">"),
            grouped(f"COUNT(*) >= {n + 1}", where),
        ]
    )
    exists = f" WHERE EXISTS (SELECT 1 FROM {c.sql} AS x WHERE x.{link.sql} = p.{key.sql} AND x.{k.sql} = {literal(v)})"
    slips = [
        a.one([grouped(f"COUNT(*) >= {n}", where), grouped(f"{hits(a, test)} >= {n}"), scalar(">=")]),
        a.one([grouped(f"COUNT(*) > {n}"), scalar(">", "")]),
        grouped(f"COUNT(*) > {n}", exists),
        a.one([grouped(f"COUNT(*) < {n}", where), scalar("<")]),
        grouped(f"COUNT(*) > {n}", f" WHERE c.{k.sql} <> {literal(v)}"),
    ]
    return q, right, slips


def all_beyond(a, p, key, c, link):
    """Parents that have events, all of which are beyond a bound."""
    x = a.one(figures(c))
    v = a.one(sorted(x.distinct)[1:-1])
    op, more = a.one([(">", "over"), (">", "above"), ("<", "under"), ("<", "below")])
    label, many, one, child, xw = p.label(), a.many(p), a.single(p), a.many(c), a.say(x.words)
    bound = f"{more} {a.number(v)}"
    q = told(
        a,
        [
            f"Which {many} have {child} and only ones with {xw} {bound}?",
            f"{many} all of whose {child} (at least one) have a {xw} {bound}",
            f"For which {many} is the {xw} of every {a.single(c)} {bound}? Leave out {many} without {child}.",
            f"Name each {one} that has {child} without exception {bound} in {xw}.",
            f"{one} list where {xw} is {bound} in all {child}, not just some; must have any",
            f"Who among the {many} with {child} never had one that isn't {bound} in {xw}?",
        ],
    )
    cols, not_op = shown(label, "p."), {">": "<=", "<": ">="}[op]
    f, g = ("MIN", "MAX") if op == ">" else ("MAX", "MIN")
    own = f"FROM {c.sql} AS c WHERE c.{link.sql} = p.{key.sql}"
    grouped = lambda having: f"SELECT {cols} FROM {chained(a, p, key, c, link)} GROUP BY p.{key.sql} HAVING {having}"
    none = f"NOT EXISTS (SELECT 1 {own} AND c.{x.sql} {not_op} {v})"
    right = a.one(
        [
            grouped(f"{f}(c.{x.sql}) {op} {v}"),
            grouped(f"COUNT(*) = {hits(a, f'c.{x.sql} {op} {v}')}"),
            f"SELECT {cols} FROM {p.sql} AS p WHERE EXISTS (SELECT 1 {own}) AND {none}",
            f"SELECT {cols} FROM {p.sql} AS p WHERE p.{key.sql} IN (SELECT {link.sql} FROM {c.sql}) AND {none}",
        ]
    )
    slips = [
        a.one(
            [
                grouped(f"{g}(c.{x.sql}) {op} {v}"),
                f"SELECT {cols} FROM {p.sql} AS p WHERE EXISTS (SELECT 1 {own} AND c.{x.sql} {op} {v})",
            ]
        ),
        f"SELECT {cols} FROM {p.sql} AS p WHERE {none}",
        grouped(f"AVG(c.{x.sql}) {op} {v}"),
        grouped(f"{g}(c.{x.sql}) {not_op} {v}"),
    ]
    return q, right, slips


def kinds_of_events(a, p, key, c, link):
    """Parents that have events of both kinds, or of one but not of the other."""
    several(link)
    if link.n_null:
        return None
    k = a.one(kinds(c))
    v, w = a.rng.sample(k.distinct, 2)
    label, many, child, one, kw = p.label(), a.many(p), a.many(c), a.single(p), a.say(k.words)
    both = a.rng.random() < 0.45
    q = told(
        a,
        (
            [
                f"Which {many} have at least one of the {child} with {kw} {v} and at least one with {kw} {w}?",
                f"{many} that occur with {kw} {v} as well as with {kw} {w} in their {child}",
                f"List each {one} whose {child} include {v} and also {w} for {kw}.",
                f"both {v} and {w} among the {child} ({kw}): which {many}?",
                f"Find the {many} with {child} of either {kw}, {v} and {w}; one of them alone is not enough.",
                f"For which {many} do we find {child} under {kw} {v} and others under {w}?",
            ]
            if both
            else [
                f"Which {many} have {child} with {kw} {v} but none with {kw} {w}?",
                f"{many} with {kw} {v} and without {kw} {w} in their {child}",
                f"List each {one} whose {child} include {v} for {kw} yet never {w}.",
                f"{kw} {v} yes, {w} no: {many} by their {child}",
                f"Leave out anyone with {child} of {kw} {w}; which {many} with {kw} {v} remain?",
                f"For which {many} do we find {child} under {kw} {v} and not one under {w}?",
            ]
        ),
    )
    cols = shown(label, "p.")
    links = lambda x: f"SELECT {link.sql} FROM {c.sql} WHERE {k.sql} = {literal(x)}"
    grouped = lambda having: f"SELECT {cols} FROM {chained(a, p, key, c, link)} GROUP BY p.{key.sql} HAVING {having}"
    n = lambda x: hits(a, f"c.{k.sql} = {literal(x)}")

    def make(both):
        has = lambda x: (
            f"EXISTS (SELECT 1 FROM {c.sql} AS c WHERE c.{link.sql} " f"= p.{key.sql} AND c.{k.sql} = {literal(x)})"
        )
        of = f"SELECT {cols} FROM {p.sql} AS p WHERE"
        ways = [
            grouped(f"{n(v)} > 0 AND {n(w)} {'> 0' if both else '= 0'}"),
            f"{of} {has(v)} AND {'' if both else 'NOT '}{has(w)}",
            f"{of} p.{key.sql} IN ({links(v)} {'INTERSECT' if both else 'EXCEPT'} {links(w)})",
            f"{of} p.{key.sql} IN ({links(v)}) AND p.{key.sql} {'' if both else 'NOT '}IN ({links(w)})",
        ]
        return a.one(ways)

    join = chained(a, p, key, c, link)
    slips = [
        make(not both),
        f"SELECT DISTINCT {cols} FROM {join} WHERE c.{k.sql} IN ({literal(v)}, {literal(w)})",
        f"SELECT DISTINCT {cols} FROM {join} WHERE c.{k.sql} = {literal(v)} "
        f"AND c.{k.sql} {'=' if both else '<>'} {literal(w)}",
        a.one(
            [
                f"SELECT {cols} FROM {p.sql} AS p WHERE p.{key.sql} IN ({links(v)} UNION {links(w)})",
                grouped(f"{n(v)} > 0 OR {n(w)} > 0"),
            ]
        ),
        a.one(
            [
                f"SELECT {cols} FROM {p.sql} AS p WHERE p.{key.sql} IN ({links(w)} EXCEPT {links(v)})",
                grouped(f"{n(w)} > 0 AND {n(v)} = 0"),
            ]
        ),
    ]
    return q, make(both), slips


def share_with_any(a, p, key, c, link):
    """The percentage of parents that have an event."""
    many, one, child = a.many(p), a.single(p), a.single(c)
    also = a.rng.random() < 0.4
    k = a.one(kinds(c)) if also else None
    v = common(a, k) if also else None
    cond = f" {condition(a, k, v)}" if also else ""
    q = told(
        a,
        [
            f"What percentage of all {many} have at least one {child}{cond}?",
            f"Share of {many} with any {child}{cond}, in percent",
            f"How many percent of our {many} have {an(child)}{cond}?",
            f"% of {many} that have {a.many(c)}{cond}",
            f"Out of 100 {many}, how many have at least one {child}{cond} on average?",
            f"Compute the portion of {many}, as a percentage, for which {a.many(c)}{cond} exist.",
        ],
    )
    test = f" AND c.{k.sql} = {literal(v)}" if also else ""
    where = f" WHERE {k.sql} = {literal(v)}" if also else ""
    exists = f"EXISTS (SELECT 1 FROM {c.sql} AS c WHERE c.{link.sql} = p.{key.sql}{test})"
    every = f"(SELECT COUNT(*) FROM {p.sql})"
    outer = f"{joined(p, key, c, link, 'LEFT JOIN')}{test}"
    inside = f"{key.sql} IN (SELECT {link.sql} FROM {c.sql}{where})"
    some = f"(SELECT COUNT(*) FROM {p.sql} WHERE {{}}{inside})"
    right = a.one(
        [
            f"SELECT {percent(a, some.format(''), every)}",
            f"SELECT AVG(CASE WHEN {exists} THEN 100.0 ELSE 0 END) FROM {p.sql} AS p",
            f"SELECT {percent(a, f'COUNT(DISTINCT c.{link.sql})', f'COUNT(DISTINCT p.{key.sql})')} FROM {outer}",
            f"SELECT {percent(a, hits(a, inside), 'COUNT(*)')} FROM {p.sql}",
        ]
    )
    slips = [
        f"SELECT {percent(a, f'(SELECT COUNT(*) FROM {c.sql}{where})', every)}",
        (
            f"SELECT {percent(a, some.format('NOT '), every)}"
            if not also
            else f"SELECT AVG(CASE WHEN NOT {exists} THEN 100.0 ELSE 0 END) FROM {p.sql} AS p"
        ),
        f"SELECT {percent(a, f'COUNT(c.{link.sql})', 'COUNT(*)')} FROM {outer}",
        "SELECT "
        f"{percent(a, f'(SELECT COUNT(DISTINCT {link.sql}) FROM {c.sql}{where})', f'(SELECT COUNT(*) FROM {c.sql})')}",
        f"SELECT {some.format('')} / {every} * 100",
    ]
    return q, right, slips


def share_of_parent(a, p, key, c, link):
    """The share of each parent in the events or the amounts of all parents."""
    m = measure(a, c, a.many(c), "c.")
    label, one = p.label(), a.single(p)
    q = told(
        a,
        [
            f"What percentage of the {m.words} of all {a.many(p)} does each "
            f"{one} account for? Those with none can be left out.",
            f"{one} and its share in the {m.words} of all of them, in %, for those that have any",
            f"For each {one} with {a.many(c)}: percent of the {m.words} over all {a.many(p)} that is due to it",
            f"Break the {m.words} down by {one} as percentages of the whole, only {a.many(p)} that occur.",
            f"How big a part of the {m.words} is due to every {one}, in percent? "
            f"Skip the ones without {a.many(c)}.",
            f"pct of {m.words} per {one}, base all {a.many(c)} of any {one}",
        ],
    )
    cols = shown(label, "p.")
    grouped = lambda e: f"SELECT {cols}, {e} FROM {chained(a, p, key, c, link)} GROUP BY p.{key.sql}"
    all_of = lambda sql: f"(SELECT {sql} FROM {joined(p, key, c, link)})"
    names = [f"v{i}" for i in range(len(label))]
    renamed = ", ".join(f"p.{x.sql} AS {n}" for x, n in zip(label, names))
    inner = f"SELECT {renamed}, {m.sql} AS n FROM {joined(p, key, c, link)} GROUP BY p.{key.sql}"
    over = lambda w: upon(a, inner, f"{', '.join(names)}, {percent(a, 'n', f'SUM(n) OVER ({w})')}")
    average = upon(a, inner, f"{', '.join(names)}, {percent(a, 'n', 'AVG(n) OVER ()')}")
    slips = [
        a.one([over(f"PARTITION BY {', '.join(names)}"), over("ORDER BY n")]),
        grouped(f"100 - {percent(a, m.sql, all_of(m.sql))}"),
        grouped(percent(a, m.sql, f"(SELECT COUNT(*) FROM {p.sql})")),
        average,
        grouped(percent(a, "COUNT(*)", all_of("COUNT(*)")) if m.column else f"COUNT(*) / {all_of('COUNT(*)')} * 100"),
    ]
    return q, a.one([over(""), grouped(percent(a, m.sql, all_of(m.sql)))]), slips


def kind_of_parents_events(a, p, key, c, link):
    """The percentage of each parent's events that are of a kind."""
    several(link)
    k = a.one(kinds(c))
    v = common(a, k)
    label, one, many, cond = p.label(), a.single(p), a.many(c), condition(a, k, v)
    q = told(
        a,
        [
            f"What percentage of each {one}'s {many} are those {cond}?",
            f"{one} and % of its {many} {cond}, for {a.many(p)} with {many}",
            f"For every {one} that has {many}, how many percent of them are {cond}?",
            f"Per {one}: {many} {cond} as a percentage of all {many} of that {one}",
            f"How large is the portion of {many} {cond} among the {many} of each {one}? Give percentages.",
            f"pct of {many} {cond} by {one} (denominator: the {one}'s own {many})",
        ],
    )
    cols, test = shown(label, "p."), f"c.{k.sql} = {literal(v)}"
    grouped = lambda e, where="": f"SELECT {cols}, {e} FROM {chained(a, p, key, c, link)}{where} GROUP BY p.{key.sql}"
    right = a.one(
        [grouped(percent(a, hits(a, test), "COUNT(*)"))] * 2 + [grouped(f"AVG(CASE WHEN {test} THEN 100.0 ELSE 0 END)")]
    )
    slips = [
        grouped(percent(a, hits(a, test), f"(SELECT COUNT(*) FROM {c.sql})")),
        grouped(
            percent(a, "COUNT(*)", f"(SELECT COUNT(*) FROM {c.sql} AS x WHERE x.{k.sql} = {literal(v)})"),
            f" WHERE {test}",
        ),
        grouped(percent(a, f"COUNT(CASE WHEN {test} THEN 1 ELSE 0 END)", "COUNT(*)")),
        grouped(percent(a, hits(a, f"c.{k.sql} <> {literal(v)}"), "COUNT(*)")),
        grouped(percent(a, hits(a, test), "COUNT(*)"), f" WHERE {test}"),
    ]
    return q, right, slips


def above_mean_total(a, p, key, c, link):
    """Parents whose total is above the average total of parents; not above the average of events."""
    several(link)
    m = measure(a, c, a.many(c), "c.")
    label, one, many = p.label(), a.single(p), a.many(p)
    up = a.rng.random() < 0.7
    op, back, more = (">", "<", "above") if up else ("<", ">", "below")
    q = told(
        a,
        [
            f"Which {many} have a {m.words} {more} the average per {one}, taking only {many} with {a.many(c)}?",
            f"{many} with {a.many(c)} whose {m.words} lies {more} the mean of all such {many}",
            f"Work out the {m.words} of each {one} that has any and list "
            f"the {many} {more} the average of these figures.",
            f"{more}-average {many} by {m.words} (average over {many} having {a.many(c)})",
            f"Who has {'more' if up else 'less'} than the typical (mean) {one} in "
            f"terms of {m.words}? Consider {many} with {a.many(c)} only.",
            f"Compare every {one}'s {m.words} with the average over the {many} that have some: which are {more}?",
        ],
    )
    names = [f"v{i}" for i in range(len(label))]
    renamed = ", ".join(f"p.{x.sql} AS {n}" for x, n in zip(label, names))
    inner = f"SELECT {renamed}, {m.sql} AS n FROM {chained(a, p, key, c, link)} GROUP BY p.{key.sql}"

    def make(op, mean="AVG(n)"):
        ways = [
            f"WITH g AS ({inner}) SELECT {', '.join(names)} FROM g WHERE n {op} (SELECT {mean} FROM g)",
            upon(
                a,
                f"SELECT {', '.join(names)}, n, {mean} OVER () AS m FROM ({inner})",
                ", ".join(names),
                f" WHERE n {op} m",
            ),
            f"SELECT {shown(label, 'p.')} FROM {joined(p, key, c, link)} GROUP BY p.{key.sql} "
            f"HAVING {m.sql} {op} (SELECT {mean} FROM ({inner}))",
        ]
        return a.one(ways)

    plain = f"AVG({m.column.sql})" if m.column else f"COUNT(*) / COUNT({link.sql})"
    of_rows = (
        f"SELECT {shown(label, 'p.')} FROM {joined(p, key, c, link)} GROUP BY "
        f"p.{key.sql} HAVING {m.sql} {op} (SELECT {plain} FROM {c.sql})"
    )
    slips = [make(back), of_rows, make(op, "SUM(n)"), make(op, "MAX(n)" if up else "MIN(n)")]
    if m.column:
        slips.append(
            f"SELECT DISTINCT {shown(label, 'p.')} FROM {chained(a, p, key, c, link)} "
            f"WHERE c.{m.column.sql} {op} (SELECT {plain} FROM {c.sql})"
        )
    return q, make(op), slips


def different_parents(a, p, key, c, link):
    """How many different parents there are for each kind of events, not how many events."""
    several(link)
    k = a.one(kinds(c))
    kw, many, one, child = a.say(k.words), a.many(p), a.single(p), a.many(c)
    q = told(
        a,
        [
            f"How many different {many} are there for each {kw} of {child}?",
            f"Distinct {many} per {kw} ({child})",
            f"{kw} and number of unique {many} with {child} of that {kw}",
            f"For every {kw} of {child}, count each {one} once: how many {many}?",
            f"Break down by {kw} how many separate {many} stand behind the {child}.",
            f"By {kw} of the {child}, how many {many} are involved? One with several still counts once.",
        ],
    )
    make = lambda x, by=k: f"SELECT {by.sql}, COUNT({x}) FROM {c.sql} GROUP BY {a.one(['1', by.sql])}"
    pairs = f"SELECT {k.sql} AS k, {link.sql} AS l FROM {c.sql}"
    right = a.one(
        [
            make(f"DISTINCT {link.sql}"),
            make(f"DISTINCT {link.sql}"),
            upon(a, f"{pairs} GROUP BY 1, 2", "k, COUNT(l)", " GROUP BY k"),
            upon(a, pairs.replace("SELECT", "SELECT DISTINCT", 1), "k, COUNT(l)", " GROUP BY k"),
        ]
    )
    slips = [
        make(a.one(["*", link.sql])),
        make(f"DISTINCT {k.sql}", link),
        make(f"DISTINCT {k.sql}"),
        upon(a, pairs, "k, COUNT(l)", " GROUP BY k"),
    ]
    return q, right, slips


OF_PAIR = [
    days_between,
    event_of_each,
    second_of_each,
    latest_less_first,
    cohort,
    cohort_sizes,
    active_parents,
    totals_with_none,
    of_kind_with_none,
    mean_with_none,
    lacking,
    in_either,
    rows_of_both,
    more_of_kind,
    all_beyond,
    kinds_of_events,
    share_with_any,
    share_of_parent,
    kind_of_parents_events,
    above_mean_total,
    different_parents,
]
