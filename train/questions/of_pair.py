"""Templates of a parent and its children."""

from questions.ask import *


def joined(p, key, c, link, kind="JOIN"):
    return f"{p.sql} AS p {kind} {c.sql} AS c ON p.{key.sql} = c.{link.sql}"


def with_none(a, p, key, c, link):
    label = p.label()
    cols = shown(label, "p.")
    group = f"GROUP BY p.{key.sql}"
    also = a.one(
        [
            f"Include {a.many(p)} without any.",
            f"{a.many(p)} with none should show up with zero.",
            f"Also the ones that have no {a.many(c)}.",
            f"Don't leave out {a.many(p)} without {a.many(c)}.",
            f"Show 0 where there are none.",
            "Even if it is zero.",
        ]
    )
    q = a.one(
        [
            f"How many {a.many(c)} does each {a.single(p)} have? {also}",
            f"Number of {a.many(c)} for every {a.single(p)}. {also}",
            f"Count {a.many(c)} by {a.single(p)}. {also}",
        ]
    )
    right = f"SELECT {cols}, COUNT(c.{link.sql}) FROM {joined(p, key, c, link, 'LEFT JOIN')} {group}"
    return (
        q,
        right,
        [
            right.replace("LEFT JOIN", "JOIN"),
            right.replace("LEFT JOIN", "INNER JOIN"),
            right.replace(f"COUNT(c.{link.sql})", "COUNT(*)"),
            f"SELECT {cols}, COUNT(*) FROM {joined(p, key, c, link)} {group}",
            f"{right} HAVING COUNT(c.{link.sql}) > 0",
        ],
    )


def without(a, p, key, c, link):
    label = p.label()
    cols = shown(label)
    counted = a.rng.random() < 0.3
    what = "COUNT(*)" if counted else cols
    ask = "How many" if counted else "Which"
    q = a.one(
        [
            f"{ask} {a.many(p)} have no {a.many(c)} at all?",
            f"{ask} {a.many(p)} never had a {a.single(c)}?",
            f"{ask} {a.many(p)} are without any {a.single(c)}?",
            f"{ask} {a.many(p)} do not have a single {a.single(c)}?",
        ]
    )
    base = f"SELECT {what} FROM {p.sql}"
    of = f"SELECT {link.sql} FROM {c.sql}"
    more = f" WHERE {link.sql} IS NOT NULL"
    right = a.one(
        [
            f"{base} WHERE {key.sql} NOT IN ({of}{more})",
            f"{base} AS p WHERE NOT EXISTS (SELECT 1 FROM {c.sql} AS c WHERE c.{link.sql} = p.{key.sql})",
            f"SELECT {'COUNT(*)' if counted else shown(label, 'p.')} FROM {joined(p, key, c, link, 'LEFT JOIN')} WHERE "
            f"c.{link.sql} IS NULL",
        ]
    )
    return (
        q,
        right,
        [
            f"{base} WHERE {key.sql} IN ({of})",
            base,
            f"SELECT {'COUNT(*)' if counted else shown(label, 'p.')} FROM {joined(p, key, c, link)} WHERE p.{key.sql} "
            f"<> c.{link.sql}",
            f"SELECT {'COUNT(*)' if counted else shown(label, 'p.')} FROM {joined(p, key, c, link, 'LEFT JOIN')}",
        ],
    )


def never_with(a, p, key, c, link):
    k = a.one(c.of("is_category"))
    v = a.one(k.distinct)
    w = a.other(k.distinct, v)
    label = p.label()
    cols = shown(label)
    q = a.one(
        [
            f"Which {a.many(p)} never had a {a.single(c)} {condition(a, k, v)}?",
            f"{a.many(p)} without a single {a.single(c)} {condition(a, k, v)}",
            f"Which {a.many(p)} have no {a.single(c)} {condition(a, k, v)}?",
        ]
    )
    base = f"SELECT {cols} FROM {p.sql} WHERE {key.sql}"
    of = f"SELECT {link.sql} FROM {c.sql} WHERE {k.sql} = {literal(v)}"
    return (
        q,
        f"{base} NOT IN ({of})",
        [
            f"{base} IN ({of})",
            f"{base} IN (SELECT {link.sql} FROM {c.sql} WHERE {k.sql} <> {literal(v)})",
            f"SELECT DISTINCT {shown(label, 'p.')} FROM {joined(p, key, c, link)} WHERE c.{k.sql} <> {literal(v)}",
            f"{base} NOT IN (SELECT {link.sql} FROM {c.sql})",
            f"{base} NOT IN (SELECT {link.sql} FROM {c.sql} WHERE {k.sql} = {literal(w)})",
        ],
    )


