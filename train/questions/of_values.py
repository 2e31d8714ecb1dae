"""Templates of values and logic: numbers stored as text, NULL that sorts first, quotients, negations, rows without a
value or with another one."""

from questions.ask import *

from questions.of_pair import joined


def quotient(a, t):
    """The quotient of two numbers of a row. The inverted quotient is plausible too."""
    x = a.one([n for n in t.of("is_number") if not n.is_year])
    y = a.other([n for n in t.of("is_number") if not n.is_year and 0 not in n.distinct], x)
    label, xs, ys = t.label(), a.say(x.words), a.say(singular(y.words))
    upright, inverted = f"{x.sql} * 1.0 / {y.sql}", f"{y.sql} * 1.0 / {x.sql}"
    if a.rng.random() < 0.5:
        q = a.one(
            [
                f"What is the {xs} per {ys} of each {a.single(t)}?",
                f"{xs} divided by {a.say(y.words)} for every {a.single(t)}",
                f"For each {a.single(t)}: how much {xs} is there for each {ys}?",
                f"How many times bigger is the {xs} than the {a.say(y.words)}, by {a.single(t)}?",
                f"The {xs} as a multiple of the {a.say(y.words)}, {a.single(t)} by {a.single(t)}",
                f"What fraction of its {a.say(y.words)} is the {xs} of each {a.single(t)}?",
            ]
        )
        base = f"SELECT {shown(label)}, {{}} FROM {t.sql}"
        other = f"SELECT {shown(label)}, {x.sql} * {y.sql} FROM {t.sql}"
    else:
        up = a.rng.random() < 0.6
        q = a.one(
            [
                f"Which {a.single(t)} has the {'highest' if up else 'lowest'} {xs} per {ys}?",
                f"{a.single(t)} with the {'most' if up else 'least'} {xs} for each {ys}",
                f"Which {a.single(t)} comes {'first' if up else 'last'} in {xs} relative to {a.say(y.words)}?",
            ]
        )
        base = f"SELECT {shown(label)} FROM {t.sql} ORDER BY {{}} {'DESC' if up else 'ASC'} LIMIT 1"
        other = base.format(x.sql)
    return (q, base.format(upright), [base.format(inverted), other, base.format(f"{y.sql} / {x.sql}"),
                                      base.format(inverted)])


def extreme_text(a, t):
    """Numbers stored as text, which sort by their characters."""
    c = a.one([x for x in t.of("is_text") + t.of("is_text_number") if x.is_text_number or x.has_commas])
    label, up, says = t.label(), a.rng.random() < 0.6, a.say(c.words)
    number = f"CAST({c.sql} AS REAL)" if c.is_text_number else f"CAST(REPLACE({c.sql}, ',', '') AS REAL)"
    if c.is_text_number and a.rng.random() < 0.4:
        number = a.one([f"CAST({c.sql} AS INTEGER)", f"{c.sql} + 0", f"{c.sql} * 1.0"])
    direction = "DESC" if up else "ASC"
    way = a.one(["first", "sorted", "value", "where"])
    f, base = "MAX" if up else "MIN", f"SELECT {shown(label)} FROM {t.sql}"
    if way == "first":
        high = a.one(["highest", "largest", "most", "top"] if up else ["lowest", "smallest", "least"])
        q = a.one([f"Which {a.single(t)} has the {high} {says}?", f"{a.single(t)} of {high} {says}"])
        right = f"{base} ORDER BY {{}} {direction} LIMIT 1"
    elif way == "sorted":
        ends = "largest to smallest" if up else "smallest to largest"
        q = a.one([f"List the {a.many(t)} from {ends} {says}.", f"{a.many(t)} by {says}, {ends.split()[0]} first"])
        right = f"{base} ORDER BY {{}} {direction}"
    elif way == "value":
        high = a.one(["highest", "largest", "maximum"] if up else ["lowest", "smallest", "minimum"])
        q = a.one([f"What is the {high} {says} of all {a.many(t)}?", f"{high} {says} ever recorded for {a.many(t)}"])
        right = f"SELECT {f}({{}}) FROM {t.sql}"
    else:
        q = f"Which {a.many(t)} reach the {'highest' if up else 'lowest'} {says}?"
        right = f"{base} WHERE {{0}} = (SELECT {f}({{0}}) FROM {t.sql})"
    other = right.format(number).replace("DESC", "asc").replace("ASC", "DESC") if way != "value" else f"{base}"
    return q, right.format(number), [right.format(c.sql), other, right.format(c.sql)]


