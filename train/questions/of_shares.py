"""Templates of parts of a whole: shares, ratios, conditional amounts, net amounts, bands, means."""

from questions.forms import *


def share_of_total(a, t):
    """Each group's share of the whole, in percent."""
    many = a.many(t)
    k, m = a.one(kinds(t)), measure(a, t, many)
    kw = a.say(k.words)
    q = told(
        a,
        [
            f"What percentage of the {m.words} does each {kw} account for?",
            f"Share of every {kw} in the {m.words}, as percent of all",
            f"{kw} and its % of the {m.words}",
            f"Break the {m.words} down by {kw}, in percent of the grand total.",
            f"For each {kw}, show how many percent of the {m.words} fall to it.",
            f"How is the {m.words} spread over {plural(kw)}? I would like percentages that add up to 100.",
            f"pct contribution by {kw} to the {m.words}",
        ],
    )
    inner = f"SELECT {k.sql} AS k, {m.sql} AS n FROM {t.sql} GROUP BY {k.sql}"

    def make(sql=m.sql, whole=m.sql, turn=False):
        inner = f"SELECT {k.sql} AS k, {sql} AS n FROM {t.sql} GROUP BY {k.sql}"
        shape = "100 - {}" if turn else "{}"
        of = f"(SELECT {whole} FROM {t.sql})"
        ways = [
            f"SELECT {k.sql}, {shape.format(percent(a, sql, of))} FROM {t.sql} GROUP BY {k.sql}",
            f"WITH g AS ({inner}), w AS (SELECT {whole} AS n FROM {t.sql}) SELECT "
            f"k, {shape.format(percent(a, 'g.n', 'w.n'))} FROM g, w",
        ]
        if sql == whole:
            ways.append(upon(a, inner, f"k, {shape.format(percent(a, 'n', 'SUM(n) OVER ()'))}"))
            ways.append(
                f"SELECT {k.sql}, {shape.format(percent(a, sql, f'SUM({sql}) OVER ()'))} FROM {t.sql} GROUP BY 1"
            )
        return a.one(ways)

    slips = [
        upon(a, inner, f"k, {percent(a, 'n', 'SUM(n) OVER (PARTITION BY k)')}"),
        make(turn=True),
        upon(a, inner, f"k, {percent(a, 'n', 'MAX(n) OVER ()')}"),
        (
            make(whole=m.others[0])
            if m.column is None and m.others
            else f"SELECT {k.sql}, {m.sql} * 1.0 FROM {t.sql} GROUP BY 1"
        ),
        (
            make("COUNT(*)", "COUNT(*)")
            if m.column
            else f"SELECT {k.sql}, COUNT(*) / (SELECT COUNT(*) FROM {t.sql}) * 100 FROM {t.sql} GROUP BY 1"
        ),
    ]
    return q, make(), slips


def share_within(a, t):
    """The share of a pair of kinds in the whole of one of them, or of all: which whole is what matters."""
    many = a.many(t)
    k, l = a.rng.sample(kinds(t), 2)
    m = measure(a, t, many)
    kw, lw = a.say(k.words), a.say(l.words)
    own = a.rng.random() < 0.7
    whole = f"the {kw}'s own total" if own else f"the grand total over every {kw} and {lw}"
    q = told(
        a,
        [
            f"For each {kw} and {lw}, the percentage of the {m.words} relative to {whole}",
            f"{m.words} by {kw} and {lw}, as % of {whole}",
            f"What percentage of {whole} does each combination of {kw} and {lw} make up, in terms of {m.words}?",
            f"Split the {m.words} by {kw} and {lw}; express every figure in percent of {whole}.",
            f"I need {kw}, {lw} and the share in percent: {m.words}, divided by {whole}.",
            f"{kw} x {lw}: pct of {m.words}, base = {whole}",
        ],
    )
    inner = f"SELECT {k.sql} AS k, {l.sql} AS l, {m.sql} AS n FROM {t.sql} GROUP BY 1, 2"
    over = {
        "k": "SUM(n) OVER (PARTITION BY k)",
        "l": "SUM(n) OVER (PARTITION BY l)",
        "": "SUM(n) OVER ()",
        "kl": "SUM(n) OVER (PARTITION BY k, l)",
    }

    def make(by):
        if by == "kl" or a.rng.random() < 0.5:
            return upon(a, inner, f"k, l, {percent(a, 'n', over[by])}")
        match = f" WHERE y.{by} = x.{by}" if by else ""
        return (
            f"WITH g AS ({inner}) SELECT k, l, {percent(a, 'n', f'(SELECT SUM(y.n) FROM g AS y{match})')} FROM g AS x"
        )

    return (
        q,
        make("k" if own else ""),
        [make("" if own else "k"), make("kl"), make("l"), upon(a, inner, "k, l, 1.0 * n")],
    )