def both_of(a, p, key, c, link):
    k = a.one(c.of("is_category"))
    v = a.one(k.distinct)
    w = a.other(k.distinct, v)
    label = p.label()
    cols = shown(label, "p.")
    base = f"SELECT {cols} FROM {joined(p, key, c, link)} WHERE c.{k.sql}"
    q = a.one(
        [
            f"Which {a.many(p)} have both a {a.single(c)} {condition(a, k, v)} and one of {w}?",
            f"{a.many(p)} with {a.many(c)} of {a.say(k.words)} {v} as well as {w}",
            f"Find {a.many(p)} that have {a.many(c)} in {v} and also in {w} ({a.say(k.words)}).",
        ]
    )
    inside = (f"SELECT {shown(label)} FROM {p.sql} WHERE {key.sql} IN (SELECT {link.sql} FROM {c.sql} WHERE {k.sql} = "
              f"{literal(v)}) AND {key.sql} IN (SELECT {link.sql} FROM {c.sql} WHERE {k.sql} = {literal(w)})")
    right = a.one([inside, f"{base} = {literal(v)} INTERSECT {base} = {literal(w)}"])
    return (
        q,
        right,
        [
            f"{base} = {literal(v)} UNION {base} = {literal(w)}",
            f"SELECT DISTINCT {cols} FROM {joined(p, key, c, link)} WHERE c.{k.sql} IN ({literal(v)}, {literal(w)})",
            f"{base} = {literal(v)} AND c.{k.sql} = {literal(w)}",
            f"{base} = {literal(v)} EXCEPT {base} = {literal(w)}",
            inside.replace(") AND", ") OR"),
        ],
    )


def most_children(a, p, key, c, link):
    label = p.label()
    cols = shown(label, "p.")
    up = a.rng.random() < 0.7
    direction = "DESC" if up else "ASC"
    numbers = c.of("is_number")
    q_n = a.rng.random() < 0.3 and a.rng.randint(2, 5)
    limit = q_n or 1
    word = "most" if up else "fewest"
    q = a.one(
        [
            f"Which {a.number(q_n) + ' ' + a.many(p) + ' have' if q_n else a.single(p) + ' has'} the {word} "
            f"{a.many(c)}?",
            f"{a.single(p) if not q_n else a.number(q_n) + ' ' + a.many(p)} with the {'largest' if up else 'smallest'} "
            f"number of {a.many(c)}",
        ]
    )
    base = f"SELECT {cols} FROM {joined(p, key, c, link)} GROUP BY p.{key.sql} ORDER BY COUNT(*)"
    slips = [f"{base} {'ASC' if up else 'DESC'} LIMIT {limit}", f"{base} {direction} LIMIT {limit + 2}",
             f"{base} {direction}"]
    if len(label[0].distinct) < len(label[0].values):
        slips += [f"SELECT {cols} FROM {joined(p, key, c, link)} GROUP BY {cols} ORDER BY COUNT(*) {direction} LIMIT "
                  f"{limit}"]
    if numbers:
        n = a.one(numbers)
        slips += [
            f"SELECT {cols} FROM {joined(p, key, c, link)} ORDER BY c.{n.sql} {direction} LIMIT {limit}",
            base.replace("COUNT(*)", f"SUM(c.{n.sql})") + f" {direction} LIMIT {limit}",
        ]
    return q, f"{base} {direction} LIMIT {limit}", slips


def children_of(a, p, key, c, link):
    label = p.label()
    v = a.one(label[-1].distinct)
    w = a.other(label[-1].distinct, v)
    d = a.other(p.of("is_text"), *label)
    own = c.label()
    what = shown(own, "c.") if own else "COUNT(*)"
    q = (
        a.one([f"Which {a.many(c)} belong to {v}?", f"{a.many(c)} of the {a.single(p)} {v}",
               f"List all {a.many(c)} for {v}."])
        if own
        else a.one([f"How many {a.many(c)} does {v} have?", f"Number of {a.many(c)} of {a.single(p)} {v}"])
    )
    base = f"SELECT {what} FROM {joined(p, key, c, link)}"
    right = f"{base} WHERE p.{label[-1].sql} = {literal(v)}"
    return (
        q,
        right,
        [f"{base} WHERE p.{label[-1].sql} = {literal(w)}", base, f"{base} WHERE p.{label[-1].sql} <> {literal(v)}"]
        + ([f"{base} WHERE p.{d.sql} = {literal(v)}"] if d else []),
    )


