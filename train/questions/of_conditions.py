"""Templates of combined conditions, ranks, comparisons of rows, groups, and several columns."""

import re

from questions.ask import *


def bound(a, column):
    """Returns (English, SQL, inverted SQL) of a comparison with a number."""
    n = a.one(sorted(column.distinct)[1:-1])
    op = a.one([">", "<", ">=", "<="])
    turned = {">": "<", "<": ">", ">=": "<=", "<=": ">="}[op]
    edge = {">": ">=", "<": "<=", ">=": ">", "<=": "<"}[op]
    return a.one(ABOVE[op]).format(n=a.number(n)), f"{op} {n}", f"{turned} {n}", f"{edge} {n}"


def either_and(a, t):
    """(A or B) and C: the parentheses matter."""
    k = a.one(t.of("is_category"))
    v = a.one(k.distinct)
    m, n = a.rng.sample(t.of("is_number"), 2)
    (e1, s1, t1, _), (e2, s2, _, _) = bound(a, m), bound(a, n)
    label, many = t.label(), a.many(t)
    mw, nw = a.say(m.words), a.say(n.words)
    q = a.one(
        [
            f"Among {many} {condition(a, k, v)}, which have {mw} {e1} or {nw} {e2}?",
            f"{many} {condition(a, k, v)} and either {mw} {e1} or {nw} {e2}",
            f"Of the {many} {condition(a, k, v)}, list those with {mw} {e1} or with {nw} {e2}.",
            f"I want {many} with {mw} {e1} or {nw} {e2}, but in any case {condition(a, k, v)}.",
        ]
    )
    base, cv = f"SELECT {shown(label)} FROM {t.sql} WHERE", f"{k.sql} = {literal(v)}"
    one, two = f"{m.sql} {s1}", f"{n.sql} {s2}"
    right = a.one([f"{base} {cv} AND ({one} OR {two})", f"{base} ({one} OR {two}) AND {cv}"])
    slips = [
        f"{base} {cv} AND {one} OR {two}",
        f"{base} ({cv} AND {one}) OR {two}",
        f"{base} {one} OR ({two} AND {cv})",
        f"{base} {cv} AND {one} AND {two}",
        f"{base} {one} OR {two}",
        f"{base} {cv} AND ({m.sql} {t1} OR {two})",
    ]
    return q, right, slips


def all_three(a, t):
    """Three conditions. A wrong query lacks one."""
    k = a.one(t.of("is_category"))
    v = a.one(k.distinct)
    w = a.other(k.distinct, v)
    m, n = a.rng.sample(t.of("is_number"), 2)
    (e1, s1, _, _), (e2, s2, t2, _) = bound(a, m), bound(a, n)
    label, many = t.label(), a.many(t)
    mw, nw = a.say(m.words), a.say(n.words)
    counted = a.rng.random() < 0.5
    what, ask = ("COUNT(*)", "How many") if counted else (shown(label), "Which")
    q = a.one(
        [
            f"{ask} {many} {condition(a, k, v)} have {mw} {e1} and {nw} {e2}?",
            f"{ask} {many} with {mw} {e1} and {nw} {e2} are there {condition(a, k, v)}?",
            f"{ask} {many} {condition(a, k, v)} combine {mw} {e1} with {nw} {e2}?",
        ]
    )
    base, cv = f"SELECT {what} FROM {t.sql} WHERE", f"{k.sql} = {literal(v)}"
    one, two = f"{m.sql} {s1}", f"{n.sql} {s2}"
    slips = [
        f"{base} {one} AND {two}",
        f"{base} {cv} AND {one}",
        f"{base} {cv} AND {two}",
        f"{base} {cv} AND {one} OR {two}",
        f"{base} {cv} AND {one} AND {n.sql} {t2}",
        f"{base} {k.sql} = {literal(w)} AND {one} AND {two}",
    ]
    return q, f"{base} {cv} AND {one} AND {two}", slips