def first_recorded(a, t):
    """The lowest value, if some rows have none: a row without a value sorts first."""
    c = a.one(
        [x for x in t.columns if x.n_null and len(x.distinct) > 2 and not x.is_key and len(x.words) > 2
         and not x.is_name]
    )
    label, says, n = t.label(), a.say(c.words), a.rng.randint(2, 4)
    low = a.one(["earliest", "first"] if c.is_date or c.is_year else ["lowest", "smallest", "least"])
    if not (c.is_number or c.is_date or c.is_text_number):
        low = "alphabetically first"
    key = f"CAST({c.sql} AS REAL)" if c.is_text_number else c.sql
    few = a.rng.random() < 0.3
    q = a.one(
        [f"Which {n} {a.many(t)} have the {low} {says}?", f"The {n} {a.many(t)} with the {low} {says}"]
        if few
        else [
            f"Which {a.single(t)} has the {low} {says}?",
            f"{a.single(t)} with the {low} {says} on record",
            f"Whose {says} is the {low} among the {a.many(t)}, going by what is recorded?",
        ]
    )
    cols = a.one([shown(label), f"{shown(label)}, {c.sql}"])
    base = f"SELECT {cols} FROM {t.sql}"
    if ", " in cols and cols != shown(label):
        q = q.rstrip("?") + f", and what is it?"
    end = f"ORDER BY {key} LIMIT {n if few else 1}"
    right = f"{base} WHERE {c.sql} IS NOT NULL {end}"
    slips = [f"{base} {end}", f"{base} WHERE {c.sql} IS NOT NULL ORDER BY {key} DESC LIMIT {n if few else 1}",
             f"{base} {end}"]
    return q, right, slips


def negated_two(a, t):
    """"Neither ... nor" differs from "not both". All except those with both differs from "without either"."""
    c = a.one(t.of("is_category"))
    d = a.other(t.of("is_category"), c)
    v, w = a.one(c.distinct), a.one(d.distinct)
    label, many, cs, ds = t.label(), a.many(t), a.say(c.words), a.say(d.words)
    counted = a.rng.random() < 0.3
    base = f"SELECT {'COUNT(*)' if counted else shown(label)} FROM {t.sql} WHERE"
    cv, dw = f"{c.sql} = {literal(v)}", f"{d.sql} = {literal(w)}"
    neither = f"{base} {c.sql} <> {literal(v)} AND {d.sql} <> {literal(w)}"
    not_both = f"{base} NOT ({cv} AND {dw})"
    ask = "How many " if counted else a.one(["Which ", "List the ", "Show "])
    if a.rng.random() < 0.55:
        q = a.one(
            [
                f"{ask}{many} that are neither of {cs} {v} nor of {ds} {w}",
                f"{ask}{many} whose {cs} is not {v} and whose {ds} is not {w} either",
                f"{ask}{many} with {cs} other than {v} and {ds} other than {w}",
                f"{ask}{many} outside {cs} {v} that are not {w} in {ds}",
            ]
        )
        right = a.one([neither, neither, f"{base} NOT ({cv} OR {dw})", neither.replace("<>", "!=")])
        slips = [not_both, f"{base} {c.sql} <> {literal(v)} OR {d.sql} <> {literal(w)}", f"{base} {cv} AND {dw}"]
        return q, right, [*slips, f"{base} {c.sql} <> {literal(v)} AND {dw}", not_both]
    q = a.one(
        [
            f"{ask}{many}, all but those of {cs} {v} with {ds} {w}",
            f"{ask}{many} except the ones that have both {cs} {v} and {ds} {w}",
            f"{'How many are left of' if counted else 'Every one of'} the {many} if we leave out those of {cs} {v} "
            f"whose {ds} is {w}?",
        ]
    )
    right = a.one([not_both, not_both, f"{base} {c.sql} <> {literal(v)} OR {d.sql} <> {literal(w)}"])
    return q, right, [neither, f"{base} {cv} AND {dw}", f"{base} NOT ({cv} OR {dw})", f"{base} {c.sql} <> {literal(v)}"]


