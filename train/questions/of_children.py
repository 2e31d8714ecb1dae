"""More templates of a parent and its children: limits on sums and means, first and last children, conditions on the
other table."""

from questions.ask import *

from questions.of_pair import joined


def some_other_than(a, p, key, c, link):
    """At least one child has another value. This is different from "no child has the value"."""
    k = a.one(c.of("is_category"))
    v = a.one(k.distinct)
    label, kw = p.label(), a.say(k.words)
    q = a.one(
        [
            f"Which {a.many(p)} have at least one {a.single(c)} whose {kw} is not {v}?",
            f"{a.many(p)} with some {a.single(c)} of another {kw} than {v}",
            f"{a.many(p)} that have a {a.single(c)} outside {kw} {v}, whatever else they have",
        ]
    )
    of = f"SELECT {link.sql} FROM {c.sql} WHERE {k.sql}"
    base = f"SELECT {shown(label)} FROM {p.sql} WHERE {key.sql}"
    right = a.one(
        [
            f"{base} IN ({of} <> {literal(v)})",
            f"SELECT DISTINCT {shown(label, 'p.')} FROM {joined(p, key, c, link)} WHERE c.{k.sql} <> {literal(v)}",
        ]
    )
    slips = [f"{base} NOT IN ({of} = {literal(v)})", f"{base} IN ({of} = {literal(v)})",
             f"SELECT {shown(label)} FROM {p.sql}"]
    return q, right, slips


def per_parent_on_average(a, p, key, c, link):
    q = a.one(
        [
            f"How many {a.many(c)} does a {a.single(p)} have on average, counting those that have any?",
            f"Average number of {a.many(c)} per {a.single(p)} with {a.many(c)}",
            f"On average, how many {a.many(c)} fall to one {a.single(p)} that has any?",
        ]
    )
    n, d = "COUNT(*)", f"COUNT(DISTINCT {link.sql})"
    right = a.one(
        [
            f"SELECT 1.0 * {n} / {d} FROM {c.sql}",
            f"SELECT CAST({n} AS REAL) / {d} FROM {c.sql}",
            f"SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM {c.sql} GROUP BY {link.sql})",
        ]
    )
    slips = [
        f"SELECT 1.0 * {d} / {n} FROM {c.sql}",
        f"SELECT 1.0 * {n} / COUNT({link.sql}) FROM {c.sql}",
        f"SELECT {n} / {d} FROM {c.sql}",
        f"SELECT COUNT(*) FROM {c.sql}",
        f"SELECT AVG({link.sql}) FROM {c.sql}",
    ]
    return q, right, slips


def last_of_each(a, p, key, c, link):
    d = a.one(c.of("is_date") + [x for x in c.of("is_number") if x.is_year])
    late = a.rng.random() < 0.6
    f, g = ("MAX", "MIN") if late else ("MIN", "MAX")
    label = p.label()
    q = a.one(
        [
            f"When did each {a.single(p)} have its {'latest' if late else 'first'} {a.single(c)}?",
            f"{'Most recent' if late else 'Earliest'} {a.say(d.words)} of a {a.single(c)} for every {a.single(p)}",
        ]
    )
    cols, group = shown(label, "p."), f"GROUP BY p.{key.sql}"
    base = f"SELECT {cols}, {f}(c.{d.sql}) FROM {joined(p, key, c, link)}"
    slips = [
        base.replace(f"{f}(", f"{g}(") + " " + group,
        f"SELECT {cols}, c.{d.sql} FROM {joined(p, key, c, link)}",
        f"SELECT {cols}, COUNT(c.{d.sql}) FROM {joined(p, key, c, link)} {group}",
        base,
    ]
    return q, f"{base} {group}", slips


def parent_of_extreme(a, p, key, c, link):
    n = a.one(numbers(c))
    o = a.other(numbers(c) + numbers(p), n)
    up = a.rng.random() < 0.6
    d, u = ("DESC", "ASC") if up else ("ASC", "DESC")
    label = p.label()
    q = a.one(
        [
            f"Which {a.single(p)} has the {a.single(c)} with the {'highest' if up else 'lowest'} {a.say(n.words)}?",
            f"{a.single(p)} behind the {a.single(c)} of {'greatest' if up else 'least'} {a.say(n.words)}",
            f"Whose {a.single(c)} has the {'most' if up else 'smallest'} {a.say(n.words)}? Name the {a.single(p)}.",
        ]
    )
    base = f"SELECT {shown(label, 'p.')} FROM {joined(p, key, c, link)}"
    slips = [
        f"{base} ORDER BY c.{n.sql} {u} LIMIT 1",
        f"{base} GROUP BY p.{key.sql} ORDER BY COUNT(*) {d} LIMIT 1",
        f"{base} GROUP BY p.{key.sql} ORDER BY SUM(c.{n.sql}) {d} LIMIT 1",
        f"{base} ORDER BY c.{n.sql} {d}",
    ]
    if o:
        slips.append(f"{base} ORDER BY {'c' if c.column(o.name) is o else 'p'}.{o.sql} {d} LIMIT 1")
    return q, f"{base} ORDER BY c.{n.sql} {d} LIMIT 1", slips