def neither_of_two(a, t):
    """Two negated columns: NOT (A AND B) is wrong."""
    k, l = a.rng.sample(t.of("is_category"), 2)
    v, w = a.one(k.distinct), a.one(l.distinct)
    label, many = t.label(), a.many(t)
    kw, lw = a.say(k.words), a.say(l.words)
    q = a.one(
        [
            f"{many} that have neither {kw} {v} nor {lw} {w}",
            f"Which {many} are not of {kw} {v} and not of {lw} {w} either?",
            f"Leave out {many} with {kw} {v} and also those with {lw} {w}; who remains?",
            f"{many} outside {kw} {v} whose {lw} isn't {w}",
        ]
    )
    base = f"SELECT {shown(label)} FROM {t.sql} WHERE"
    cv, cw = f"{k.sql} = {literal(v)}", f"{l.sql} = {literal(w)}"
    nv, nw = f"{k.sql} <> {literal(v)}", f"{l.sql} <> {literal(w)}"
    right = a.one([f"{base} {nv} AND {nw}", f"{base} NOT ({cv} OR {cw})",
                   f"{base} {k.sql} NOT IN ({literal(v)}) AND {nw}"])
    slips = [
        f"{base} NOT ({cv} AND {cw})",
        f"{base} {nv} OR {nw}",
        f"{base} {nv} AND {cw}",
        f"{base} {nv}",
        f"{base} {cv} AND {cw}",
    ]
    return q, right, slips


def not_this_but(a, t):
    """A negated and a positive condition: NOT applies only to the former."""
    k = a.one(t.of("is_category"))
    v = a.one(k.distinct)
    n = a.one(t.of("is_number"))
    e, s, turned, _ = bound(a, n)
    label, many, nw, kw = t.label(), a.many(t), a.say(n.words), a.say(k.words)
    q = a.one(
        [
            f"{many} with {nw} {e} that are not of {kw} {v}",
            f"Apart from those with {kw} {v}, which {many} have {nw} {e}?",
            f"Which {many} have {nw} {e} but not {v} for {kw}?",
            f"Everything except {kw} {v}: {many} with {nw} {e}",
        ]
    )
    base = f"SELECT {shown(label)} FROM {t.sql} WHERE"
    cv, cn = f"{k.sql} = {literal(v)}", f"{n.sql} {s}"
    right = a.one(
        [f"{base} {k.sql} <> {literal(v)} AND {cn}", f"{base} {cn} AND NOT {cv}",
         f"{base} {cn} AND {k.sql} != {literal(v)}"]
    )
    slips = [
        f"{base} NOT ({cv} AND {cn})",
        f"{base} {k.sql} <> {literal(v)} OR {cn}",
        f"{base} {cv} AND {cn}",
        f"{base} {k.sql} <> {literal(v)} AND {n.sql} {turned}",
        f"{base} {cn}",
        f"{base} NOT ({cv} OR {cn})",
    ]
    return q, right, slips


RANKS = {2: ["second", "2nd"], 3: ["third", "3rd"], 4: ["fourth", "4th"]}


def nth(a, t):
    n = a.one(numbers(t))
    i, up = a.one([2, 2, 3, 4]), a.rng.random() < 0.6
    label = t.label()
    best = (HIGH if up else LOW).get(n.words.split()[-1])
    word = best if best and a.rng.random() < 0.5 else None
    rank = a.one(RANKS[i])
    q = (
        a.one([f"Which is the {rank} {word} {a.single(t)}?", f"Name the {rank} {word} {a.single(t)}."])
        if word
        else a.one(
            [
                f"Which {a.single(t)} has the {rank} {'highest' if up else 'lowest'} {a.say(n.words)}?",
                f"{a.single(t)} that comes {rank} when sorted by {a.say(n.words)}, "
                f"{'largest' if up else 'smallest'} first",
                f"Who or what is {rank} from the {'top' if up else 'bottom'} among {a.many(t)} in {a.say(n.words)}?",
            ]
        )
    )
    base = f"SELECT {shown(label)} FROM {t.sql} ORDER BY {n.sql}"
    d, u = ("DESC", "ASC") if up else ("ASC", "DESC")
    right = f"{base} {d} LIMIT 1 OFFSET {i - 1}"
    slips = [
        f"{base} {u} LIMIT 1 OFFSET {i - 1}",
        f"{base} {d} LIMIT {i}",
        f"{base} {d} LIMIT 1 OFFSET {i}",
        f"{base} {d} LIMIT 1",
    ]
    return q, right, slips