def negated_missing(a, t):
    """One value excluded, and another not recorded."""
    c = a.one(t.of("is_category"))
    d = a.one([x for x in t.columns if x.n_null and x.values and len(x.words) > 2 and x is not c])
    v, label = a.one(c.distinct), t.label()
    q = a.one(
        [
            f"Which {a.many(t)} not of {a.say(c.words)} {v} have no {a.say(d.words)} on file?",
            f"{a.many(t)} outside {v} ({a.say(c.words)}) without a {a.say(d.words)}",
            f"{a.many(t)} whose {a.say(c.words)} is other than {v} and whose {a.say(d.words)} is not known",
        ]
    )
    base, cv = f"SELECT {shown(label)} FROM {t.sql} WHERE", f"{c.sql} = {literal(v)}"
    right = f"{base} {c.sql} <> {literal(v)} AND {d.sql} IS NULL"
    return (
        q,
        right,
        [
            f"{base} NOT ({cv} AND {d.sql} IS NULL)",
            f"{base} {cv} AND {d.sql} IS NULL",
            f"{base} {c.sql} <> {literal(v)} AND {d.sql} IS NOT NULL",
            f"{base} {c.sql} <> {literal(v)} OR {d.sql} IS NULL",
            f"{base} NOT ({cv} AND {d.sql} IS NULL)",
        ],
    )


def outside_range(a, t):
    c = a.one([x for x in t.of("is_number") if len(x.distinct) > 4])
    low, high = sorted(a.rng.sample(sorted(c.distinct), 2))
    label, says, many = t.label(), a.say(c.words), a.many(t)
    base = f"SELECT {shown(label)} FROM {t.sql} WHERE {c.sql}"
    if a.rng.random() < 0.5:
        q = a.one(
            [
                f"Which {many} have a {says} neither below {low} nor above {high}?",
                f"{many} whose {says} is not under {low} and not over {high}",
            ]
        )
        right = a.one([f"{base} >= {low} AND {c.sql} <= {high}", f"{base} BETWEEN {low} AND {high}"])
        slips = [f"{base} < {low} OR {c.sql} > {high}", f"{base} > {low} AND {c.sql} < {high}"]
        return q, right, [*slips, f"{base} >= {low} OR {c.sql} <= {high}", f"{base} >= {low}"]
    q = a.one(
        [
            f"Which {many} have a {says} below {low} or above {high}?",
            f"{many} whose {says} is outside {low} to {high}",
            f"{many} with {says} under {low} or over {high}",
        ]
    )
    right = a.one([f"{base} < {low} OR {c.sql} > {high}", f"{base} NOT BETWEEN {low} AND {high}"])
    return (
        q,
        right,
        [f"{base} BETWEEN {low} AND {high}", f"{base} < {low} AND {c.sql} > {high}", f"{base} > {high}",
         f"{base} < {low}"],
    )


def loose_or(a, t):
    """AND binds more tightly than OR. Without parentheses the other condition applies only to the last alternative."""
    n = a.one([x for x in t.of("is_number") if len(x.distinct) > 3])
    m = a.one(sorted(n.distinct)[1:-1])
    op = a.one([">", "<", ">=", "<="])
    bound, ns, many, label = a.one(ABOVE[op]).format(n=a.number(m)), a.say(n.words), a.many(t), t.label()
    base = f"SELECT {shown(label)} FROM {t.sql} WHERE"
    if a.rng.random() < 0.6:
        c = a.one(t.of("is_category"))
        v = a.one(c.distinct)
        w = a.other(c.distinct, v)
        first, second, rest = f"{c.sql} = {literal(v)}", f"{c.sql} = {literal(w)}", f"{n.sql} {op} {m}"
        cs = a.say(c.words)
        q = a.one(
            [
                f"{many} of {cs} {v} or {w} whose {ns} is {bound}",
                f"Which {many} with {cs} {v} or {w} have {ns} {bound}?",
                f"Of the {many} with {ns} {bound}, which have {v} or {w} as {cs}?",
                f"{many} with {ns} {bound}, {cs} either {v} or {w}",
            ]
        )
    else:
        k = a.one(t.of("is_category"))
        z = a.other(t.of("is_number"), n)
        v, u = a.one(k.distinct), a.one(sorted(z.distinct)[1:-1])
        zop = a.one([">", "<"])
        first, second, rest = f"{n.sql} {op} {m}", f"{z.sql} {zop} {u}", f"{k.sql} = {literal(v)}"
        zs = f"{a.say(z.words)} {a.one(ABOVE[zop]).format(n=a.number(u))}"
        q = a.one(
            [
                f"Among the {many} {condition(a, k, v)}, which have {ns} {bound} or {zs}?",
                f"{many} {condition(a, k, v)} and, on top of that, either {ns} {bound} or {zs}",
                f"Of {many} {condition(a, k, v)}: those with {ns} {bound} or else {zs}",
            ]
        )
    right = a.one(
        [f"({first} OR {second}) AND {rest}", f"{rest} AND ({first} OR {second})",
         f"{first} AND {rest} OR {second} AND {rest}"]
    )
    slips = [f"{first} OR {second} AND {rest}", f"{rest} AND {first} OR {second}", f"{first} OR ({second} AND {rest})"]
    return q, f"{base} {right}", [f"{base} {s}" for s in [*slips, f"{first} AND {rest}", f"{first} OR {second}"]]