def share_of_row(a, t):
    """Each row's part of its group's total, or of the total of all."""
    k, x = a.one(kinds(t)), a.one(amounts(t))
    (label, one), xw, kw = named(a, t), a.say(x.words), a.say(k.words)
    own = a.rng.random() < 0.6
    whole = f"the {total_of(xw)} of its {kw}" if own else f"the {total_of(xw)} of all {a.many(t)}"
    q = told(
        a,
        [
            f"What percentage of {whole} does each {one} contribute?",
            f"{one} and its {xw} in % of {whole}",
            f"Show every {one} along with its {xw} as a percentage of {whole}.",
            f"For each {one}: {xw} divided by {whole}, in percent",
            f"How much of {whole}, in percent, comes from each {one}?",
            f"pct of {whole} per {one} (based on {xw})",
        ],
    )

    def make(own, f="SUM", turn=False):
        over = f"{f}({x.sql}) OVER ({f'PARTITION BY {k.sql}' if own else ''})"
        of = f"(SELECT {f}(y.{x.sql}) FROM {t.sql} AS y{f' WHERE y.{k.sql} = z.{k.sql}' if own else ''})"
        pair = lambda n, d: percent(a, d, n) if turn else percent(a, n, d)
        return a.one(
            [
                f"SELECT {shown(label)}, {pair(x.sql, over)} FROM {t.sql}",
                f"SELECT {shown(label, 'z.')}, {pair(f'z.{x.sql}', of)} FROM {t.sql} AS z",
            ]
        )

    return q, make(own), [make(not own), make(own, "AVG"), make(own, "MAX"), make(own, turn=True)]


def percent_in_period(a, t):
    """What percentage of the rows of each period are of a kind."""
    many = a.many(t)
    k, w = a.one(kinds(t)), span(a, t, least=2)
    v = common(a, k)
    cond, u = condition(a, k, v), w.unit
    q = told(
        a,
        [
            f"What percentage of the {many} of each {w.by} are those {cond}?",
            f"Per {w.by}: % of {many} {cond}",
            f"For every {w.by}, give the share in percent of {many} {cond} among the {many} of that {u}.",
            f"{w.ly} percentage of {many} {cond}, by {w.by}",
            f"How does the portion of {many} {cond} develop? Percent of that {u}'s {many}, by {w.by}.",
            f"Break down by {w.by} how many percent of the {many} there are {cond}.",
        ],
    )
    c = f"{k.sql} = {literal(v)}"

    def make(some, whole):
        return f"SELECT {w.sql()}, {percent(a, some, whole)} FROM {t.sql} GROUP BY {a.one(['1', w.sql()])}"

    right = a.one(
        [
            make(hits(a, c), "COUNT(*)"),
            f"SELECT {w.sql()}, AVG(CASE WHEN {c} THEN 100.0 ELSE 0 END) FROM {t.sql} GROUP BY 1",
            upon(
                a,
                f"SELECT {w.sql()} AS p, {hits(a, c)} AS h, COUNT(*) AS n FROM {t.sql} GROUP BY 1",
                f"p, {percent(a, 'h', 'n')}",
            ),
        ]
    )
    every = f"(SELECT COUNT(*) FROM {t.sql}{a.one(['', f' WHERE {c}'])})"
    slips = [
        make(hits(a, c), every),
        make(hits(a, f"{k.sql} <> {literal(v)}"), "COUNT(*)"),
        f"SELECT {w.sql()}, {percent(a, 'COUNT(*)', f'(SELECT COUNT(*) FROM {t.sql})')} "
        f"FROM {t.sql} WHERE {c} GROUP BY 1",
        make(f"COUNT(CASE WHEN {c} THEN 1 ELSE 0 END)", "COUNT(*)"),
        f"SELECT {w.sql()}, {hits(a, c)} * 100 / SUM({hits(a, c)}) OVER () FROM {t.sql} GROUP BY 1",
    ]
    return in_order(a, (q, right, slips), u)


