"""Templates of windows over rows and periods: running totals, moving means, changes, growth, gaps, places in groups."""

from questions.forms import *


def running_total(a, t):
    """Up to and including each period."""
    many = a.many(t)
    w, m = span(a, t), measure(a, t, many)
    q = told(
        a,
        [
            f"Running {m.words} by {w.by}",
            f"For each {w.by}, what is the {m.words} up to and including that {w.unit}?",
            f"cumulative {m.words}, {w.unit} after {w.unit} ({w.by})",
            f"I would like to see how the {m.words} builds up over time: one line per {w.by} with the total so far.",
            f"Show every {w.by} with the {m.words} accumulated from the first {w.unit} through that one.",
            f"{w.by} / {m.words} to date (all {w.unit}s so far, current one included)",
            f"List each {w.by} next to the cumulative {m.words}.",
        ],
    )
    u = w.unit
    inner = f"SELECT {w.sql()} AS {u}, {m.sql} AS n FROM {t.sql} GROUP BY 1"
    frames = {
        "so far": f"ORDER BY {u}",
        "from here": f"ORDER BY {u} DESC",
        "two": f"ORDER BY {u} ROWS BETWEEN 1 PRECEDING AND CURRENT ROW",
        "all": "",
    }
    compared = {"so far": "<=", "from here": ">=", "before": "<"}

    def make(way):
        if way in compared and (way not in frames or a.rng.random() < 0.45):
            sum_of = f"SUM(y.n) FROM p AS x JOIN p AS y ON y.{u} {compared[way]} x.{u} GROUP BY x.{u}"
            scalar = f"(SELECT SUM(y.n) FROM p AS y WHERE y.{u} {compared[way]} x.{u}) FROM p AS x"
            return f"WITH p AS ({inner}) SELECT x.{u}, {a.one([sum_of, scalar])}"
        if a.rng.random() < 0.4:
            frame = frames[way].replace(f"BY {u}", f"BY {w.sql()}")
            return f"SELECT {w.sql()}, SUM({m.sql}) OVER ({frame}) FROM {t.sql} GROUP BY {w.sql()}"
        return upon(a, inner, f"{u}, SUM(n) OVER ({frames[way]})")

    slips = [make("from here"), make("all"), make("two"), make("before"), upon(a, inner, f"{u}, n")]
    return in_order(a, (q, make("so far"), slips), u)


def running_total_per_group(a, t):
    """A running total that starts anew for each group."""
    many = a.many(t)
    k, w, m = a.one(kinds(t)), span(a, t), measure(a, t, many)
    kw, u = a.say(k.words), w.unit
    q = told(
        a,
        [
            f"Running {m.words} by {w.by}, separately for each {kw}",
            f"For every {kw}, show the {m.words} accumulated up to each {w.by}.",
            f"cumulative {m.words} per {kw} over {w.by}",
            f"Within each {kw}, how does the {m.words} add up {w.unit} by {w.unit} ({w.by})?",
            f"{kw}, {w.by}, {m.words} so far; start again at zero for each {kw}",
            f"Please give me {kw}, {w.by} and the running total of the {m.words} inside that {kw}.",
        ],
    )
    inner = f"SELECT {k.sql} AS k, {w.sql()} AS {u}, {m.sql} AS n FROM {t.sql} GROUP BY 1, 2"

    def make(partition, order):
        over = f"({' '.join(x for x in (partition and f'PARTITION BY {partition}', order) if x)})"
        if a.rng.random() < 0.4:
            over = re.sub(r"\bk\b", k.sql, over.replace(f"BY {u}", f"BY {w.sql()}"))
            return f"SELECT {k.sql}, {w.sql()}, SUM({m.sql}) OVER {over} FROM {t.sql} GROUP BY {k.sql}, {w.sql()}"
        return upon(a, inner, f"k, {u}, SUM(n) OVER {over}")

    def paired(compare, same):
        match = f"y.{u} {compare} x.{u}" + (" AND y.k = x.k" if same else "")
        return f"WITH p AS ({inner}) SELECT x.k, x.{u}, SUM(y.n) FROM p AS x JOIN p AS y ON {match} GROUP BY x.k, x.{u}"

    right = a.one([make("k", f"ORDER BY {u}"), make("k", f"ORDER BY {u}"), paired("<=", True)])
    lost = a.one([make("", f"ORDER BY {u}"), paired("<=", False)])
    down = a.one([make("k", f"ORDER BY {u} DESC"), paired(">=", True)])
    slips = [lost, down, make(u, "ORDER BY k"), make("k", ""), make("k", f"ORDER BY {u} ROWS 1 PRECEDING")]
    return in_order(a, (q, right, slips), f"{kw} and {u}", "1, 2")