def or_else(a, t):
    """A choice between conditions on two columns, in other words than "or" alone."""
    c, n = a.one(t.of("is_category")), a.one([x for x in t.of("is_number") if len(x.distinct) > 3])
    v, m, op = a.one(c.distinct), a.one(sorted(n.distinct)[1:-1]), a.one([">", "<"])
    bound = a.one(ABOVE[op]).format(n=a.number(m))
    cond, ns, many = condition(a, c, v), a.say(n.words), a.many(t)
    base, cv, cn = f"SELECT {shown(t.label())} FROM {t.sql} WHERE", f"{c.sql} = {literal(v)}", f"{n.sql} {op} {m}"
    if a.rng.random() < 0.6:
        q = a.one(
            [
                f"{many} {cond}, or any others as long as their {ns} is {bound}",
                f"{many} that are either {cond} or have {ns} {bound}; one of the two is enough",
                f"All {many} {cond}, plus those with {ns} {bound}",
            ]
        )
        return (q, f"{base} {cv} OR {cn}", [f"{base} {cv} AND {cn}", f"{base} {cv}", f"{base} {cn}",
                                            f"{base} {cv} AND {cn}"])
    q = a.one(
        [
            f"{many} {cond} that also have {ns} {bound}",
            f"{many} {cond}, but only if their {ns} is {bound}",
            f"Of the {many} {cond}, those with {ns} {bound}",
        ]
    )
    return q, f"{base} {cv} AND {cn}", [f"{base} {cv} OR {cn}", f"{base} {cv}", f"{base} {cn}", f"{base} {cv} OR {cn}"]


def rows_not_amounts(a, t):
    """The number of rows, if a column of amounts could be summed by mistake."""
    n = a.one([x for x in t.of("is_number") if not x.is_year])
    c = a.one(t.of("is_category"))
    v, many = a.one(c.distinct), a.many(t)
    if a.rng.random() < 0.5:
        q = a.one(
            [
                f"How many {many} has {v} got?",
                f"How many {many} are there {condition(a, c, v)}?",
                f"In {v}, how many {many} do we count?",
            ]
        )
        where = f" WHERE {c.sql} = {literal(v)}"
        sides = [f"SELECT {f}({n.sql}) FROM {t.sql}{where}" for f in ("SUM", "MAX", "AVG", "SUM")]
        return (q, f"SELECT COUNT(*) FROM {t.sql}{where}",
                [*sides, f"SELECT COUNT(DISTINCT {n.sql}) FROM {t.sql}{where}"])
    says = a.say(n.words)
    q = a.one(
        [
            f"How much {says} do {many} {condition(a, c, v)} have in all?",
            f"What does the {says} of {many} {condition(a, c, v)} add up to?",
            f"Total {says} of {many} {condition(a, c, v)}",
            f"How many {says} altogether for {many} {condition(a, c, v)}?",
        ]
    )
    where = f" WHERE {c.sql} = {literal(v)}"
    sides = [
        f"SELECT {x} FROM {t.sql}{where}"
        for x in (f"COUNT({n.sql})", "COUNT(*)", f"AVG({n.sql})", f"SUM(DISTINCT {n.sql})", f"COUNT({n.sql})")
    ]
    return q, f"SELECT SUM({n.sql}) FROM {t.sql}{where}", sides


def large_number(a, t):
    """Numbers in words: ten million, 1.5 million, 40 thousand."""
    n = a.one([x for x in t.of("is_number") if not x.is_year and max(x.distinct) >= 20000])
    op, top = a.one(list(ABOVE)), max(n.distinct)
    unit, word = a.one([(u, w) for u, w in ((1000, "thousand"), (1000000, "million"), (1000000000, "billion"))
                        if top >= 2 * u])
    k = a.one(sorted({max(1, round(v / unit)) for v in n.distinct if v >= unit})[:-1])
    bound = a.one(ABOVE[op]).format(n=f"{a.number(k)} {word}")
    base = f"SELECT {shown(t.label())} FROM {t.sql} WHERE {n.sql} {op}"
    q = a.one([f"Which {a.many(t)} have a {a.say(n.words)} of {bound}?", f"{a.many(t)} with {a.say(n.words)} {bound}"])
    return (
        q,
        f"{base} {k * unit}",
        [f"{base} {k}", f"{base.replace(f' {op}', f' {TURNED[op]}')} {k * unit}", f"{base} {k * unit * 10}",
         f"{base} {k}"],
    )