def percent_of_kind(a, t):
    """As of a period, of each group: the percentage of rows that are of a kind or beyond a bound."""
    many = a.many(t)
    k = a.one(kinds(t))
    found = [x for x in figures(t)] + [l for l in kinds(t) if l.name != k.name]
    x, kw = a.one(found), a.say(k.words)
    if x.is_number:
        v = a.one(sorted(x.distinct)[1:-1])
        op, more = a.one([(">", "over"), ("<", "under")])
        c, no, cond = f"{x.sql} {op} {v}", f"{x.sql} {TURNED[op]} {v}", f"with {a.say(x.words)} {more} {a.number(v)}"
    else:
        v = common(a, x)
        c, no, cond = f"{x.sql} = {literal(v)}", f"{x.sql} <> {literal(v)}", condition(a, x, v)
    q = told(
        a,
        [
            f"For each {kw}, what percentage of its {many} are {cond}?",
            f"% of {many} {cond}, per {kw}",
            f"Within every {kw}, how many percent of the {many} are those {cond}?",
            f"{kw} and percentage of {many} {cond} (base: all {many} of that {kw})",
            f"Calculate by {kw} the portion, in percent, of {many} that are {cond}.",
            f"I want to compare {plural(kw)}: which percentage of the {many} in each are {cond}?",
        ],
    )
    make = lambda some, whole: f"SELECT {k.sql}, {percent(a, some, whole)} FROM {t.sql} GROUP BY {a.one(['1', k.sql])}"
    own = f"(SELECT COUNT(*) FROM {t.sql} AS y WHERE y.{k.sql} = z.{k.sql})"
    some = f"(SELECT COUNT(*) FROM {t.sql} AS y WHERE y.{k.sql} = z.{k.sql} AND y.{c})"
    right = a.one(
        [
            make(hits(a, c), "COUNT(*)"),
            make(hits(a, c), "COUNT(*)"),
            f"SELECT {k.sql}, AVG(CASE WHEN {c} THEN 100.0 ELSE 0 END) FROM {t.sql} GROUP BY {k.sql}",
            f"SELECT z.{k.sql}, {percent(a, some, own)} FROM {t.sql} AS z GROUP BY z.{k.sql}",
        ]
    )
    slips = [
        make(hits(a, c), f"(SELECT COUNT(*) FROM {t.sql})"),
        make(hits(a, no), "COUNT(*)"),
        f"SELECT {k.sql}, {percent(a, 'COUNT(*)', f'(SELECT COUNT(*) FROM {t.sql} WHERE {c})')} "
        f"FROM {t.sql} WHERE {c} GROUP BY 1",
        make(hits(a, c), f"(SELECT COUNT(*) FROM {t.sql} WHERE {c})"),
        make(f"COUNT(CASE WHEN {c} THEN 1 ELSE 0 END)", "COUNT(*)"),
    ]
    return q, right, slips


def ratio_of_two(a, t):
    """The amount or number of one kind for each of another."""
    many = a.many(t)
    k = a.one(kinds(t))
    v, w = a.rng.sample(k.distinct, 2)
    m, kw = measure(a, t, many), a.say(k.words)
    ratio = a.rng.random() < 0.6
    q = told(
        a,
        (
            [
                f"What is the ratio of {kw} {v} to {kw} {w} in the {m.words}?",
                f"Ratio {v} : {w} ({kw}), {m.words}",
                f"How many times as large as for {w} is the {m.words} for {v}, going by {kw}?",
                f"Divide the {m.words} of {kw} {v} by that of {kw} {w}.",
                f"{m.words}: {v} relative to {w} ({kw}), as a quotient",
                f"Put the {m.words} under {kw} {v} in relation to the one under {w}; I need {v} divided by {w}.",
            ]
            if ratio
            else [
                f"What is the {m.words} of {kw} {v} as a percentage of that of {kw} {w}?",
                f"{v} in % of {w} ({kw}): {m.words}",
                f"Express the {m.words} with {kw} {v} in percent of the one with {kw} {w}.",
                f"If the {m.words} of {kw} {w} is 100, what is that of {v}?",
                f"How many percent of {w}'s {m.words} does {v} reach, going by {kw}?",
                f"pct {v} of {w}, {kw}, {m.words}",
            ]
        ),
    )
    cond = lambda x: f"{k.sql} = {literal(x)}"

    def gathered(x, m=m):
        return sum_where(a, m.column.sql, cond(x)) if m.column else hits(a, cond(x))

    def queried(x, m=m):
        return f"(SELECT {m.sql} FROM {t.sql} WHERE {cond(x)})"

    def make(above, below):
        """A quotient of two amounts, which are conditional sums or queries of their own."""
        cell = queried if a.rng.random() < 0.3 else gathered
        some, whole = above(cell), below(cell)
        e = f"1.0 * {some} / {whole}" if ratio else percent(a, some, whole)
        return f"SELECT {e}" + ("" if cell is queried else f" FROM {t.sql}")

    counts = Measure("", "", "COUNT(*)", [], None)
    slips = [
        make(lambda c: c(w), lambda c: c(v)),
        make(lambda c: c(v), lambda c: f"(SELECT {m.sql} FROM {t.sql})"),
        make(lambda c: c(v), lambda c: f"({c(v)} + {c(w)})"),
    ]
    if m.column:
        slips.append(make(lambda c: c(v, counts), lambda c: c(w, counts)))
    return q, make(lambda c: c(v), lambda c: c(w)), slips


