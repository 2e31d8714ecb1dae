"""Templates of two tables that a third table connects."""

from questions.ask import *


def connections(tables):
    """Yields (one table, its key, the other table, its key, the connecting table, its link to the one, its link to the
    other)."""
    by_name = {t.name.lower(): t for t in tables}
    for between in tables:
        ends = []
        for column, parent, key in between.parents:
            t, link = by_name.get(parent.lower()), between.column(column)
            k = t and (t.column(key) if key else t.key[0] if len(t.key) == 1 else None)
            if t and k and link and t is not between and t.label() and t.n_rows > 1:
                ends.append((t, k, link))
        for x in ends:
            for y in ends:
                if x[0] is not y[0]:
                    yield x[0], x[1], y[0], y[1], between, x[2], y[2]


def chain(s, sk, o, ok, b, sl, ol):
    return f"{s.sql} AS s JOIN {b.sql} AS b ON s.{sk.sql} = b.{sl.sql} JOIN {o.sql} AS o ON b.{ol.sql} = o.{ok.sql}"


def others_of(a, *e):
    """Rows connected with a named row, in either direction."""
    s, sk, o, ok, b, sl, ol = e
    name = o.label()[-1]
    v = a.one(name.distinct)
    w = a.other(name.distinct, v)
    counted = a.rng.random() < 0.35
    what = f"COUNT(DISTINCT s.{sk.sql})" if counted else f"DISTINCT {shown(s.label(), 's.')}"
    ask = "How many" if counted else "Which"
    q = a.one(
        [
            f"{ask} {a.many(s)} are linked to {v}?",
            f"{ask} {a.many(s)} go with the {a.single(o)} {v}?",
            f"{ask} {a.many(s)} have to do with {v} by {a.single(b)}?",
            f"{ask} {a.many(s)} does the {a.single(o)} {v} have?",
        ]
    )
    base = f"SELECT {what} FROM {chain(*e)}"
    back = f"COUNT(DISTINCT o.{ok.sql})" if counted else f"DISTINCT {shown(o.label(), 'o.')}"
    slips = [
        base,
        f"{base} WHERE o.{name.sql} = {literal(w)}",
        f"{base} WHERE o.{name.sql} <> {literal(v)}",
        f"SELECT {back} FROM {chain(*e)} WHERE o.{name.sql} = {literal(v)}",
        f"{base} WHERE o.{name.sql} = {literal(v)}".replace(f"s.{sk.sql} = b.{sl.sql}", f"s.{sk.sql} = b.{ol.sql}"),
    ]
    if counted:
        slips.append(f"SELECT COUNT(DISTINCT o.{ok.sql}) FROM {chain(*e)}")
    return q, f"{base} WHERE o.{name.sql} = {literal(v)}", slips


def busiest(a, *e):
    s, sk, o, ok, b, sl, ol = e
    d, word = a.one([("DESC", "most"), ("DESC", "largest number of"), ("ASC", "fewest"), ("ASC", "smallest number of")])
    u = "ASC" if d == "DESC" else "DESC"
    q = a.one(
        [
            f"Which {a.single(s)} has the {word} {a.many(o)}?",
            f"{a.single(s)} with the {word} {a.many(o)}",
            f"Who has the {word} {a.many(o)} among {a.many(s)}?",
        ]
    )
    base = (f"SELECT {shown(s.label(), 's.')} FROM {s.sql} AS s JOIN {b.sql} AS b ON s.{sk.sql} = b.{sl.sql} GROUP BY "
            f"s.{sk.sql} ORDER BY")
    slips = [
        f"{base} COUNT(*) {u} LIMIT 1",
        f"SELECT {shown(o.label(), 'o.')} FROM {o.sql} AS o JOIN {b.sql} AS b ON o.{ok.sql} = b.{ol.sql} GROUP BY "
        f"o.{ok.sql} ORDER BY COUNT(*) {d} LIMIT 1",
        f"{base} COUNT(*) {d}",
        f"{base} MAX(b.{ol.sql}) {d} LIMIT 1",
    ]
    return q, f"{base} COUNT(*) {d} LIMIT 1", slips


def with_condition_beyond(a, *e):
    """A condition on each end. In a wrong query, one is missing or on the wrong end."""
    s, sk, o, ok, b, sl, ol = e
    k, l = a.one(s.of("is_category")), a.one(o.of("is_category"))
    v, w = a.one(k.distinct), a.one(l.distinct)
    q = a.one(
        [
            f"How many {a.many(s)} {condition(a, k, v)} are there for {a.many(o)} {condition(a, l, w)}?",
            f"Number of {a.many(s)} {condition(a, k, v)} that go with {a.many(o)} {condition(a, l, w)}",
        ]
    )
    base = f"SELECT COUNT(DISTINCT s.{sk.sql}) FROM {chain(*e)} WHERE"
    cv, cw = f"s.{k.sql} = {literal(v)}", f"o.{l.sql} = {literal(w)}"
    slips = [
        f"{base} {cv}",
        f"{base} {cw}",
        f"{base} {cv} OR {cw}",
        f"{base} {cv} AND {cw}".replace("DISTINCT ", ""),
        f"{base} {cv} AND o.{l.sql} <> {literal(w)}",
    ]
    return q, f"{base} {cv} AND {cw}", slips


OF_CONNECTION = [others_of, others_of, busiest, with_condition_beyond]