def running_rows(a, t):
    """A running total row by row, in the order of a date that no two rows share."""
    x = a.one(amounts(t))
    d = a.one([c for c in dates(t) if len(c.distinct) == t.n_rows])
    many, xw = a.many(t), a.say(x.words)
    dw = Period(a, d, "day").date
    q = told(
        a,
        [
            f"Show the {dw}, the {xw} and the running total of {xw} for all {many}, in order of {dw}.",
            f"{many} by {dw}: {xw} and cumulative {xw}",
            f"For each of the {many}, give {dw}, {xw} and the sum of {xw} up to and including it, going by {dw}.",
            f"How does the {xw} of {many} add up over time? I want {dw}, {xw}, and the total so far.",
            f"per row of {many}: {dw}, {xw}, total {xw} to date (ordered by {dw}, oldest first)",
            f"List {dw} and {xw} of {many} together with the {xw} accumulated by then.",
        ],
    )

    def make(over):
        if a.rng.random() < 0.3:
            return f"SELECT {d.sql}, {x.sql}, SUM({x.sql}) OVER w FROM {t.sql} WINDOW w AS ({over})"
        return f"SELECT {d.sql}, {x.sql}, SUM({x.sql}) OVER ({over}) FROM {t.sql}"

    def scalar(op):
        of = f"SELECT SUM(y.{x.sql}) FROM {t.sql} AS y WHERE y.{d.sql} {op} z.{d.sql}"
        return f"SELECT z.{d.sql}, z.{x.sql}, ({of}) FROM {t.sql} AS z"

    slips = [
        a.one([make(f"ORDER BY {d.sql} DESC"), scalar(">=")]),
        make(f"ORDER BY {x.sql}"),
        make(""),
        make(f"ORDER BY {d.sql} ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"),
        scalar("<"),
    ]
    return q, a.one([make(f"ORDER BY {d.sql}"), make(f"ORDER BY {d.sql}"), scalar("<=")]), slips


def moving_average(a, t):
    """Over the last n periods that have rows; the first ones have fewer before them."""
    many = a.many(t)
    m = measure(a, t, many)
    w = span(a, t, least=5, busy=not m.column)
    n, u = a.rng.randint(2, 4), w.unit
    q = told(
        a,
        [
            f"{n}-{u} moving average of the {m.words} by {w.by} (that {u} and the {n - 1} before it that occur)",
            f"For each {w.by}, average the {m.words} over that {u} and the {a.number(n - 1)} listed before it.",
            f"rolling mean over {n} {u}s, {m.words}, per {w.by}, current {u} included, only {u}s with data",
            f"How does the {m.words} develop by {w.by} if I smooth it with "
            f"the mean of the last {n} {u}s that have data?",
            f"Smooth the {w.ly} {m.words} ({w.by}): trailing average of {n} {u}s, counting only {u}s that occur.",
            f"Give every {w.by} with the trailing {n}-{u} average of {m.words}; skip {u}s without {many}.",
        ],
    )
    inner = f"SELECT {w.sql()} AS {u}, {m.sql} AS n FROM {t.sql} GROUP BY 1"

    def make(frame, f="AVG", order=""):
        if a.rng.random() < 0.35:
            over = f"ORDER BY {w.sql()}{order} {frame}".rstrip()
            return f"SELECT {w.sql()}, {f}({m.sql}) OVER ({over}) FROM {t.sql} GROUP BY 1"
        return upon(a, inner, f"{u}, {f}(n) OVER ({f'ORDER BY {u}{order} {frame}'.rstrip()})")

    frame = lambda i, j=0: f"ROWS BETWEEN {i} PRECEDING AND {f'{j} FOLLOWING' if j else 'CURRENT ROW'}"
    slips = [
        make(frame(n)),
        make(f"ROWS BETWEEN CURRENT ROW AND {n - 1} FOLLOWING"),
        make(""),
        make(frame(n - 1), "SUM"),
        make(frame(n - 1), order=" DESC"),
    ]
    return in_order(a, (q, make(frame(n - 1)), slips), u)