def side_by_side(a, t):
    """Two kinds of rows in columns beside each other, for each group."""
    many = a.many(t)
    k, l = a.rng.sample(kinds(t), 2)
    v, w = a.rng.sample(l.distinct, 2)
    m, kw, lw = measure(a, t, many), a.say(k.words), a.say(l.words)
    q = told(
        a,
        [
            f"For each {kw}, show the {m.words} with {lw} {v} and, next to it, the same with {lw} {w}.",
            f"{kw} | {v} | {w}: {m.words} by {lw}, zero where there are none",
            f"Side by side per {kw}: {m.words} for {lw} {v} and for {lw} {w}",
            f"One line per {kw} with two figures, {m.words} under {lw} {v} and {m.words} under {lw} {w}",
            f"How does the {m.words} compare between {lw} {v} and {lw} {w} in each {kw}? Put them in separate columns.",
            f"Pivot the {m.words} by {kw} (rows) and {lw} (columns {v}, {w}).",
        ],
    )
    cond = lambda x: f"{l.sql} = {literal(x)}"
    cell = lambda c: sum_where(a, m.column.sql, c) if m.column else hits(a, c)
    by = lambda where: f"FROM {t.sql}{where} GROUP BY {a.one(['1', k.sql])}"
    make = lambda *cells, where="": f"SELECT {', '.join([k.sql, *cells])} {by(where)}"
    slips = [
        make(*(f"COUNT(CASE WHEN {cond(x)} THEN 1 ELSE 0 END)" for x in (v, w))),
        make(cell(cond(v)), cell(f"{l.sql} <> {literal(v)}")),
        make(cell(cond(v)), cell(cond(w)), where=f" WHERE {l.sql} IN ({literal(v)}, {literal(w)})"),
        make(cell(cond(v)), m.sql),
        f"SELECT {k.sql}, {l.sql}, {m.sql} FROM {t.sql} WHERE {l.sql} IN ({literal(v)}, {literal(w)}) GROUP BY 1, 2",
    ]
    return q, make(cell(cond(v)), cell(cond(w))), slips