def ranked(a, t):
    """A complete list, with one of many expressions for its order."""
    n = a.one(numbers(t))
    label, many, nw = t.label(), a.many(t), a.say(n.words)
    down = a.rng.random() < 0.55
    ways = (
        [
            f"Rank {many} from the highest to the lowest {nw}.",
            f"{many}, biggest {nw} first",
            f"Sort {many} by {nw}, starting at the top.",
            f"{many} in descending order of {nw}",
            f"List {many} with the largest {nw} on top.",
            f"{many} ordered from most to least {nw}",
            f"League table of {many} by {nw}",
        ]
        if down
        else [
            f"Rank {many} from the lowest to the highest {nw}.",
            f"{many}, smallest {nw} first",
            f"Sort {many} by {nw}, starting at the bottom.",
            f"{many} in ascending order of {nw}",
            f"List {many} with increasing {nw}.",
            f"{many} ordered from least to most {nw}",
            f"{many} going up by {nw}",
        ]
    )
    extra = a.rng.random() < 0.4
    what = shown(label) + (f", {n.sql}" if extra else "")
    q = a.one(ways).rstrip(".") + (f", along with the {nw}" if extra else "")
    base = f"SELECT {what} FROM {t.sql} ORDER BY"
    o = a.other(t.of("is_number"), n)
    d, u = ("DESC", "ASC") if down else (a.one(["ASC", ""]), "DESC")
    slips = [f"{base} {n.sql} {u}", f"{base} {label[0].sql} {d}", f"SELECT {what} FROM {t.sql}"]
    if o:
        slips.append(f"{base} {o.sql} {d}")
    return q, f"{base} {n.sql} {d}".rstrip(), [s.rstrip() for s in slips]


def than_that_one(a, t):
    """A comparison with a named row."""
    n = a.one(t.of("is_number"))
    name = t.label()[-1]
    v = a.one(name.distinct)
    up = a.rng.random() < 0.6
    op, turned = (">", "<") if up else ("<", ">")
    label, many, nw = t.label(), a.many(t), a.say(n.words)
    q = a.one(
        [
            f"Which {many} have a {'higher' if up else 'lower'} {nw} than {v}?",
            f"{many} that {'beat' if up else 'stay under'} {v} in {nw}",
            f"{many} with {'more' if up else 'less'} {nw} than {v} has",
        ]
    )
    base = f"SELECT {shown(label)} FROM {t.sql} WHERE {n.sql}"
    of = f"(SELECT {n.sql} FROM {t.sql} WHERE {name.sql} = {literal(v)})"
    o = a.other(t.of("is_number"), n)
    slips = [
        f"{base} {turned} {of}",
        f"{base} = {of}",
        f"{base} {op} (SELECT AVG({n.sql}) FROM {t.sql})",
        f"{base} {op}= {of}",
        f"{base} {op} (SELECT {'MAX' if not up else 'MIN'}({n.sql}) FROM {t.sql} WHERE {name.sql} <> {literal(v)})",
    ]
    if o:
        slips.append(
            f"SELECT {shown(label)} FROM {t.sql} WHERE {o.sql} {op} (SELECT {o.sql} FROM {t.sql} WHERE {name.sql} = "
            f"{literal(v)})"
        )
    return q, f"{base} {op} {of}", slips