def some_other(a, p, key, c, link):
    """At least one value other than v. This differs from: no value is v."""
    k = a.one(c.of("is_category"))
    v = a.one(k.distinct)
    label = p.label()
    counted = a.rng.random() < 0.3
    q = a.one(
        [
            f"{'How many' if counted else 'Which'} {a.many(p)} have a {a.single(c)} of some {a.say(k.words)} other "
            f"than {v}?",
            f"{'How many' if counted else 'Which'} {a.many(p)} have at least one {a.single(c)} whose {a.say(k.words)} "
            f"isn't {v}?",
            f"{'Number of ' if counted else ''}{a.many(p)} with any {a.single(c)} that is not {v} by {a.say(k.words)}, "
            "whatever else they have",
        ]
    )
    of = f"SELECT {link.sql} FROM {c.sql} WHERE {k.sql}"
    if counted:
        right = f"SELECT COUNT(DISTINCT {link.sql}) FROM {c.sql} WHERE {k.sql} <> {literal(v)}"
        base = f"SELECT COUNT(*) FROM {p.sql} WHERE {key.sql}"
    else:
        right = f"SELECT DISTINCT {shown(label, 'p.')} FROM {joined(p, key, c, link)} WHERE c.{k.sql} <> {literal(v)}"
        base = f"SELECT {shown(label)} FROM {p.sql} WHERE {key.sql}"
        right = a.one([right, f"{base} IN ({of} <> {literal(v)})"])
    has = f"{base} IN (SELECT {link.sql} FROM {c.sql}) AND {key.sql} NOT IN ({of} = {literal(v)})"
    return q, right, [f"{base} NOT IN ({of} = {literal(v)})", has, f"{base} IN ({of} = {literal(v)})", has]


def none_under(a, p, key, c, link):
    """Parents that have children, none of them beyond a limit."""
    n = a.one([x for x in c.of("is_number") if len(x.distinct) > 3])
    m, op = a.one(sorted(n.distinct)[1:-1]), a.one([">", "<"])
    bound = a.one(ABOVE[op]).format(n=a.number(m))
    label, says = p.label(), a.say(n.words)
    q = a.one(
        [
            f"Which {a.many(p)} that have {a.many(c)} have none with {says} {bound}?",
            f"{a.many(p)} with {a.many(c)}, none of which has a {says} of {bound}",
            f"{a.many(p)} not one of whose {a.many(c)} has {says} {bound} (they must have some)",
        ]
    )
    of = f"SELECT {link.sql} FROM {c.sql}"
    base = f"SELECT {shown(label)} FROM {p.sql} WHERE {key.sql}"
    right = f"{base} IN ({of}) AND {key.sql} NOT IN ({of} WHERE {n.sql} {op} {m})"
    any_of = f"SELECT DISTINCT {shown(label, 'p.')} FROM {joined(p, key, c, link)} WHERE NOT c.{n.sql} {op} {m}"
    return (
        q,
        right,
        [
            any_of,
            f"{base} IN ({of} WHERE NOT {n.sql} {op} {m})",
            f"{base} IN ({of}) AND {key.sql} IN ({of} WHERE {n.sql} {op} {m})",
            f"{base} NOT IN ({of} WHERE {n.sql} {op} {m})",
            any_of,
        ],
    )