def sum_of_children(a, p, key, c, link):
    n = a.one([x for x in c.of("is_number") if not x.is_year])
    label = p.label()
    cols = shown(label, "p.")
    f = a.one(["SUM", "AVG", "MAX"])
    word = {"SUM": a.one(["total", "combined"]), "AVG": a.one(["average", "mean"]), "MAX": "highest"}[f]
    q = a.one(
        [
            f"What is the {word} {a.say(n.words)} of each {a.single(p)}'s {a.many(c)}?",
            f"{word.capitalize()} {a.say(n.words)} of {a.many(c)} per {a.single(p)}",
            f"For every {a.single(p)}, the {word} {a.say(n.words)} over its {a.many(c)}",
        ]
    )
    base = f"FROM {joined(p, key, c, link)} GROUP BY p.{key.sql}"
    d = a.other(c.of("is_number"), n)
    return (
        q,
        f"SELECT {cols}, {f}(c.{n.sql}) {base}",
        [f"SELECT {cols}, {x}(c.{n.sql}) {base}" for x in ("SUM", "AVG", "MAX", "MIN", "COUNT") if x != f]
        + [f"SELECT {cols}, c.{n.sql} FROM {joined(p, key, c, link)}",
           f"SELECT {f}(c.{n.sql}) FROM {joined(p, key, c, link)}"]
        + ([f"SELECT {cols}, {f}(c.{d.sql}) {base}"] if d else []),
    )


def parents_with(a, p, key, c, link):
    k = a.one(c.of("is_category"))
    v = a.one(k.distinct)
    w = a.other(k.distinct, v)
    label = p.label()
    cond = condition(a, k, v)
    counted = a.rng.random() < 0.5
    base = f"FROM {joined(p, key, c, link)}"
    where = f"WHERE c.{k.sql} = {literal(v)}"
    if counted:
        q = a.one(
            [
                f"How many {a.many(p)} have at least one {a.single(c)} {cond}?",
                f"Number of {a.many(p)} that have a {a.single(c)} {cond}",
            ]
        )
        return (
            q,
            f"SELECT COUNT(DISTINCT p.{key.sql}) {base} {where}",
            [
                f"SELECT COUNT(*) {base} {where}",
                f"SELECT COUNT(p.{key.sql}) {base} {where}",
                f"SELECT COUNT(DISTINCT p.{key.sql}) {base}",
                f"SELECT COUNT(DISTINCT p.{key.sql}) {base} WHERE c.{k.sql} = {literal(w)}",
            ],
        )
    q = a.one([f"Which {a.many(p)} have a {a.single(c)} {cond}?",
               f"{a.many(p)} with at least one {a.single(c)} {cond}"])
    cols = shown(label, "p.")
    right = f"SELECT DISTINCT {cols} {base} {where}"
    return (
        q,
        right,
        [
            f"SELECT {cols} {base} {where}",
            f"SELECT DISTINCT {cols} {base}",
            right.replace(literal(v), literal(w)),
            right.replace(" = " + literal(v), " <> " + literal(v)),
        ],
    )


def n_children(a, p, key, c, link):
    n = a.rng.randint(1, 4)
    op = a.one([">", ">=", "=", "<"])
    label = p.label()
    cols = shown(label, "p.")
    bound = {"=": [f"exactly {a.number(n)}", f"just {a.number(n)}", f"only {a.number(n)}"]}.get(op) or [
        x.format(n=a.number(n)) for x in ABOVE[op][:3]
    ]
    q = a.one([f"Which {a.many(p)} have {a.one(bound)} {a.many(c)}?", f"{a.many(p)} with {a.one(bound)} {a.many(c)}"])
    base = f"SELECT {cols} FROM {joined(p, key, c, link)} GROUP BY p.{key.sql} HAVING COUNT(*)"
    return (
        q,
        f"{base} {op} {n}",
        [f"{base} {x} {n}" for x in (TWIN.get(op, ">="), TURNED.get(op, ">"))]
        + [f"SELECT DISTINCT {cols} FROM {joined(p, key, c, link)}", f"{base} {op} {n + 1}"],
    )


def best_of_each(a, p, key, c, link):
    n = a.one([x for x in c.of("is_number") if not x.is_year])
    own, label = c.label(), p.label()
    up = a.rng.random() < 0.6
    f = "MAX" if up else "MIN"
    word = a.one(["highest", "largest"] if up else ["lowest", "smallest"])
    if not own:
        return None
    q = a.one(
        [
            f"For each {a.single(p)}, which {a.single(c)} has the {word} {a.say(n.words)}?",
            f"The {a.single(c)} with the {word} {a.say(n.words)} of every {a.single(p)}",
        ]
    )
    cols = f"{shown(label, 'p.')}, {shown(own, 'c.')}"
    base = f"SELECT {cols} FROM {joined(p, key, c, link)}"
    right = f"{base} WHERE c.{n.sql} = (SELECT {f}(x.{n.sql}) FROM {c.sql} AS x WHERE x.{link.sql} = p.{key.sql})"
    return (
        q,
        right,
        [
            f"{base} ORDER BY c.{n.sql} {'DESC' if up else 'ASC'} LIMIT 1",
            f"{base} WHERE c.{n.sql} = (SELECT {f}({n.sql}) FROM {c.sql})",
            right.replace(f"{f}(", "MIN(" if up else "MAX("),
            base,
        ],
    )