def moving_average_of_rows(a, t):
    """Row by row in the order of a date; asked of single rows rather than of periods."""
    x = a.one(figures(t))
    d = a.one([c for c in dates(t) + t.of("is_year") if len(c.distinct) == t.n_rows > 4])
    n = a.rng.randint(2, 5)
    (many, xw), dw = (a.many(t), a.say(x.words)), a.say(d.words)
    q = told(
        a,
        [
            f"Moving average of {xw} over {n} {many} in order of {dw}: show the {dw} and the average.",
            f"Ordered by {dw}, what is the mean {xw} of each of the {many} and "
            f"the {a.number(n - 1)} before it? Give the {dw} too.",
            f"{dw} and rolling avg of {xw} (last {n} {many} incl. the current one)",
            f"For all {many} by {dw}, average {xw} across the current and the preceding {a.number(n - 1)}.",
            f"I want to smooth {xw}: per {dw}, the average of the {n} latest {many} up to then.",
            f"trailing {n}-row mean of {xw}, {many} sorted by {dw} from the earliest; columns {dw}, mean",
        ],
    )
    make = lambda order, frame, f="AVG": (
        f"SELECT {d.sql}, {f}({x.sql}) OVER (ORDER BY {order} {frame}) FROM {t.sql}"
        if a.rng.random() < 0.6
        else f"SELECT {d.sql}, {f}({x.sql}) OVER w FROM {t.sql} WINDOW w AS (ORDER BY {order} {frame})"
    )
    back = f"ROWS BETWEEN {n - 1} PRECEDING AND CURRENT ROW"
    slips = [
        make(d.sql, f"ROWS BETWEEN {n} PRECEDING AND CURRENT ROW"),
        make(d.sql, f"ROWS BETWEEN CURRENT ROW AND {n - 1} FOLLOWING"),
        make(x.sql, back),
        make(d.sql, "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
        make(d.sql, back, "SUM"),
    ]
    return q, make(d.sql, back), slips


def change_before(a, t):
    """The difference to the period before that has rows; nothing to compare with for the first."""
    many = a.many(t)
    m = measure(a, t, many)
    w = span(a, t, busy=not m.column)
    u = w.unit
    q = told(
        a,
        [
            f"{u}-over-{u} change in the {m.words} ({w.by})",
            f"By how much did the {m.words} change from one {w.by} to the next one recorded? Leave the first empty.",
            f"For each {w.by}, subtract the previous {u}'s {m.words} from its own (previous = the last {u} with data).",
            f"Show {w.by} and the difference of the {m.words} to the {u} "
            f"before, among {u}s that occur; first one null.",
            f"How much higher or lower is the {m.words} of each {w.by} than that of the preceding {u} with any {many}?",
            f"delta of {m.words} vs prior {u}, per {w.by}, all {u}s listed",
            f"Broken down by {w.by}: change of the {m.words} against the {u} before it in the list",
        ],
    )
    inner = f"SELECT {w.sql()} AS {u}, {m.sql} AS n FROM {t.sql} GROUP BY 1"

    def make(value):
        return upon(a, inner, f"{u}, {value}")

    def paired(turn=False):
        numbered = f"p AS ({inner}), q AS (SELECT {u}, n, ROW_NUMBER() OVER (ORDER BY {u}) AS i FROM p)"
        gap, side = ("y.n - x.n", "y.i = x.i + 1") if turn else ("x.n - y.n", "y.i = x.i - 1")
        return f"WITH {numbered} SELECT x.{u}, {gap} FROM q AS x LEFT JOIN q AS y ON {side}"

    def scalar(op, order, sign="x.n - "):
        of = f"(SELECT y.n FROM p AS y WHERE y.{u} {op} x.{u} ORDER BY y.{u} {order} LIMIT 1)"
        return f"WITH p AS ({inner}) SELECT x.{u}, {sign}{of} FROM p AS x"

    right = a.one([make(f"n - LAG(n) OVER (ORDER BY {u})")] * 2 + [paired(), scalar("<", "DESC")])
    slips = [
        a.one([make(f"n - LEAD(n) OVER (ORDER BY {u})"), scalar(">", "ASC"), paired(True)]),
        make(f"LAG(n) OVER (ORDER BY {u}) - n"),
        make("n - LAG(n) OVER (ORDER BY n)"),
        a.one([make(f"LAG(n) OVER (ORDER BY {u})"), scalar("<", "DESC", "")]),
        make(f"n - FIRST_VALUE(n) OVER (ORDER BY {u})"),
    ]
    return in_order(a, (q, right, slips), u)


def change_in_group(a, t):
    """The change against the period before of the same group."""
    many = a.many(t)
    k, m = a.one(kinds(t)), measure(a, t, many)
    w = span(a, t, busy=not m.column)
    kw, u = a.say(k.words), w.unit
    q = told(
        a,
        [
            f"Change of the {m.words} against the {u} before, per {kw} ({w.by}, only {u}s that the {kw} has)",
            f"For each {kw} and {w.by}, how much did the {m.words} go up or down since that {kw}'s previous {u}?",
            f"{kw} / {w.by} / difference of {m.words} to the last {u} of the same {kw}",
            f"Compare every {kw}'s {w.ly} {m.words} ({w.by}) with its own "
            f"{u} before: list {kw}, {u} and the difference.",
            f"Within each {kw}, {u}-over-{u} difference in {m.words}, by {w.by}; empty for the first {u} of a {kw}",
            f"I need to know, {kw} by {kw}, what changed in the {m.words} from one {w.by} to the next one it has.",
        ],
    )
    inner = f"SELECT {k.sql} AS k, {w.sql()} AS {u}, {m.sql} AS n FROM {t.sql} GROUP BY 1, 2"
    lag = lambda over, f="LAG": upon(a, inner, f"k, {u}, n - {f}(n) OVER ({over})")

    def scalar(same, op, order):
        of = (
            f"SELECT y.n FROM p AS y WHERE {'y.k = x.k AND ' if same else ''}y.{u} "
            f"{op} x.{u} ORDER BY y.{u} {order} LIMIT 1"
        )
        return f"WITH p AS ({inner}) SELECT x.k, x.{u}, x.n - ({of}) FROM p AS x"

    right = a.one([lag(f"PARTITION BY k ORDER BY {u}"), scalar(True, "<", "DESC")])
    slips = [
        a.one([lag(f"ORDER BY {u}"), lag(f"ORDER BY k, {u}"), scalar(False, "<", "DESC")]),
        a.one([lag(f"PARTITION BY k ORDER BY {u}", "LEAD"), scalar(True, ">", "ASC")]),
        lag(f"PARTITION BY {u} ORDER BY k"),
        lag("PARTITION BY k ORDER BY n"),
        lag(f"PARTITION BY k ORDER BY {u}", "FIRST_VALUE"),
    ]
    return in_order(a, (q, right, slips), f"{kw} and {u}", "1, 2")


def growth_percent(a, t):
    """Growth in percent of the value before."""
    many = a.many(t)
    w, m = span(a, t, busy=True), measure(a, t, many)
    u = w.unit
    q = told(
        a,
        [
            f"{u}-over-{u} growth of the {m.words} in percent ({w.by})",
            f"By how many percent did the {m.words} grow from each {w.by} to the next one recorded?",
            f"% change in {m.words} vs prior {u}, per {w.by}, first {u} null",
            f"For each {w.by}, give the percentage growth of the {m.words} over the {u} before it in the data.",
            f"How fast is the {m.words} growing? Percent change per {w.by} against the last {u} with data, please.",
            f"Compute the growth rate in percent of the {w.ly} {m.words} by "
            f"{w.by}, relative to the previous {u} that occurs.",
        ],
    )
    inner = f"SELECT {w.sql()} AS {u}, {m.sql} AS n FROM {t.sql} GROUP BY 1"

    def make(e, before="LAG"):
        """The value before stands for {b}: it is a column of a second CTE, or the window in place."""
        over = f"{before}(n) OVER (ORDER BY {u})"
        if a.rng.random() < 0.5:
            return f"WITH p AS ({inner}), q AS (SELECT {u}, n, {over} AS b FROM p) SELECT {u}, {e.format(b='b')} FROM q"
        return upon(a, inner, f"{u}, {e.format(b=over)}")

    grown = a.one(["100.0 * (n - {b}) / {b}", "(n - {b}) * 100.0 / {b}", "(1.0 * n / {b} - 1) * 100"])
    slips = [
        make("100.0 * (n - {b}) / n"),
        make(grown, "LEAD"),
        make("100.0 * ({b} - n) / {b}"),
        make("100.0 * n / {b}"),
        make("(n - {b}) / {b} * 100" if m.sql == "COUNT(*)" else "1.0 * (n - {b})"),
    ]
    return in_order(a, (q, make(grown), slips), u)


def days_since_last(a, t):
    """Days between rows that follow each other in time, over all or within a kind."""
    d = a.one([c for c in dates(t) if len(c.distinct) == t.n_rows])
    many, one, dw = a.many(t), a.single(t), Period(a, d, "day").date
    k = a.one(kinds(t)) if kinds(t) and a.rng.random() < 0.6 else None
    of = f" of the same {a.say(k.words)}" if k else ""
    q = told(
        a,
        [
            f"How many days lie between each {one} and the one before it{of}? Give the {dw} and the days.",
            f"{dw} of every {one} and days since the previous {one}{of} (by {dw})",
            f"For each {one}, show {dw} and the gap in days to the {one} before{of}, in order of {dw}.",
            f"days elapsed between consecutive {many}{of}; columns {dw}, gap; first one has no gap",
            f"List the {many} by {dw} along with the number of days that passed since the last one{of}.",
            f"I am looking for gaps: per {one} its {dw} and how many days after the preceding {one}{of} it came.",
        ],
    )
    part_by = f"PARTITION BY {k.sql} " if k else ""

    def make(partition, f="LAG", turn=False):
        now, then = f"julianday({d.sql})", f"julianday({f}({d.sql}) OVER ({partition}ORDER BY {d.sql}))"
        return (
            f"SELECT {d.sql}, {then} - {now} FROM {t.sql}" if turn else f"SELECT {d.sql}, {now} - {then} FROM {t.sql}"
        )

    def scalar(same, f="MAX", op="<"):
        alike = f"y.{k.sql} = x.{k.sql} AND " if same else ""
        then = f"(SELECT {f}(y.{d.sql}) FROM {t.sql} AS y WHERE {alike}y.{d.sql} {op} x.{d.sql})"
        return f"SELECT x.{d.sql}, julianday(x.{d.sql}) - julianday({then}) FROM {t.sql} AS x"

    slips = [
        a.one([make(part_by, "LEAD"), scalar(k, "MIN", ">")]),
        make(part_by, turn=True),
        a.one([make(part_by, "FIRST_VALUE"), scalar(k, "MIN", "<=")]),
    ]
    if k:
        slips.append(a.one([make(""), scalar(None)]))
    return in_order(a, (q, a.one([make(part_by), scalar(k)]), slips), dw)


def best_with_ties(a, t):
    """All that are first in their group, also where several share the place."""
    k, x = a.one(kinds(t)), a.one(figures(t))
    (label, one), many, kw, xw = named(a, t), a.many(t), a.say(k.words), a.say(x.words)
    up = a.rng.random() < 0.6
    word, d, f, g, beyond = ("highest", " DESC", "MAX", "MIN", ">") if up else ("lowest", "", "MIN", "MAX", "<")
    q = told(
        a,
        [
            f"In each {kw}, which {many} have the {word} {xw}? Keep ties.",
            f"{word} {xw} per {kw}: the {kw} and the {many}, all of them if tied",
            f"For every {kw}, list {kw} and whichever {many} share the {word} {xw}.",
            f"{kw} + its {many} of {word} {xw} (more than one if equal)",
            f"Who leads in each {kw}? Leading means the {word} {xw} among "
            f"{many} there; ties all count. Show {kw} and {one}.",
            f"Give me the {kw} and the {many} whose {xw} no other in that {kw} {'exceeds' if up else 'falls below'}.",
        ],
    )
    cols = f"{k.sql}, {shown(label)}"

    def ranked(fn="RANK", partition=f"PARTITION BY {k.sql} ", order=d):
        inner = f"SELECT {cols}, {fn}() OVER ({partition}ORDER BY {x.sql}{order}) AS place FROM {t.sql}"
        return upon(a, inner, cols, " WHERE place = 1")

    def extreme(f, own=True):
        if own and a.rng.random() < 0.3:
            inner = f"SELECT {k.sql} AS k, {f}({x.sql}) AS v FROM {t.sql} GROUP BY {k.sql}"
            return f"SELECT {cols} FROM {t.sql} JOIN ({inner}) AS m ON {k.sql} = m.k AND {x.sql} = m.v"
        of = f"SELECT {f}(y.{x.sql}) FROM {t.sql} AS y" + (f" WHERE y.{k.sql} = z.{k.sql}" if own else "")
        return f"SELECT z.{k.sql}, {shown(label, 'z.')} FROM {t.sql} AS z WHERE z.{x.sql} = ({of})"

    none = f"SELECT 1 FROM {t.sql} AS y WHERE y.{k.sql} = z.{k.sql} AND y.{x.sql} {beyond} z.{x.sql}"
    exists = f"SELECT z.{k.sql}, {shown(label, 'z.')} FROM {t.sql} AS z WHERE NOT EXISTS ({none})"
    turned = ranked(order="" if up else " DESC")
    slips = [
        a.one([extreme(f, False), ranked(partition="")]),
        a.one([extreme(g), turned]),
        exists.replace("NOT EXISTS", "EXISTS"),
    ]
    if len(set(zip(k.values, x.values))) < t.n_rows:
        slips += [ranked("ROW_NUMBER")]
    return q, a.one([ranked(), ranked("DENSE_RANK"), extreme(f), extreme(f), exists]), slips


def top_places(a, t):
    """The first n of each group: by places with ties, or by different values."""
    k, x = a.one(kinds(t)), a.one(figures(t))
    (label, one), many, kw, xw = named(a, t), a.many(t), a.say(k.words), a.say(x.words)
    n = a.rng.randint(2, 3)
    if max(collections.Counter(k.values).values()) < n + 2:
        return None
    up, dense = a.rng.random() < 0.65, a.rng.random() < 0.4
    word, d = ("highest", " DESC") if up else ("lowest", "")
    of_values = [
        f"For each {kw}, the {many} that have one of the {n} {word} "
        f"different values of {xw}; show {kw}, {one} and {xw}.",
        f"{kw}, {one}, {xw}: everything on the {n} {word} distinct levels of {xw} within its {kw}",
        f"Which {many} reach one of the {a.number(n)} {word} distinct {xw} "
        f"values of their {kw}? Give {kw} and {xw} as well.",
        f"per {kw}: {many} with the {n} {word} {xw} values, equal values count as one level (with {kw} and {xw})",
        f"I want {kw}, {one} and {xw} where {xw} is among the {n} {word} different ones in the {kw}.",
        f"List {kw}, {one} and {xw}, down to the {n}{'nd' if n == 2 else 'rd'} {word} different {xw} in every {kw}.",
    ]
    of_places = [
        f"Top {n} {many} by {word} {xw} in each {kw}, ties on the last place included; show {kw}, {one}, {xw}.",
        f"For each {kw}, which {many} rank among the first {a.number(n)} by "
        f"{word} {xw}? With {kw} and {xw}; ties share a rank.",
        f"{kw} / {one} / {xw}, rank {n} or better inside the {kw} ({word} {xw} first, competition ranking with ties)",
        f"Rank {many} within their {kw} by {xw}, {word} first and with gaps "
        f"after ties; keep ranks 1 to {n}: {kw}, {one}, {xw}.",
        f"Please list {kw}, {one} and {xw} for all with fewer than "
        f"{a.number(n)} {many} ahead of them ({word} {xw}) there.",
        f"{n} best per {kw} = {word} {xw}, keep all tied at the cut; columns {kw}, {one}, {xw}",
    ]
    cols = f"{k.sql}, {shown(label)}, {x.sql}"

    def make(fn, partition=f"PARTITION BY {k.sql} ", order=d, n=n):
        inner = f"SELECT {cols}, {fn}() OVER ({partition}ORDER BY {x.sql}{order}) AS place FROM {t.sql}"
        return upon(a, inner, cols, a.one([f" WHERE place <= {n}", f" WHERE place < {n + 1}"]))

    def ahead(what, n):
        of = (
            f"SELECT COUNT({what}) FROM {t.sql} AS y WHERE y.{k.sql} = z.{k.sql} "
            f"AND y.{x.sql} {'>' if up else '<'} z.{x.sql}"
        )
        return f"SELECT z.{k.sql}, {shown(label, 'z.')}, z.{x.sql} FROM {t.sql} AS z WHERE ({of}) < {n}"

    fn, other, what = ("DENSE_RANK", "RANK", f"DISTINCT y.{x.sql}") if dense else ("RANK", "DENSE_RANK", "*")
    slips = [
        make(fn, partition=""),
        make("ROW_NUMBER"),
        make(other),
        make(fn, order="" if up else " DESC"),
        a.one([make(fn, n=n + 1), ahead(what, n + 1)]),
    ]
    return told(a, of_values if dense else of_places), a.one([make(fn), make(fn), ahead(what, n)]), slips


def just_one_of_each(a, t):
    """Exactly one row of each group; what decides ties is said."""
    k, x = a.one(kinds(t)), a.one(figures(t))
    label, many, kw, xw = t.label(), a.many(t), a.say(k.words), a.say(x.words)
    up = a.rng.random() < 0.6
    word, d, u = ("highest", " DESC", "") if up else ("lowest", "", " DESC")
    q = told(
        a,
        [
            f"Exactly one {a.single(t)} per {kw}: the one with the {word} {xw}, "
            f"ties decided by {label[0].words} in alphabetical order",
            f"For each {kw}, name the single {a.single(t)} of {word} {xw}; if tied, "
            f"take the first by {label[0].words}. Show {kw} first.",
            f"{kw} and its one {a.single(t)} with {word} {xw} (on a tie the alphabetically first {label[0].words})",
            f"Pick one of the {many} for every {kw}, {word} {xw}, then {label[0].words} "
            f"from A to Z. Give me {kw} and {a.single(t)}.",
            f"Which {a.single(t)} comes first in each {kw} when sorted by {xw}, "
            f"{word} first, and then by {label[0].words}? One per {kw}.",
            f"one row per {kw}: {a.single(t)} w/ {word} {xw}, tie-break "
            f"{label[0].words} asc, columns {kw}, {a.single(t)}",
        ],
    )
    cols = f"{k.sql}, {shown(label)}"

    def make(fn="ROW_NUMBER", partition=f"PARTITION BY {k.sql} ", order=f"{x.sql}{d}, {shown(label)}"):
        inner = f"SELECT {cols}, {fn}() OVER ({partition}ORDER BY {order}) AS i FROM {t.sql}"
        return upon(a, inner, cols, " WHERE i = 1")

    def scalar(order):
        of = f"SELECT y.rowid FROM {t.sql} AS y WHERE y.{k.sql} = z.{k.sql} ORDER BY {order} LIMIT 1"
        return f"SELECT z.{k.sql}, {shown(label, 'z.')} FROM {t.sql} AS z WHERE z.rowid = ({of})"

    slips = [
        a.one([make(partition=""), make(partition=f"PARTITION BY {label[0].sql} ")]),
        make("RANK", order=f"{x.sql}{d}"),
        a.one([make(order=f"{x.sql}{u}, {shown(label)}"), scalar(f"y.{x.sql}{u}, {shown(label, 'y.')}")]),
        make(order=shown(label)),
    ]
    return q, a.one([make(), make(), scalar(f"y.{x.sql}{d}, {shown(label, 'y.')}")]), slips


def ranked_in_group(a, t):
    """Every row with its place in its group."""
    k, x = a.one(kinds(t)), a.one(figures(t))
    (label, one), many, kw, xw = named(a, t), a.many(t), a.say(k.words), a.say(x.words)
    dense = a.rng.random() < 0.4
    ties = a.one(
        ["no gaps after ties", "dense, so no numbers are skipped"]
        if dense
        else ["equal ones share a place and the next is skipped", "ties share a rank, with gaps"]
    )
    q = told(
        a,
        [
            f"Rank the {many} within each {kw} by {xw}, highest first ({ties}): show {one} and rank.",
            f"{one} and its place by {xw} inside its {kw}, largest {xw} = 1, {ties}",
            f"What position does each {one} hold in its {kw} by descending {xw}? {ties.capitalize()}.",
            f"For every {one}, give the rank among {many} of the same {kw} "
            f"when sorted from most to least {xw}; {ties}.",
            f"League position per {kw}: {one}, rank on {xw} (top = 1; {ties})",
            f"I'd like all {many} numbered by {xw} from the top, starting "
            f"at 1 in each {kw}; {ties}. Just {one} and rank.",
        ],
    )

    def make(fn, over):
        return f"SELECT {shown(label)}, {fn}() OVER ({over}) FROM {t.sql}"

    def scalar(what, op, own=True):
        alike = f"y.{k.sql} = z.{k.sql} AND " if own else ""
        of = f"SELECT COUNT({what}) + 1 FROM {t.sql} AS y WHERE {alike}y.{x.sql} {op} z.{x.sql}"
        return f"SELECT {shown(label, 'z.')}, ({of}) FROM {t.sql} AS z"

    fn, other, what = ("DENSE_RANK", "RANK", f"DISTINCT y.{x.sql}") if dense else ("RANK", "DENSE_RANK", "*")
    own = f"PARTITION BY {k.sql} ORDER BY {x.sql}"
    slips = [
        a.one([make(fn, f"ORDER BY {x.sql} DESC"), scalar(what, ">", False)]),
        a.one([make(fn, own), scalar(what, "<")]),
        make(other, f"{own} DESC"),
        make(fn, f"PARTITION BY {x.sql} ORDER BY {k.sql} DESC"),
        make("ROW_NUMBER", f"{own} DESC"),
    ]
    return q, a.one([make(fn, f"{own} DESC"), scalar(what, ">")]), slips


def above_own_group(a, t):
    """Above the average of the own group, or of all: one is the slip of the other."""
    k, x = a.one(kinds(t)), a.one(figures(t))
    (label, _), many, kw, xw = named(a, t), a.many(t), a.say(k.words), a.say(x.words)
    own, up = a.rng.random() < 0.6, a.rng.random() < 0.65
    op, back, more = (">", "<", "above") if up else ("<", ">", "below")
    whose = f"of their own {kw}" if own else f"of all {many}, whatever their {kw}"
    q = told(
        a,
        [
            f"Which {many} have a {xw} {more} the average {whose}?",
            f"{many} {more} the mean {xw} {whose}",
            f"List the {many} whose {xw} is {'greater' if up else 'less'} than the average {xw} {whose}.",
            f"Compare each of the {many} with the average {xw} {whose}: who lies {more} it?",
            f"Show me those {many} that {'beat' if up else 'stay under'} the typical (mean) {xw} {whose}, please.",
            f"{more}-average {xw}, measured against the mean {whose}: {many}",
        ],
    )

    def make(op, own):
        means = f"SELECT {k.sql} AS k, AVG({x.sql}) AS m FROM {t.sql} GROUP BY {k.sql}"
        over = (
            f"SELECT {shown(label)}, {x.sql} AS v, AVG({x.sql}) OVER "
            f"({f'PARTITION BY {k.sql}' if own else ''}) AS m FROM {t.sql}"
        )
        of = f"SELECT AVG(y.{x.sql}) FROM {t.sql} AS y" + (f" WHERE y.{k.sql} = z.{k.sql}" if own else "")
        ways = [
            upon(a, over, shown(label), f" WHERE v {op} m"),
            f"SELECT {shown(label, 'z.')} FROM {t.sql} AS z WHERE z.{x.sql} {op} ({of})",
        ]
        if own:
            ways.append(
                f"SELECT {shown(label, 'z.')} FROM {t.sql} AS z JOIN ({means}) "
                f"AS g ON z.{k.sql} = g.k WHERE z.{x.sql} {op} g.m"
            )
        else:
            ways.append(
                f"WITH g AS (SELECT AVG({x.sql}) AS m FROM {t.sql}) SELECT "
                f"{shown(label)} FROM {t.sql}, g WHERE {x.sql} {op} m"
            )
        return a.one(ways)

    half = (
        f"SELECT {shown(label)} FROM {t.sql} WHERE {x.sql} {op} (SELECT "
        f"(MIN({x.sql}) + MAX({x.sql})) / 2.0 FROM {t.sql})"
    )
    return q, make(op, own), [make(op, not own), make(back, own), half, make(back, not own)]


def off_the_mean(a, t):
    """How far each row is from the mean of its group."""
    k, x = a.one(kinds(t)), a.one(figures(t))
    (label, one), many, kw, xw = named(a, t), a.many(t), a.say(k.words), a.say(x.words)
    q = told(
        a,
        [
            f"For each {one}, by how much does its {xw} exceed the average {xw} of its {kw}? Negative if lower.",
            f"{one} and {xw} minus the mean {xw} of the same {kw}",
            f"Show every {one} with the deviation of its {xw} from the {kw} average (own value less average).",
            f"deviation from {kw} avg in {xw}, per {one}, positive = above",
            f"How far above (+) or below (-) the mean {xw} of its {kw} is each {one}?",
            f"Subtract the average {xw} of the {kw} from the {xw} of each of its {many}; list {one} and result.",
        ],
    )

    def make(own=True, turn=False, f="AVG"):
        gap = lambda v, m: f"{m} - {v}" if turn else f"{v} - {m}"
        over = f"{f}({x.sql}) OVER ({f'PARTITION BY {k.sql}' if own else ''})"
        of = f"(SELECT {f}(y.{x.sql}) FROM {t.sql} AS y{f' WHERE y.{k.sql} = z.{k.sql}' if own else ''})"
        ways = [
            f"SELECT {shown(label)}, {gap(x.sql, over)} FROM {t.sql}",
            f"SELECT {shown(label, 'z.')}, {gap('z.' + x.sql, of)} FROM {t.sql} AS z",
        ]
        if own:
            inner = f"SELECT {k.sql} AS k, {f}({x.sql}) AS m FROM {t.sql} GROUP BY 1"
            ways.append(
                f"WITH g AS ({inner}) SELECT {shown(label, 'z.')}, {gap('z.' + x.sql, 'g.m')} "
                f"FROM {t.sql} AS z JOIN g ON g.k = z.{k.sql}"
            )
        return a.one(ways)

    return q, make(), [make(own=False), make(turn=True), make(f="MAX"), make(f="SUM"), make(own=False, turn=True)]


def quarters_of_rows(a, t):
    """Rows in four bands of equal size, by a number that no two rows share."""
    x = a.one([c for c in figures(t) if len(c.distinct) == t.n_rows > 7])
    n, name = a.one([(4, "quarter"), (3, "third"), (5, "fifth"), (2, "half")])
    (label, one), many, xw = named(a, t), a.many(t), a.say(x.words)
    q = told(
        a,
        [
            f"Split the {many} into {a.number(n)} groups of equal size by "
            f"{xw}, the largest in group 1: {one} and group.",
            f"{one} and which {name} by {xw} it belongs to (1 = largest {xw})",
            f"Put every {one} into one of {n} equally sized buckets, highest {xw} in bucket 1; show both.",
            f"In which {name} does each {one} fall when the {many} are sorted by descending {xw}? Number them from 1.",
            f"ntile of {xw}, {n} tiles, top tile = 1, per {one}",
            f"I want the {many} cut into {n} bands as equal in number as possible, "
            f"from most to least {xw}, with the band number.",
        ],
    )
    make = lambda n, order, fn="NTILE": f"SELECT {shown(label)}, {fn}({n}) OVER (ORDER BY {order}) FROM {t.sql}"
    slips = [
        make(n, x.sql),
        make("", f"{x.sql} DESC", a.one(["RANK", "ROW_NUMBER"])),
        make(n + 1, f"{x.sql} DESC"),
        f"SELECT {shown(label)}, PERCENT_RANK() OVER (ORDER BY {x.sql} DESC) FROM {t.sql}",
    ]
    return q, make(n, f"{x.sql} DESC"), slips


OF_TABLE = [
    running_total,
    running_total_per_group,
    running_rows,
    moving_average,
    moving_average_of_rows,
    change_before,
    change_in_group,
    growth_percent,
    days_since_last,
    best_with_ties,
    top_places,
    just_one_of_each,
    ranked_in_group,
    above_own_group,
    off_the_mean,
    quarters_of_rows,
]