def no_partner(a, p, key, c, link):
    """Parents without children, in various words. A wrong query asks whether some child belongs to another parent, or
    uses other children."""
    label = p.label()
    cols, counted = shown(label), a.rng.random() < 0.25
    what = "COUNT(*)" if counted else cols
    ask = "How many" if counted else "Which"
    q = a.one(
        [
            f"{ask} {a.many(p)} have yet to get a {a.single(c)}?",
            f"{ask} {a.many(p)} don't appear in any {a.single(c)}?",
            f"{ask} {a.many(p)} are {a.single(c)}-free?",
            f"{ask} {a.many(p)} lack {a.many(c)} altogether?",
            f"{a.many(p) + (': how many are' if counted else '')} not involved in any {a.single(c)} whatsoever",
            f"{'Count' if counted else 'List'} {a.many(p)} nobody has recorded {a.many(c)} for",
            f"{ask} {a.many(p)} aren't in {a.many(c)}?",
        ]
    )
    base = f"SELECT {what} FROM {p.sql} WHERE {key.sql}"
    of = f"SELECT {link.sql} FROM {c.sql}"
    right = f"{base} NOT IN ({of} WHERE {link.sql} IS NOT NULL)"
    pw = "COUNT(*)" if counted else "DISTINCT " + shown(label, "p.")
    crossed = f"SELECT {pw} FROM {p.sql} AS p JOIN {c.sql} AS c ON p.{key.sql} <> c.{link.sql}"
    slips = [f"{base} IN ({of})", crossed] + [
        f"{base} NOT IN (SELECT {o.sql} FROM {d.sql} WHERE {o.sql} IS NOT NULL)"
        for d, o in getattr(p, "children", ())
        if d.name != c.name
    ]
    k = a.other(c.of("is_category"))
    if k:
        slips += [f"{base} NOT IN ({of} WHERE {k.sql} = {literal(a.one(k.distinct))} AND {link.sql} IS NOT NULL)"]
    return q, right, [*slips, crossed]


def both_or_either(a, p, key, c, link):
    """"As well as", "and also" and "too", against "or" and "either will do"."""
    k = a.one(c.of("is_category"))
    v = a.one(k.distinct)
    w = a.other(k.distinct, v)
    label = p.label()
    of = f"SELECT {link.sql} FROM {c.sql} WHERE {k.sql}"
    base, cols = f"SELECT {shown(label)} FROM {p.sql} WHERE {key.sql}", shown(label, "p.")
    joins = f"SELECT DISTINCT {cols} FROM {joined(p, key, c, link)} WHERE c.{k.sql}"
    exists = f"EXISTS (SELECT 1 FROM {c.sql} AS c WHERE c.{link.sql} = p.{key.sql} AND c.{k.sql} = {{}})"
    exist = f"SELECT {cols} FROM {p.sql} AS p WHERE {exists.format(literal(v))} {{}} {exists.format(literal(w))}"
    every = (f"SELECT {cols} FROM {joined(p, key, c, link)} WHERE c.{k.sql} IN ({literal(v)}, {literal(w)}) GROUP BY "
             f"p.{key.sql} HAVING COUNT(DISTINCT c.{k.sql}) = 2")
    inside = f"{base} IN ({of} = {literal(v)}) {{}} {key.sql} IN ({of} = {literal(w)})"
    both = [inside.format("AND"), exist.format("AND"), every,
            f"{base} IN ({of} = {literal(v)} INTERSECT {of} = {literal(w)})"]
    either = [
        inside.format("OR"),
        exist.format("OR"),
        f"{joins} IN ({literal(v)}, {literal(w)})",
        f"{joins} = {literal(v)} OR c.{k.sql} = {literal(w)}",
        f"{base} IN ({of} = {literal(v)} UNION {of} = {literal(w)})",
    ]
    ks, some = a.say(k.words), a.many(c)
    if a.rng.random() < 0.65:
        q = a.one(
            [
                f"Which {a.many(p)} have {some} of {ks} {v} as well as {w}?",
                f"{a.many(p)} that have a {v} {a.single(c)} and a {w} one too",
                f"Find {a.many(p)} with both {v} and {w} {some}.",
                f"{a.many(p)} with {some} in {v} and also {some} in {w}",
                f"Who among the {a.many(p)} has {v} and, besides, {w} for {ks} of {some}?",
                f"{a.many(p)} with one {a.single(c)} of {ks} {v} and another of {w}",
            ]
        )
        return (q, a.one(both), [a.one(either), a.one(either), f"{joins} = {literal(v)} AND c.{k.sql} = {literal(w)}",
                                 either[0]])
    q = a.one(
        [
            f"Which {a.many(p)} have {some} of {ks} {v} or {w}, either will do?",
            f"{a.many(p)} with a {a.single(c)} in {v} or in {w} ({ks})",
            f"{a.many(p)} that have {v} or {w} {some}, or both",
        ]
    )
    return q, a.one(either), [a.one(both), a.one(both), f"{joins} = {literal(v)}", both[2]]