def net_amount(a, t):
    """The amount of one kind less that of another, over all or for each group."""
    many = a.many(t)
    k = a.one(kinds(t))
    v, w = a.rng.sample(k.distinct, 2)
    by = a.other([x for x in kinds(t) if x.name != k.name]) if a.rng.random() < 0.7 else None
    m, kw = measure(a, t, many), a.say(k.words)
    per = f" per {a.say(by.words)}" if by else ""
    q = told(
        a,
        [
            f"Net {m.words}{per}: {kw} {v} minus {kw} {w}",
            f"How much larger is the {m.words} of {kw} {v} than that of {kw} {w}{per}? Negative if smaller.",
            f"Subtract the {m.words} with {kw} {w} from the one with {kw} {v}{per}.",
            f"{m.words}{per}, counting {kw} {v} as plus, {kw} {w} as minus and everything else not at all",
            f"What remains of the {m.words} of {kw} {v} once that of {w} is taken off{per}?",
            f"{v} less {w} ({kw}), {m.words}{per}",
            f"Difference in {m.words} between {kw} {v} and {kw} {w}{per}, as {v} - {w}",
        ],
    )
    x = m.column.sql if m.column else "1"
    cond = lambda v: f"{k.sql} = {literal(v)}"
    sum_of = lambda v: sum_where(a, x, cond(v)) if m.column else hits(a, cond(v))
    of = lambda e: f"SELECT {by.sql}, {e} FROM {t.sql} GROUP BY {by.sql}" if by else f"SELECT {e} FROM {t.sql}"

    def make(v, w):
        return of(
            a.one(
                [
                    f"{sum_of(v)} - {sum_of(w)}",
                    f"SUM(CASE WHEN {cond(v)} THEN {x} WHEN {cond(w)} THEN -{x} ELSE 0 END)",
                    f"SUM(CASE {k.sql} WHEN {literal(v)} THEN {x} WHEN {literal(w)} THEN -{x} ELSE 0 END)",
                ]
            )
        )

    slips = [
        make(w, v),
        of(f"{sum_of(v)} + {sum_of(w)}"),
        of(f"SUM(CASE WHEN {cond(v)} THEN {x} ELSE -{x} END)"),
        of(f"{hits(a, cond(v))} - {hits(a, cond(w))}") if m.column else of(sum_of(v)),
        of(f"{m.sql} - {sum_of(w)}"),
    ]
    return q, make(v, w), slips


def gap_of_means(a, t):
    """The average of one kind less that of another."""
    k, x = a.one(kinds(t)), a.one(figures(t))
    v, w = a.rng.sample(k.distinct, 2)
    many, kw, xw = a.many(t), a.say(k.words), a.say(x.words)
    q = told(
        a,
        [
            f"By how much does the average {xw} of {many} with {kw} {v} exceed that of {many} with {kw} {w}?",
            f"Mean {xw}, {kw} {v} minus {kw} {w}, {many}",
            f"Take the average {xw} of the {many} of {kw} {v} and subtract the average for {kw} {w}.",
            f"What is the gap in average {xw} between {many} of {kw} {v} and of {kw} {w} ({v} less {w})?",
            f"avg {xw}: {v} vs {w} by {kw}, difference ({v} - {w}), {many}",
            f"Compared with {kw} {w}, how much higher is the mean {xw} of {many} under {v}? Negative means lower.",
        ],
    )
    cond = lambda x: f"{k.sql} = {literal(x)}"

    def make(v, w, f="AVG", sign="-"):
        one = lambda x: f"(SELECT {f}({a_sql}) FROM {t.sql} WHERE {cond(x)})"
        a_sql = x.sql
        if f == "AVG" and a.rng.random() < 0.6:
            return f"SELECT {mean_where(a, a_sql, cond(v))} {sign} {mean_where(a, a_sql, cond(w))} FROM {t.sql}"
        return f"SELECT {one(v)} {sign} {one(w)}"

    zeros = lambda v: f"AVG(CASE WHEN {cond(v)} THEN {x.sql} ELSE 0 END)"
    slips = [
        make(w, v),
        f"SELECT {zeros(v)} - {zeros(w)} FROM {t.sql}",
        make(v, w, "SUM"),
        f"SELECT {mean_where(a, x.sql, cond(v))} - AVG({x.sql}) FROM {t.sql}",
        make(v, w, sign="/"),
    ]
    return q, make(v, w), slips