def groups_counted(a, t):
    """The number of groups, not of rows."""
    k = a.one(t.of("is_category"))
    x = a.one([1, 1, 2, 3])
    kw, many = a.say(k.words), a.many(t)
    q = a.one(
        [
            f"How many {plural(kw)} have more than {a.number(x)} {many if x > 1 else a.single(t)}?",
            f"Number of {plural(kw)} that occur for more than {a.number(x)} {many if x > 1 else a.single(t)}",
            f"In how many {plural(kw)} are there over {a.number(x)} {many if x > 1 else a.single(t)}?",
        ]
    )
    of = f"SELECT {k.sql} FROM {t.sql} GROUP BY {k.sql} HAVING COUNT(*) > {x}"
    slips = [
        f"SELECT COUNT(*) FROM {t.sql} GROUP BY {k.sql} HAVING COUNT(*) > {x}",
        f"SELECT COUNT(*) FROM ({of}=)".replace(f"> {x}=", f">= {x}"),
        f"SELECT COUNT(DISTINCT {k.sql}) FROM {t.sql}",
        f"SELECT COUNT(*) FROM ({of.replace('> ', '< ')})",
        of,
    ]
    return q, f"SELECT COUNT(*) FROM ({of})", slips


def range_per_group(a, t):
    k, n = a.one(t.of("is_category")), a.one(numbers(t))
    o = a.other(numbers(t), n)
    kw, nw = a.say(k.words), a.say(n.words)
    f, word = a.one(
        [("MAX", "highest"), ("MIN", "lowest"), ("AVG", "average"), ("SUM", "total"), ("MAX", "top"), ("AVG", "mean")]
    )
    g = {"MAX": "MIN", "MIN": "MAX", "AVG": "SUM", "SUM": "AVG"}[f]
    q = a.one(
        [
            f"{word} {nw} of {a.many(t)} per {kw}",
            f"For each {kw}, what is the {word} {nw}?",
            f"Break the {word} {nw} of {a.many(t)} down by {kw}.",
            f"What {word} {nw} does every {kw} have?",
        ]
    )
    base = f"SELECT {k.sql}, {f}({n.sql}) FROM {t.sql}"
    group = f"GROUP BY {k.sql}"
    slips = [
        f"SELECT {k.sql}, {g}({n.sql}) FROM {t.sql} {group}",
        f"SELECT {k.sql}, COUNT({n.sql}) FROM {t.sql} {group}",
        f"{base} GROUP BY {t.label()[0].sql}",
        f"SELECT {f}({n.sql}) FROM {t.sql}",
        f"{base} {group} HAVING COUNT(*) > 1",
    ]
    if o:
        slips.append(f"SELECT {k.sql}, {f}({o.sql}) FROM {t.sql} {group}")
    return q, f"{base} {group}", slips


def counted_side_by_side(a, t):
    k = a.one(t.of("is_category"))
    v = a.one(k.distinct)
    w = a.other(k.distinct, v)
    kw, many = a.say(k.words), a.many(t)
    q = a.one(
        [
            f"How many {many} are of {kw} {v} and how many of {kw} {w}?",
            f"Compare the number of {many} with {kw} {v} to that with {kw} {w}.",
            f"Head to head: {many} under {v} against {many} under {w}, for {kw}",
        ]
    )
    case = lambda x: f"SUM(CASE WHEN {k.sql} = {literal(x)} THEN 1 ELSE 0 END)"
    right = a.one(
        [
            f"SELECT {case(v)}, {case(w)} FROM {t.sql}",
            f"SELECT {k.sql}, COUNT(*) FROM {t.sql} WHERE {k.sql} IN ({literal(v)}, {literal(w)}) GROUP BY {k.sql}",
        ]
    )
    slips = [
        f"SELECT COUNT(*) FROM {t.sql} WHERE {k.sql} IN ({literal(v)}, {literal(w)})",
        f"SELECT {case(v)} FROM {t.sql}",
        f"SELECT {k.sql}, COUNT(*) FROM {t.sql} GROUP BY {k.sql}",
        f"SELECT COUNT(*) FROM {t.sql} WHERE {k.sql} = {literal(v)} AND {k.sql} = {literal(w)}",
        f"SELECT COUNT(DISTINCT {k.sql}) FROM {t.sql}",
    ]
    return q, right, slips