def average_beyond(a, p, key, c, link):
    """A limit on the average, the total or the number of children. A wrong query applies it to each child."""
    n = a.one([x for x in c.of("is_number") if not x.is_year])
    m, op = a.one(sorted(n.distinct)[1:-1]), a.one([">", "<", ">="])
    f = a.one(["AVG", "AVG", "SUM", "COUNT"])
    label, many = p.label(), a.many(p)
    cols, says = shown(label, "p."), a.say(n.words)
    base = f"SELECT {cols} FROM {joined(p, key, c, link)}"
    group = f"GROUP BY p.{key.sql}"
    if f == "COUNT":
        m = a.rng.randint(1, 8)
        bound = a.one(ABOVE[op]).format(n=a.number(m))
        q = a.one(
            [
                f"{many} with {bound} {a.many(c)}",
                f"Which {many} have {bound} {a.many(c)} to their name?",
                f"{many} that have {a.many(c)}, {bound} of them",
            ]
        )
        right, where = f"{base} {group} HAVING COUNT(*) {op} {m}", f"c.{link.sql}"
    else:
        word = {"AVG": a.one(["average", "mean", "typical (mean)"]), "SUM": a.one(["total", "combined"])}[f]
        bound = a.one(ABOVE[op]).format(n=a.number(m))
        q = a.one(
            [
                f"Which {many} have {a.many(c)} with a {word} {says} of {bound}?",
                f"{many} where the {word} {says} of the {a.many(c)} is {bound}",
                f"For which {many} does the {says} of their {a.many(c)} come to {bound} "
                f"{'on average' if f == 'AVG' else 'in total'}?",
            ]
        )
        right, where = f"{base} {group} HAVING {f}(c.{n.sql}) {op} {m}", f"c.{n.sql}"
    row = f"{base} WHERE c.{n.sql} {op} {m} {group}"
    return q, right, [f"{base} WHERE {where} {op} {m} {group}", row, right.replace(f" {op} ", f" {TURNED[op]} "), row]


def children_each(a, p, key, c, link):
    """The average number of children of a parent: the rows divided by the parents, not the inverse."""
    some = a.rng.random() < 0.7
    parents, many = f"COUNT(DISTINCT {link.sql})", a.many(c)
    q = a.one(
        [
            f"How many {many} does a {a.single(p)} have on average"
            + (f", counting only {a.many(p)} with {many}?" if some else "?"),
            f"Average number of {many} per {a.single(p)}" + (" that has any" if some else ""),
            f"On average, how many {many} are there for a {a.single(p)}?"
            + (" Only those that have some." if some else ""),
            f"What is the mean number of {many} a {a.single(p)} has?" + (" Leave out those without." if some else ""),
        ]
    )
    upright, inverted = (f"SELECT 1.0 * COUNT(*) / {parents} FROM {c.sql}",
                         f"SELECT 1.0 * {parents} / COUNT(*) FROM {c.sql}")
    if not some:
        upright = f"SELECT 1.0 * (SELECT COUNT(*) FROM {c.sql}) / (SELECT COUNT(*) FROM {p.sql})"
        inverted = f"SELECT 1.0 * (SELECT COUNT(*) FROM {p.sql}) / (SELECT COUNT(*) FROM {c.sql})"
    inner = f"SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM {c.sql} GROUP BY {link.sql})"
    return (
        q,
        a.one([upright, inner]) if some else upright,
        [inverted, inverted.replace("1.0 * ", ""), f"SELECT COUNT(*) FROM {c.sql}", inverted],
    )


def parents_own_where(a, p, key, c, link):
    """A number of the parents that have a child of some kind. Each parent counts once."""
    n, k = a.one([x for x in p.of("is_number") if not x.is_year]), a.one(c.of("is_category"))
    v, f = a.one(k.distinct), a.one(["AVG", "SUM", "SUM", "COUNT"])
    cond, says, many = condition(a, k, v), a.say(n.words), a.many(p)
    word = {"AVG": a.one(["average", "mean"]), "SUM": a.one(["total", "combined"]), "COUNT": "number"}[f]
    what = f"{word} {says} of {many}" if f != "COUNT" else f"number of {many}"
    q = a.one(
        [
            f"What is the {what} that have at least one {a.single(c)} {cond}?",
            f"{what} with a {a.single(c)} {cond}, each {a.single(p)} counted once",
            f"Take the {many} that have any {a.single(c)} {cond}: what is their "
            f"{word + ' ' + says if f != 'COUNT' else 'number'}?",
        ]
    )
    arg = "*" if f == "COUNT" else n.sql
    right = (f"SELECT {f}({arg}) FROM {p.sql} WHERE {key.sql} IN (SELECT {link.sql} FROM {c.sql} WHERE {k.sql} = "
             f"{literal(v)})")
    join = f"SELECT {f}({'p.' + arg if arg != '*' else '*'}) FROM {joined(p, key, c, link)}"
    where = f"WHERE c.{k.sql} = {literal(v)}"
    return q, right, [f"{join} {where}", join, right.replace(" IN (", " NOT IN ("), f"{join} {where}"]