def banded(a, x):
    """A number in three bands: (words, low bound, high bound, right CASE, wrong ones)."""
    values = sorted(x.distinct)
    low, high = sorted(a.rng.sample(values[1:-1], 2))
    one, two, three = a.one(
        [
            ("small", "medium", "large"),
            ("low", "middle", "high"),
            ("C", "B", "A"),
            ("bottom", "mid", "top"),
            ("light", "normal", "heavy"),
        ]
    )
    s = x.sql
    right = a.one(
        [
            f"CASE WHEN {s} < {low} THEN '{one}' WHEN {s} < {high} THEN '{two}' ELSE '{three}' END",
            f"CASE WHEN {s} >= {high} THEN '{three}' WHEN {s} >= {low} THEN '{two}' ELSE '{one}' END",
            f"CASE WHEN {s} < {low} THEN '{one}' WHEN {s} >= {low} AND {s} < {high} THEN '{two}' ELSE '{three}' END",
            f"IIF({s} < {low}, '{one}', IIF({s} < {high}, '{two}', '{three}'))",
        ]
    )
    wrong = [
        a.one(
            [
                f"CASE WHEN {s} < {high} THEN '{two}' WHEN {s} < {low} THEN '{one}' ELSE '{three}' END",
                f"CASE WHEN {s} >= {low} THEN '{two}' WHEN {s} >= {high} THEN '{three}' ELSE '{one}' END",
            ]
        ),
        a.one(
            [
                f"CASE WHEN {s} <= {low} THEN '{one}' WHEN {s} <= {high} THEN '{two}' ELSE '{three}' END",
                f"CASE WHEN {s} > {high} THEN '{three}' WHEN {s} > {low} THEN '{two}' ELSE '{one}' END",
                f"IIF({s} <= {low}, '{one}', IIF({s} <= {high}, '{two}', '{three}'))",
            ]
        ),
        a.one(
            [
                f"CASE WHEN {s} < {low} THEN '{three}' WHEN {s} < {high} THEN '{two}' ELSE '{one}' END",
                f"IIF({s} >= {high}, '{one}', IIF({s} >= {low}, '{two}', '{three}'))",
            ]
        ),
    ]
    says = a.one(
        [
            f"{one} (under {low}), {two} (from {low} to under {high}) and {three} ({high} and up)",
            f"{one} below {low}, {two} from {low} up to but not including {high}, {three} otherwise",
            f"{three} at {high} or more, {two} at {low} or more, {one} for the rest",
        ]
    )
    return says, right, wrong


def bands_counted(a, t):
    """How many rows there are in each band."""
    x = a.one([c for c in figures(t) if len(c.distinct) > 4])
    says, right, wrong = banded(a, x)
    many, xw = a.many(t), a.say(x.words)
    q = told(
        a,
        [
            f"How many {many} are there per {xw} band: {says}?",
            f"Count {many} by size of {xw}, {says}.",
            f"number of {many} in each {xw} class; {says}",
            f"Divide the {many} by {xw} into {says}. How many fall into each?",
            f"Group {many} into {xw} bands, {says}, with the number in every band.",
            f"{xw} bands of {many} and their counts. Bands: {says}",
        ],
    )

    def make(case, what="COUNT(*)"):
        if a.rng.random() < 0.4:
            return upon(
                a,
                f"SELECT {case} AS band, {x.sql} AS v FROM {t.sql}",
                f"band, {what.replace(x.sql, 'v')}",
                " GROUP BY band",
            )
        return f"SELECT {case}, {what} FROM {t.sql} GROUP BY 1"

    return q, make(right), [*map(make, wrong), make(right, f"COUNT(DISTINCT {x.sql})"), make(right, f"SUM({x.sql})")]


def band_of_each(a, t):
    """Each row with the band that it is in."""
    x = a.one([c for c in figures(t) if len(c.distinct) > 4])
    says, right, wrong = banded(a, x)
    (label, one), many, xw = named(a, t), a.many(t), a.say(x.words)
    q = told(
        a,
        [
            f"Label each {one} by {xw}: {says}.",
            f"{one} and {xw} class, {says}",
            f"Which {xw} band does every {one} belong to, given {says}?",
            f"List the {many} with a size class for their {xw}: {says}.",
            f"Classify {many} by {xw} as {says}; show {one} and class.",
            f"For every {one} I need to know whether its {xw} is {says}.",
        ],
    )
    make = lambda case: f"SELECT {shown(label)}, {case} FROM {t.sql}"
    return q, make(right), [make(c) for c in wrong]