def same_as(a, t):
    """Pairs of rows with an equal value."""
    k = a.one(t.of("is_category"))
    name = t.label()[-1]
    v = a.one(name.distinct)
    kw, many = a.say(k.words), a.many(t)
    q = a.one(
        [
            f"Which other {many} have the same {kw} as {v}?",
            f"{many} that share their {kw} with {v}, {v} not included",
            f"Who else has {v}'s {kw}, among {many}?",
        ]
    )
    base = f"SELECT {shown(t.label())} FROM {t.sql} WHERE {k.sql}"
    of = f"(SELECT {k.sql} FROM {t.sql} WHERE {name.sql} = {literal(v)})"
    right = f"{base} = {of} AND {name.sql} <> {literal(v)}"
    slips = [
        f"{base} <> {of}",
        f"{base} = {of} AND {name.sql} = {literal(v)}",
        f"{base} = {of}",
        f"{base} = {literal(a.one(k.distinct))} AND {name.sql} <> {literal(v)}",
    ]
    return q, right, slips


def column_of_named(a, t):
    """One column of a named row, among similar columns."""
    name = t.label()[-1]
    v = a.one(name.distinct)
    others = [c for c in t.of("is_text") + t.of("is_number") + t.of("is_date") if c not in t.label()]
    c = a.one(others)
    w = a.say(c.words)
    q = a.one(
        [
            f"What is the {w} of {v}?",
            f"{v}'s {w}?",
            f"I need the {w} for {v}.",
            f"Look up {v} and tell me the {w}.",
            f"Which {w} does {v} have?",
        ]
    )
    base = f"WHERE {name.sql} = {literal(v)}"
    more = a.rng.sample(others, min(4, len(others)))
    slips = [f"SELECT {o.sql} FROM {t.sql} {base}" for o in more if o is not c]
    slips += [f"SELECT {name.sql} FROM {t.sql} {base}", f"SELECT {c.sql} FROM {t.sql} WHERE {name.sql} <> {literal(v)}"]
    return q, f"SELECT {c.sql} FROM {t.sql} {base}", slips


def several_columns(a, t):
    """All requested columns and no others."""
    name = t.label()
    others = [c for c in t.of("is_text") + t.of("is_number") + t.of("is_date") if c not in name]
    c, d = a.rng.sample(others, 2)
    k = a.one(t.of("is_category"))
    v = a.one(k.distinct)
    q = a.one(
        [
            f"Name, {a.say(c.words)} and {a.say(d.words)} of {a.many(t)} {condition(a, k, v)}",
            f"For {a.many(t)} {condition(a, k, v)}, give the name together with {a.say(c.words)} and {a.say(d.words)}.",
            f"Show me who they are, their {a.say(c.words)} and their {a.say(d.words)}: {a.many(t)} "
            f"{condition(a, k, v)}.",
        ]
    )
    of = f"FROM {t.sql} WHERE {k.sql} = {literal(v)}"
    right = f"SELECT {shown(name)}, {c.sql}, {d.sql} {of}"
    o = a.other(others, c, d)
    slips = [
        f"SELECT {shown(name)}, {c.sql} {of}",
        f"SELECT {c.sql}, {d.sql} {of}",
        f"SELECT {shown(name)}, {c.sql}, {d.sql} FROM {t.sql}",
    ]
    if o:
        slips.append(f"SELECT {shown(name)}, {c.sql}, {o.sql} {of}")
    if len(name) > 1:
        slips.append(f"SELECT {name[-1].sql}, {c.sql}, {d.sql} {of}")
    return q, right, slips