def by_role(a, p, key, c, link):
    twin = next(
        (c.column(x[0]) for x in c.parents if x[1].lower() == p.name.lower() and x[0].lower() != link.name.lower()),
        None
    )
    label = p.label()
    if not twin or not label:
        return None
    role = re.sub(r" (id|code|key)$", "", link.words)
    v = a.one(label[-1].distinct)
    own = c.label()
    what = shown(own, "c.") if own else "COUNT(*)"
    q = a.one(
        [
            f"{'Which' if own else 'How many'} {a.many(c)} have {v} as {role}?",
            f"{'List' if own else 'Count'} the {a.many(c)} whose {role} is {v}.",
        ]
    )
    right = f"SELECT {what} FROM {joined(p, key, c, link)} WHERE p.{label[-1].sql} = {literal(v)}"
    swapped = f"SELECT {what} FROM {joined(p, key, c, twin)} WHERE p.{label[-1].sql} = {literal(v)}"
    return q, right, [swapped, swapped, right.split(" WHERE")[0]]


def parents_own(a, p, key, c, link):
    """A number of the parents that have a child. A join would count it once for each child."""
    n = a.one([x for x in p.of("is_number") if not x.is_year])
    f = a.one(["AVG", "SUM"])
    word = {"AVG": a.one(["average", "mean"]), "SUM": a.one(["total", "combined"])}[f]
    q = a.one(
        [
            f"What is the {word} {a.say(n.words)} of {a.many(p)} that have a {a.single(c)}?",
            f"{word} {a.say(n.words)} over {a.many(p)} with at least one {a.single(c)}",
        ]
    )
    right = f"SELECT {f}({n.sql}) FROM {p.sql} WHERE {key.sql} IN (SELECT {link.sql} FROM {c.sql})"
    slips = [f"SELECT {f}(p.{n.sql}) FROM {joined(p, key, c, link)}"] * 1 + [
        f"SELECT {f}({n.sql}) FROM {p.sql}",
        right.replace(f"{f}(", "SUM(" if f == "AVG" else "AVG("),
        right.replace(" IN (", " NOT IN ("),
    ]
    return q, right, slips


def only_with(a, p, key, c, link):
    k = a.one(c.of("is_category"))
    v = a.one(k.distinct)
    label, cond = p.label(), condition(a, k, v)
    q = a.one(
        [
            f"Which {a.many(p)} have only {a.many(c)} {cond}?",
            f"{a.many(p)} all of whose {a.many(c)} are {cond}",
            f"{a.many(p)} whose {a.many(c)} are exclusively {cond}",
        ]
    )
    of = f"SELECT {link.sql} FROM {c.sql} WHERE {k.sql}"
    base = f"SELECT {shown(label)} FROM {p.sql} WHERE {key.sql}"
    right = f"{base} IN ({of} = {literal(v)}) AND {key.sql} NOT IN ({of} <> {literal(v)})"
    slips = [
        f"{base} IN ({of} = {literal(v)})",
        f"SELECT DISTINCT {shown(label, 'p.')} FROM {joined(p, key, c, link)} WHERE c.{k.sql} = {literal(v)}",
        f"{base} NOT IN ({of} = {literal(v)})",
        f"{base} IN ({of} <> {literal(v)})",
    ]
    return q, right, slips


def children_where(a, p, key, c, link):
    """Conditions on both tables. A wrong query lacks one."""
    k, label = a.one(c.of("is_category")), p.label()
    v, x = a.one(label[-1].distinct), a.one(k.distinct)
    q = a.one(
        [
            f"How many {a.many(c)} {condition(a, k, x)} does {v} have?",
            f"Number of {v}'s {a.many(c)} {condition(a, k, x)}",
            f"Of the {a.many(c)} of {v}, how many are {condition(a, k, x)}?",
        ]
    )
    base = f"SELECT COUNT(*) FROM {joined(p, key, c, link)}"
    cp, ck = f"p.{label[-1].sql} = {literal(v)}", f"c.{k.sql} = {literal(x)}"
    slips = [
        f"{base} WHERE {cp}",
        f"{base} WHERE {ck}",
        f"{base} WHERE {cp} OR {ck}",
        f"{base} WHERE {cp} AND c.{k.sql} = {literal(a.other(k.distinct, x))}",
        f"{base} WHERE {cp} AND c.{k.sql} <> {literal(x)}",
    ]
    return q, f"{base} WHERE {cp} AND {ck}", slips


OF_PAIR = [
    with_none,
    with_none,
    with_none,
    without,
    never_with,
    both_of,
    most_children,
    children_of,
    sum_of_children,
    parents_with,
    parents_with,
    n_children,
    best_of_each,
    by_role,
    by_role,
    parents_own,
    only_with,
    children_where,
]