def ratio_of_sums(a, t):
    """The ratio of two totals is not the mean of the ratios of rows; either is asked for."""
    x, y = a.rng.sample(amounts(t), 2)
    if 0 in y.distinct:
        return None
    k = a.one(kinds(t)) if kinds(t) and a.rng.random() < 0.7 else None
    many, xw, yw = a.many(t), a.say(x.words), a.say(y.words)
    per = f" for each {a.say(k.words)}" if k else ""
    sums = a.rng.random() < 0.6
    q = told(
        a,
        (
            [
                f"{total_of(xw)} divided by {total_of(yw)} of {many}{per}",
                f"What is the overall {xw} per unit of {yw} of {many}{per}, taking totals first?",
                f"Sum up {xw} and {yw} of the {many}{per} and give the ratio of the two sums.",
                f"{xw} to {yw}, ratio of totals{per} ({many})",
                f"All {xw} of {many} over all {yw}, as one quotient{per}",
                f"How much {xw} is there for one unit of {yw} on the whole{per}? I mean "
                f"the sum of the one divided by the sum of the other, {many}.",
            ]
            if sums
            else [
                f"Average of the row-wise ratio {xw} / {yw} over {many}{per}",
                f"Divide {xw} by {yw} for each of the {many} separately; what is the mean of those quotients{per}?",
                f"mean ratio of {xw} to {yw}, each of the {many} weighing the same{per}",
                f"On average, what is the individual {xw} per {yw} of {many}{per}? "
                "Take the ratio of each one first, then average.",
                f"Compute {xw} divided by {yw} per row of {many} and average the results{per}.",
                f"avg of ({xw} / {yw}) across {many}{per}",
            ]
        ),
    )
    of = lambda e: f"SELECT {k.sql}, {e} FROM {t.sql} GROUP BY {k.sql}" if k else f"SELECT {e} FROM {t.sql}"
    total = lambda x, y: a.one(
        [
            f"1.0 * SUM({x.sql}) / SUM({y.sql})",
            f"CAST(SUM({x.sql}) AS REAL) / SUM({y.sql})",
            f"AVG({x.sql}) / AVG({y.sql})",
        ]
    )
    mean = lambda x, y: a.one(
        [
            f"AVG(1.0 * {x.sql} / {y.sql})",
            f"AVG(CAST({x.sql} AS REAL) / {y.sql})",
            f"SUM(1.0 * {x.sql} / {y.sql}) / COUNT(*)",
        ]
    )
    asked, not_asked = (total, mean) if sums else (mean, total)
    slips = [
        of(not_asked(x, y)),
        of(asked(y, x)),
        of(f"SUM(1.0 * {x.sql} / {y.sql})"),
        of(f"1.0 * SUM({x.sql}) / COUNT({y.sql})"),
    ]
    return q, of(asked(x, y)), slips


def mean_of_totals(a, t):
    """The average of what groups or periods have in total is not the average of the rows."""
    many = a.many(t)
    dated = (dates(t) or t.of("is_year")) and a.rng.random() < 0.6
    w = span(a, t, busy=True) if dated else None
    k = None if dated else a.one(kinds(t))
    m = measure(a, t, many)
    by, unit, e = (w.by, w.unit, w.sql()) if dated else (a.say(k.words), a.say(k.words), k.sql)
    q = told(
        a,
        [
            f"What is the average {m.words} per {by}?",
            f"Average over all {plural(unit)} of the {m.words} ({by}), one figure",
            f"Add up per {by} first, then average: {m.words}",
            f"On average, what {m.words} does a {unit} have? Group by {by}; only {plural(unit)} that occur count.",
            f"Mean of the {m.words} that each {by} comes to",
            f"If I sum up each {by} separately, what is the mean of the resulting figures for {m.words}?",
        ],
    )
    inner = lambda e: f"SELECT {m.sql} AS n FROM {t.sql} GROUP BY {e}"
    right = a.one(
        [
            upon(a, inner(e), "AVG(n)"),
            upon(a, inner(e), "1.0 * SUM(n) / COUNT(*)"),
            f"SELECT 1.0 * {m.sql} / COUNT(DISTINCT {e}) FROM {t.sql}",
        ]
    )
    other = a.other([c.sql for c in kinds(t) if c.sql != e])
    slips = [
        f"SELECT AVG({m.column.sql}) FROM {t.sql}" if m.column else f"SELECT COUNT(DISTINCT {e}) FROM {t.sql}",
        f"SELECT {e}, {f'AVG({m.column.sql})' if m.column else 'COUNT(*)'} FROM {t.sql} GROUP BY 1",
        f"SELECT 1.0 * COUNT(DISTINCT {e}) / {m.sql} FROM {t.sql}",
        upon(a, inner(e), "MAX(n)"),
    ]
    if other:
        slips.append(upon(a, inner(other), "AVG(n)"))
    return q, right, slips