def having_against_where(a, p, key, c, link):
    """A limit on the sum or mean of the children, not on each child."""
    n = a.one(numbers(c))
    f, word = a.one([("SUM", a.one(["total", "combined", "summed"])),
                     ("AVG", a.one(["average", "mean", "typical (mean)"]))])
    v = a.one(sorted(n.distinct)[1:-1])
    op = a.one([">", "<"])
    label = p.label()
    e = a.one(ABOVE[op]).format(n=a.number(v))
    q = a.one(
        [
            f"Which {a.many(p)} have a {word} {a.say(n.words)} of {a.many(c)} {e}?",
            f"{a.many(p)} whose {a.many(c)} reach a {word} {a.say(n.words)} {e}",
            f"For which {a.many(p)} is the {word} {a.say(n.words)} over their {a.many(c)} {e}?",
        ]
    )
    base = f"SELECT {shown(label, 'p.')} FROM {joined(p, key, c, link)}"
    group = f"GROUP BY p.{key.sql}"
    g = "AVG" if f == "SUM" else "SUM"
    slips = [
        f"{base} WHERE c.{n.sql} {op} {v} {group}",
        f"SELECT DISTINCT {shown(label, 'p.')} FROM {joined(p, key, c, link)} WHERE c.{n.sql} {op} {v}",
        f"{base} {group} HAVING {g}(c.{n.sql}) {op} {v}",
        f"{base} {group} HAVING {f}(c.{n.sql}) {TURNED[op]} {v}",
        f"{base} {group} HAVING COUNT(*) {op} {v}",
    ]
    return q, f"{base} {group} HAVING {f}(c.{n.sql}) {op} {v}", slips


def children_and_number(a, p, key, c, link):
    """Parents with the number of their children. If only parents with children are meant, an outer join returns too
    many."""
    label = p.label()
    also = a.one(
        [
            f"Leave out {a.many(p)} without any.",
            f"Only {a.many(p)} that have at least one.",
            f"Skip the ones that have none.",
            "Zeros are of no interest.",
        ]
    )
    q = a.one(
        [
            f"How many {a.many(c)} does each {a.single(p)} have? {also}",
            f"Count {a.many(c)} per {a.single(p)}. {also}",
            f"Number of {a.many(c)} for every {a.single(p)} that has one",
        ]
    )
    right = f"SELECT {shown(label, 'p.')}, COUNT(c.{link.sql}) FROM {joined(p, key, c, link)} GROUP BY p.{key.sql}"
    left = right.replace(" JOIN ", " LEFT JOIN ", 1)
    slips = [
        left,
        left.replace(f"COUNT(c.{link.sql})", "COUNT(*)"),
        f"{right} HAVING COUNT(*) > 1",
        f"SELECT {shown(label, 'p.')}, COUNT(DISTINCT p.{key.sql}) FROM {joined(p, key, c, link)} GROUP BY p.{key.sql}",
    ]
    return q, right, slips


def of_named_parent(a, p, key, c, link):
    """Children of a named parent: the condition is on the other table."""
    label = c.label()
    name = p.label()[-1]
    v = a.one(name.distinct)
    k = a.one([x for x in c.of("is_number") + c.of("is_date") + c.of("is_category") if x not in label])
    q = a.one(
        [
            f"List the {a.many(c)} of {v} with their {a.say(k.words)}.",
            f"{v}: which {a.many(c)}, and what {a.say(k.words)} do they have?",
            f"Which {a.many(c)} belong to {v}? Also show the {a.say(k.words)}.",
        ]
    )
    base = f"SELECT {shown(label, 'c.')}, c.{k.sql} FROM {joined(p, key, c, link)}"
    cv = f"p.{name.sql} = {literal(v)}"
    slips = [
        f"{base} WHERE p.{name.sql} <> {literal(v)}",
        base,
        f"SELECT {shown(label, 'c.')} FROM {joined(p, key, c, link)} WHERE {cv}",
        f"SELECT {shown(p.label(), 'p.')}, c.{k.sql} FROM {joined(p, key, c, link)} WHERE {cv}",
        f"{base} WHERE p.{name.sql} = {literal(a.other(name.distinct, v))}",
    ]
    return q, f"{base} WHERE {cv}", slips


OF_PAIR = [
    some_other_than,
    some_other_than,
    per_parent_on_average,
    last_of_each,
    parent_of_extreme,
    having_against_where,
    having_against_where,
    children_and_number,
    of_named_parent,
]