def least_partnered(a, p, key, c, link):
    """The lowest value of the children, with their parents. If all parents are included, one without a child comes
    first."""
    n = a.one([x for x in c.of("is_number") + [y for y in c.columns if y.is_date]])
    label, says = p.label(), a.say(n.words)
    low = a.one(["earliest", "first"] if n.is_date or n.is_year else ["lowest", "smallest", "least"])
    q = a.one(
        [
            f"Which {a.single(p)} has the {a.single(c)} with the {low} {says}?",
            f"Whose {a.single(c)} has the {low} {says}, going by the {a.many(p)}?",
            f"{a.single(p)} with the {low} {says} of a {a.single(c)}",
        ]
    )
    right = f"SELECT {shown(label, 'p.')} FROM {joined(p, key, c, link)} ORDER BY c.{n.sql} LIMIT 1"
    if n.n_null:
        right = right.replace(" ORDER BY", f" WHERE c.{n.sql} IS NOT NULL ORDER BY")
    left = f"SELECT {shown(label, 'p.')} FROM {joined(p, key, c, link, 'LEFT JOIN')} ORDER BY c.{n.sql} LIMIT 1"
    return q, right, [left, right.replace(" LIMIT", " DESC LIMIT"), left]


def counted_once(a, p, key, c, link):
    """Distinct things against rows."""
    label = p.label()
    way = a.one(["rows", "things", "list"])
    if way == "rows":
        k, v = a.one(c.of("is_category")), a.one(label[-1].distinct)
        q = a.one(
            [f"How many {a.many(c)} has {v} had?", f"How many {a.many(c)} are there of {v}?",
             f"Count {v}'s {a.many(c)}."]
        )
        tail = f"FROM {joined(p, key, c, link)} WHERE p.{label[-1].sql} = {literal(v)}"
        n = a.other(c.of("is_number"))
        slips = [f"SELECT COUNT(DISTINCT c.{k.sql}) {tail}", f"SELECT COUNT(DISTINCT c.{link.sql}) {tail}"]
        return q, f"SELECT COUNT(*) {tail}", slips + ([f"SELECT SUM(c.{n.sql}) {tail}"] if n else slips)
    if way == "things":
        q = a.one(
            [
                f"How many {a.many(p)} have any {a.single(c)}?",
                f"How many individual {a.many(p)} occur in the {a.many(c)}?",
                f"How many {a.many(p)} have {a.many(c)} on the books?",
                f"Number of {a.many(p)} with {a.many(c)}, each {a.single(p)} counted a single time",
            ]
        )
        right = a.one(
            [
                f"SELECT COUNT(DISTINCT {link.sql}) FROM {c.sql}",
                f"SELECT COUNT(DISTINCT p.{key.sql}) FROM {joined(p, key, c, link)}",
            ]
        )
        rows = right.replace("DISTINCT ", "")
        return q, right, [rows, f"SELECT COUNT(*) FROM {p.sql}", f"SELECT COUNT(*) FROM {c.sql}", rows]
    k = a.one(c.of("is_category"))
    v, w = a.one(k.distinct), a.one(k.distinct)
    q = a.one(
        [
            f"List every {a.single(p)} that has a {a.single(c)} {condition(a, k, v)}, once each.",
            f"Which {a.many(p)} have {a.many(c)} {condition(a, k, v)}? Name each a single time.",
            f"{a.many(p)} with {a.many(c)} {condition(a, k, v)}, no repeats",
        ]
    )
    tail = f"{shown(label, 'p.')} FROM {joined(p, key, c, link)} WHERE c.{k.sql} ="
    return (
        q,
        f"SELECT DISTINCT {tail} {literal(v)}",
        [f"SELECT {tail} {literal(v)}", f"SELECT DISTINCT {tail} {literal(w)}", f"SELECT {tail} {literal(v)}"],
    )


OF_TABLE = [
    quotient,
    quotient,
    extreme_text,
    extreme_text,
    first_recorded,
    first_recorded,
    negated_two,
    negated_missing,
    outside_range,
    loose_or,
    or_else,
    rows_not_amounts,
    large_number,
]
OF_PAIR = [
    some_other,
    none_under,
    no_partner,
    both_or_either,
    both_or_either,
    average_beyond,
    average_beyond,
    children_each,
    parents_own_where,
    least_partnered,
    counted_once,
    counted_once,
]