def zeros_in_mean(a, t):
    """An average that leaves out zeros and missing values, or counts them as zero."""
    x = a.one([c for c in numbers(t) if (c.n_null or 0 in c.distinct) and not NOT_A_FIGURE.search(c.words)])
    k = a.one(kinds(t)) if kinds(t) and a.rng.random() < 0.6 else None
    many, xw, zero = a.many(t), a.say(x.words), a.rng.random() < 0.4
    per = f" for each {a.say(k.words)}" if k else ""
    how = a.one(
        [
            "a missing or zero value counts as 0",
            "no value is the same as zero and is averaged in",
            "zeros and blanks both go in as 0",
        ]
        if zero
        else [
            "zeros and missing values are left out",
            "only over values other than zero",
            "those at 0 or without a value do not count",
        ]
    )
    q = told(
        a,
        [
            f"What is the average {xw} of {many}{per}? Note: {how}.",
            f"Average {xw} of {many}{per} ({how})",
            f"mean {xw}{per}, {many}; {how}",
            f"Compute the mean {xw} over the {many}{per}, where {how}.",
            f"How high is the {xw} of {many} on average{per}, if {how}?",
            f"I need the typical (mean) {xw} of {many}{per}. {how.capitalize()}, please.",
        ],
    )
    of = lambda e, where="": (
        f"SELECT {k.sql}, {e} FROM {t.sql}{where} GROUP BY {k.sql}" if k else f"SELECT {e} FROM {t.sql}{where}"
    )
    s = x.sql
    with_zero = [
        f"AVG(COALESCE({s}, 0))",
        f"1.0 * SUM(COALESCE({s}, 0)) / COUNT(*)",
        f"AVG(CASE WHEN {s} IS NULL THEN 0 ELSE {s} END)",
    ]
    without = [f"AVG(NULLIF({s}, 0))", f"AVG(CASE WHEN {s} <> 0 THEN {s} END)", f"AVG({s}) FILTER (WHERE {s} <> 0)"]
    right, wrong = (with_zero, without) if zero else (without, with_zero)
    slips = [of(a.one(wrong)), of(f"SUM({s})"), of(f"AVG(DISTINCT {s})"), of(f"MAX({s})")]
    slips.append(of(f"AVG({s})", f" WHERE {s} > 0") if zero else of(f"1.0 * SUM({s}) / COUNT(*)"))
    return q, of(a.one(right)), slips


def different_per_group(a, t):
    """How many different things a group has, not how many rows."""
    many = a.many(t)
    k, l = a.rng.sample(kinds(t), 2)
    kw, lw = a.say(k.words), a.say(l.words)
    q = told(
        a,
        [
            f"How many different {plural(lw)} do the {many} of each {kw} have?",
            f"Number of distinct {plural(lw)} per {kw} ({many})",
            f"{kw} and count of unique {plural(lw)} among its {many}",
            f"For every {kw}, count each {lw} of its {many} once: how many are there?",
            f"How varied is the {lw} of {many} by {kw}? Give the number of different values for each {kw}.",
            f"By {kw}, in how many {plural(lw)} do {many} occur? Repeats don't count twice.",
        ],
    )
    make = lambda x, k=k: f"SELECT {k.sql}, COUNT({x}) FROM {t.sql} GROUP BY {a.one(['1', k.sql])}"
    right = a.one(
        [
            make(f"DISTINCT {l.sql}"),
            upon(a, f"SELECT DISTINCT {k.sql} AS k, {l.sql} AS l FROM {t.sql}", "k, COUNT(*)", " GROUP BY k"),
            upon(a, f"SELECT {k.sql} AS k FROM {t.sql} GROUP BY {k.sql}, {l.sql}", "k, COUNT(*)", " GROUP BY k"),
        ]
    )
    slips = [
        make(l.sql),
        make(f"DISTINCT {k.sql}"),
        make(f"DISTINCT {k.sql}", l),
        upon(a, f"SELECT {k.sql} AS k, {l.sql} AS l FROM {t.sql}", "k, COUNT(l)", " GROUP BY k"),
        f"SELECT DISTINCT {k.sql}, COUNT({l.sql}) OVER (PARTITION BY {k.sql}) FROM {t.sql}",
    ]
    return q, right, slips


OF_TABLE = [
    share_of_total,
    share_within,
    share_of_row,
    percent_in_period,
    percent_of_kind,
    ratio_of_two,
    side_by_side,
    net_amount,
    gap_of_means,
    bands_counted,
    band_of_each,
    ratio_of_sums,
    mean_of_totals,
    zeros_in_mean,
    different_per_group,
]