def duration(a, t):
    """The time between two dates of a row."""
    dates = t.of("is_date")
    start = next((c for c in dates if re.search(r"start|begin|from|open|birth|order|hire|arriv", c.name, re.I)), None)
    end = next(
        (
            c
            for c in dates
            if c is not start and re.search(r"end|finish|to$|until|close|leav|return|deliver|depart", c.name, re.I)
        ),
        None,
    )
    up = a.rng.random() < 0.6
    label = t.label()
    q = a.one(
        [
            f"Which {a.single(t)} {'lasted longest' if up else 'was over soonest after it began'}?",
            f"{'Longest' if up else 'Shortest'} {a.single(t)} from {a.say(start.words)} to {a.say(end.words)}",
            f"{a.single(t)} with the {'most' if up else 'fewest'} days between {a.say(start.words)} and "
            f"{a.say(end.words)}",
        ]
    )
    gap = f"julianday({end.sql}) - julianday({start.sql})"
    d, u = ("DESC", "ASC") if up else ("ASC", "DESC")
    base = f"SELECT {shown(label)} FROM {t.sql} ORDER BY"
    slips = [
        f"{base} julianday({start.sql}) - julianday({end.sql}) {d} LIMIT 1",
        f"{base} {gap} {u} LIMIT 1",
        f"{base} {gap.replace(' - ', ' + ')} {d} LIMIT 1",
        f"{base} {end.sql} {d} LIMIT 1",
        f"{base} {start.sql} {d} LIMIT 1",
    ]
    return q, f"{base} {gap} {d} LIMIT 1", slips


def two_numbers(a, t):
    """Arithmetic of two columns, expressed in words."""
    m, n = a.rng.sample(numbers(t), 2)
    mw, nw = a.say(m.words), a.say(n.words)
    label = t.label()
    way = a.one(["minus", "plus", "per", "times"])
    sql = {
        "minus": f"{m.sql} - {n.sql}",
        "plus": f"{m.sql} + {n.sql}",
        "per": f"1.0 * {m.sql} / {n.sql}",
        "times": f"{m.sql} * {n.sql}",
    }
    says = {
        "minus": [
            f"by how much does {mw} exceed {nw}",
            f"the gap between {mw} and {nw}",
            f"{mw} minus {nw}",
            f"{mw} left after {nw} is taken off",
        ],
        "plus": [f"{mw} and {nw} taken together", f"the sum of {mw} and {nw}", f"combined {mw} and {nw}"],
        "per": [
            f"{mw} per {nw}",
            f"the ratio of {mw} to {nw}",
            f"{mw} divided by {nw}",
            f"how much {mw} for each unit of {nw}",
        ],
        "times": [f"{mw} multiplied by {nw}", f"the product of {mw} and {nw}"],
    }[way]
    q = a.one(
        [
            f"For each {a.single(t)}: {a.one(says)}?",
            f"{a.one(says)}, {a.single(t)} by {a.single(t)}",
            f"Show every {a.single(t)} and {a.one(says)}.",
        ]
    )
    form = "SELECT {l}, {e} FROM {t}"
    make = lambda e: form.format(l=shown(label), e=e, t=t.sql)
    slips = [make(e) for w, e in sql.items() if w != way]
    if way in ("minus", "per"):
        slips.insert(0, make(sql[way].replace(m.sql, "\0").replace(n.sql, m.sql).replace("\0", n.sql)))
    return q, make(sql[way]), slips


OF_TABLE = [
    either_and,
    either_and,
    all_three,
    all_three,
    neither_of_two,
    not_this_but,
    not_this_but,
    nth,
    ranked,
    ranked,
    than_that_one,
    groups_counted,
    range_per_group,
    counted_side_by_side,
    same_as,
    column_of_named,
    column_of_named,
    several_columns,
    duration,
    two_numbers,
    two_numbers,
]
