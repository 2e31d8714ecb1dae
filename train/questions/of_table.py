"""Templates of one table."""

from questions.ask import *


def count_where(a, t):
    c = a.one(t.of("is_category"))
    v = a.one(c.distinct)
    w = a.other(c.distinct, v)
    d = a.other(t.of("is_category"), c)
    many = a.many(t)
    cond = condition(a, c, v)
    q = a.one(
        [
            f"How many {many} are there {cond}?",
            f"Number of {many} {cond}",
            f"Count the {many} {cond}.",
            f"{many} {cond}, how many do we have?",
        ]
    )
    right = f"SELECT COUNT(*) FROM {t.sql} WHERE {c.sql} = {literal(v)}"
    slips = [
        f"SELECT COUNT(*) FROM {t.sql} WHERE {c.sql} = {literal(w)}",
        f"SELECT COUNT(*) FROM {t.sql}",
        f"SELECT COUNT(DISTINCT {c.sql}) FROM {t.sql}",
        f"SELECT COUNT(*) FROM {t.sql} WHERE {c.sql} <> {literal(v)}",
    ]
    if d:
        slips += [
            f"SELECT COUNT(*) FROM {t.sql} WHERE {d.sql} = {literal(v)}",
            f"{right} AND {d.sql} = {literal(a.one(d.distinct))}",
        ]
    return q, right, slips


def list_compared(a, t):
    c = a.one([x for x in t.of("is_number") if not x.is_year])
    label = t.label()
    n = a.one(sorted(c.distinct)[1:-1])
    op = a.one(list(ABOVE))
    d = a.other(t.of("is_number"), c)
    bound = a.one(ABOVE[op]).format(n=a.number(n))
    many = a.many(t)
    q = a.one(
        [
            f"Which {many} have a {a.say(c.words)} of {bound}?",
            f"List the {many} with {bound} in {a.say(c.words)}.",
            f"Show me {many} whose {a.say(c.words)} is {bound}",
            f"What are the names of {many} with {a.say(c.words)} {bound}?",
        ]
    )
    right = f"SELECT {shown(label)} FROM {t.sql} WHERE {c.sql} {op} {n}"
    slips = [right.replace(f" {op} ", f" {x} ") for x in (TWIN[op], TURNED[op], "=")]
    slips += [f"SELECT {shown(label)} FROM {t.sql}", f"SELECT COUNT(*) FROM {t.sql} WHERE {c.sql} {op} {n}"]
    if d:
        slips += [f"SELECT {shown(label)} FROM {t.sql} WHERE {d.sql} {op} {n}"]
    return q, right, slips


def extreme(a, t):
    c = a.one([x for x in t.of("is_number") + t.of("is_text_number") if not x.is_year])
    label = t.label()
    up = a.rng.random() < 0.5
    d = a.other(t.of("is_number"), c)
    short = c.words.split()[-1]
    direction = "DESC" if up else "ASC"
    word = (HIGH if up else LOW).get(short)
    says = a.say(c.words)
    plain = a.one(["highest", "greatest", "largest", "biggest", "top"] if up
                  else ["lowest", "smallest", "least", "minimum"])
    q = a.one(
        [f"Which {a.single(t)} has the {plain} {says}?", f"Name of the {a.single(t)} with the {plain} {says}"]
        + ([f"What is the {word} {a.single(t)}?", f"Who or what is our {word} {a.single(t)}?"] if word else [])
    )
    key = f"CAST({c.sql} AS REAL)" if c.is_text_number else c.sql
    where = f" WHERE {c.sql} IS NOT NULL" if c.n_null or a.rng.random() < 0.3 else ""
    right = f"SELECT {shown(label)} FROM {t.sql}{where} ORDER BY {key} {direction} LIMIT 1"
    slips = [
        right.replace(f" {direction} LIMIT", f" {'ASC' if up else 'DESC'} LIMIT"),
        right.replace("LIMIT 1", "LIMIT 3"),
        right.replace(" LIMIT 1", ""),
        f"SELECT {'MAX' if up else 'MIN'}({c.sql}) FROM {t.sql}",
    ]
    if c.n_null:
        slips += [right.replace(where, "")] * 2
    if c.is_text_number:
        slips += [right.replace(key, c.sql)] * 2
    if d:
        slips += [right.replace(key, d.sql)]
    return q, right, slips


def top_n(a, t):
    c = a.one([x for x in t.of("is_number") if not x.is_year])
    label = t.label()
    n = a.rng.randint(2, 6)
    up = a.rng.random() < 0.6
    direction = "DESC" if up else "ASC"
    d = a.other(t.of("is_number"), c)
    says, many = a.say(c.words), a.many(t)
    number = a.number(n)
    nth = {2: "second", 3: "third", 4: "fourth"}.get(n)
    where = f" WHERE {c.sql} IS NOT NULL" if c.n_null else ""
    base = f"SELECT {shown(label)} FROM {t.sql}{where} ORDER BY {c.sql} {direction}"
    if nth and a.rng.random() < 0.4:
        q = a.one(
            [
                f"Which {a.single(t)} has the {nth} {'highest' if up else 'lowest'} {says}?",
                f"{nth.capitalize()} {'largest' if up else 'smallest'} {a.single(t)} by {says}?",
            ]
        )
        return (q, f"{base} LIMIT 1 OFFSET {n - 1}",
                [f"{base} LIMIT 1", f"{base} LIMIT {n}", f"{base} LIMIT 1 OFFSET {n}"])
    word = a.one(["highest", "greatest", "largest"] if up else ["lowest", "smallest"])
    q = a.one(
        [
            f"Give me the {number} {many} with the {word} {says}.",
            f"{'Top' if up else 'Bottom'} {n} {many} by {says}",
            f"Which {number} {many} have the {word} {says}?",
        ]
    )
    slips = [
        f"{base} LIMIT 1",
        f"{base} LIMIT {n + 1}",
        base.replace(f" {direction}", " ASC" if up else " DESC") + f" LIMIT {n}",
        base,
    ]
    if d:
        slips += [base.replace(f"BY {c.sql}", f"BY {d.sql}") + f" LIMIT {n}"]
    return q, f"{base} LIMIT {n}", slips


def aggregate(a, t):
    c = a.one([x for x in t.of("is_number") if not x.is_year])
    d = a.other(t.of("is_number"), c)
    says, many = a.say(c.words), a.many(t)
    kind = a.one(["AVG", "SUM", "MAX", "MIN"])
    word = {
        "AVG": ["average", "mean", "typical"],
        "SUM": ["total", "combined", "overall"],
        "MAX": ["highest", "maximum", "largest"],
        "MIN": ["lowest", "minimum", "smallest"],
    }[kind]
    categories = t.of("is_category")
    cond = where = ""
    more = []
    if categories and a.rng.random() < 0.5:
        k = a.one(categories)
        v = a.one(k.distinct)
        w = a.other(k.distinct, v)
        cond, where = " " + condition(a, k, v), f" WHERE {k.sql} = {literal(v)}"
        more = [f"SELECT {kind}({c.sql}) FROM {t.sql}",
                f"SELECT {kind}({c.sql}) FROM {t.sql} WHERE {k.sql} = {literal(w)}"]
    q = a.one(
        [
            f"What is the {a.one(word)} {says} of {many}{cond}?",
            f"{a.one(word).capitalize()} {says} across all {many}{cond}",
            f"What {says} do {many}{cond} have "
            f"{'on average' if kind == 'AVG' else 'in total' if kind == 'SUM' else 'at ' + ('most' if kind == 'MAX' else 'least')}?",
        ]
    )
    right = f"SELECT {kind}({c.sql}) FROM {t.sql}{where}"
    slips = ([f"SELECT {x}({c.sql}) FROM {t.sql}{where}" for x in ("AVG", "SUM", "MAX", "MIN", "COUNT") if x != kind]
             + more)
    if d:
        slips += [f"SELECT {kind}({d.sql}) FROM {t.sql}{where}"]
    return q, right, slips


def how_many_kept(a, t):
    """A column that holds a number of things. The answer is the sum of the column, not the number of rows."""
    c = a.one(
        [
            x
            for x in t.of("is_number")
            if not x.is_year
            and re.search(
                r"num|count|total|quantity|capacity|population|attendance|employees|votes|seats|stock|amount",
                x.name, re.I
            )
        ]
    )
    says = re.sub(r"^(number|num|count|total) (of )?", "", c.words)
    says = plural(says) if not re.search("population|attendance|stock|amount|quantity|capacity", says) else says
    q = a.one(
        [
            f"How many {says} are there over all {a.many(t)}?",
            f"How many {says} do the {a.many(t)} have altogether?",
            f"Total {says} of all {a.many(t)} put together",
        ]
    )
    return (
        q,
        f"SELECT SUM({c.sql}) FROM {t.sql}",
        [
            f"SELECT COUNT({c.sql}) FROM {t.sql}",
            f"SELECT COUNT(*) FROM {t.sql}",
            f"SELECT COUNT(DISTINCT {c.sql}) FROM {t.sql}",
            f"SELECT MAX({c.sql}) FROM {t.sql}",
        ],
    )


def count_different(a, t):
    c = a.one(t.of("is_category"))
    d = a.other(t.of("is_category"), c)
    says = plural(a.say(c.words))
    q = a.one(
        [
            f"How many different {says} occur among the {a.many(t)}?",
            f"How many distinct {says} do we have for {a.many(t)}?",
            f"In how many {says} are there {a.many(t)}?",
            f"Number of unique {says} of {a.many(t)}",
        ]
    )
    slips = [f"SELECT COUNT({c.sql}) FROM {t.sql}", f"SELECT COUNT(*) FROM {t.sql}",
             f"SELECT DISTINCT {c.sql} FROM {t.sql}"]
    if d:
        slips += [f"SELECT COUNT(DISTINCT {d.sql}) FROM {t.sql}"]
    return q, f"SELECT COUNT(DISTINCT {c.sql}) FROM {t.sql}", slips


def list_different(a, t):
    c = a.one(t.of("is_category"))
    d = a.other(t.of("is_category"), c)
    says = plural(a.say(c.words))
    q = a.one(
        [
            f"What {says} are there among {a.many(t)}, each once?",
            f"List the different {says} of the {a.many(t)}.",
            f"All {says} of {a.many(t)}, no repeats please",
        ]
    )
    slips = [
        f"SELECT {c.sql} FROM {t.sql}",
        f"SELECT COUNT(DISTINCT {c.sql}) FROM {t.sql}",
        f"SELECT {c.sql}, COUNT(*) FROM {t.sql} GROUP BY {c.sql}",
    ]
    if d:
        slips += [f"SELECT DISTINCT {d.sql} FROM {t.sql}"]
    return q, f"SELECT DISTINCT {c.sql} FROM {t.sql}", slips


def per_group(a, t):
    c = a.one(t.of("is_category"))
    d = a.other(t.of("is_category"), c)
    numbers = t.of("is_number")
    says = a.say(c.words)
    if numbers and a.rng.random() < 0.5:
        n = a.one(numbers)
        f = a.one(["AVG", "SUM", "MAX"])
        word = {"AVG": "average", "SUM": "total", "MAX": "highest"}[f] + " " + a.say(n.words)
        value = f"{f}({n.sql})"
        more = [f"SELECT {c.sql}, {x}({n.sql}) FROM {t.sql} GROUP BY {c.sql}" for x in ("AVG", "SUM", "MIN", "COUNT")
                if x != f]
    else:
        word, value, more = (
            f"number of {a.many(t)}",
            "COUNT(*)",
            [f"SELECT {c.sql}, COUNT(DISTINCT {d.sql}) FROM {t.sql} GROUP BY {c.sql}"] if d else [],
        )
    q = a.one(
        [
            f"For every {says}, what is the {word}{'' if value == 'COUNT(*)' else ' of ' + a.many(t)}?",
            f"Break the {word} down by {says}.",
            f"{word.capitalize()} per {says}",
            f"Give me the {word} by {says}.",
        ]
    )
    slips = [f"SELECT {value} FROM {t.sql}"] + more
    if d:
        slips += [
            f"SELECT {d.sql}, {value} FROM {t.sql} GROUP BY {d.sql}",
            f"SELECT {c.sql}, {value} FROM {t.sql} GROUP BY {c.sql}, {d.sql}",
        ]
    return q, f"SELECT {c.sql}, {value} FROM {t.sql} GROUP BY {c.sql}", slips


def groups_with(a, t):
    c = a.one(t.of("is_category"))
    counts = sorted({c.values.count(v) for v in c.distinct})
    n = a.one(counts[:-1] or counts)
    op = a.one([">", ">=", ">="])
    d = a.other(t.of("is_category"), c)
    if n == 1 and op == ">":
        bound = a.one(["more than one", "several", "at least two"])
    elif n < 2:
        n, bound = 2, a.one(["at least two", "two or more"])
    else:
        bound = a.one(ABOVE[op]).format(n=a.number(n))
    if n == 2 and "two" in bound:
        op = ">="
    q = a.one(
        [
            f"Which {plural(a.say(c.words))} have {bound} {a.many(t)}?",
            f"{plural(a.say(c.words)).capitalize()} that occur for {bound} {a.many(t)}",
            f"In which {plural(a.say(c.words))} do we find {bound} {a.many(t)}?",
        ]
    )
    base = f"SELECT {c.sql} FROM {t.sql} GROUP BY {c.sql} HAVING COUNT(*)"
    slips = [f"{base} {TWIN[op]} {n}", f"{base} {TURNED[op]} {n}", f"{base} = {n}",
             f"SELECT DISTINCT {c.sql} FROM {t.sql}"]
    if d:
        slips += [f"SELECT {d.sql} FROM {t.sql} GROUP BY {d.sql} HAVING COUNT(*) {op} {n}"]
    number = a.other(t.of("is_number"))
    if number:
        slips += [f"SELECT {c.sql} FROM {t.sql} WHERE {number.sql} {op} {n}"]
    return q, f"{base} {op} {n}", slips


def share(a, t):
    c = a.one(t.of("is_category"))
    v = a.one(c.distinct)
    w = a.other(c.distinct, v)
    cond = condition(a, c, v)
    hit = f"SUM(CASE WHEN {c.sql} = {literal(v)} THEN 1 ELSE 0 END)"
    if a.rng.random() < 0.35:
        other = f"SUM(CASE WHEN {c.sql} = {literal(w)} THEN 1 ELSE 0 END)"
        q = a.one(
            [
                f"What is the ratio of {v} to {w} among the {a.many(t)}?",
                f"How many {v} are there for each {w} in terms of {a.many(t)}' {a.say(c.words)}, as a ratio?",
            ]
        )
        return (
            q,
            f"SELECT CAST({hit} AS REAL) / {other} FROM {t.sql}",
            [
                f"SELECT CAST({other} AS REAL) / {hit} FROM {t.sql}",
                f"SELECT {hit} / {other} FROM {t.sql}",
                f"SELECT CAST({hit} AS REAL) / COUNT(*) FROM {t.sql}",
            ]
            * 2,
        )
    q = a.one(
        [
            f"What percentage of {a.many(t)} are {cond.replace('with ', 'with ')}?",
            f"Percentage of all {a.many(t)} {cond}",
            f"How many percent of the {a.many(t)} are those {cond}?",
        ]
    )
    right = a.one(
        [
            f"SELECT 100.0 * {hit} / COUNT(*) FROM {t.sql}",
            f"SELECT CAST({hit} AS REAL) * 100 / COUNT(*) FROM {t.sql}",
            f"SELECT SUM({c.sql} = {literal(v)}) * 100.0 / COUNT(*) FROM {t.sql}",
        ]
    )
    return (
        q,
        right,
        [
            f"SELECT {hit} * 100 / COUNT(*) FROM {t.sql}",
            f"SELECT {hit} / COUNT(*) * 100 FROM {t.sql}",
            f"SELECT 100.0 * COUNT(*) / {hit} FROM {t.sql}",
            right.replace(literal(v), literal(w)),
            f"SELECT {hit} FROM {t.sql}",
            f"SELECT 1.0 * {hit} / COUNT(*) FROM {t.sql}",
        ],
    )


def two_conditions(a, t):
    c = a.one(t.of("is_category"))
    v = a.one(c.distinct)
    w = a.other(c.distinct, v)
    label = t.label()
    many = a.many(t)
    way = a.one(["and", "or", "either", "not", "neither"])
    base = f"SELECT {shown(label)} FROM {t.sql} WHERE"
    cv, cw = f"{c.sql} = {literal(v)}", f"{c.sql} = {literal(w)}"
    says = a.say(c.words)
    if way in ("and", "or"):
        n = a.one([x for x in t.of("is_number")])
        m = a.one(sorted(n.distinct)[1:-1])
        op = a.one([">", "<"])
        bound = a.one(ABOVE[op]).format(n=a.number(m))
        cn = f"{n.sql} {op} {m}"
        q = f"Which {many} have {says} {v} {way} {a.say(n.words)} {bound}?"
        joined = {"and": "AND", "or": "OR"}
        return (
            q,
            f"{base} {cv} {joined[way]} {cn}",
            [
                f"{base} {cv} {'OR' if way == 'and' else 'AND'} {cn}",
                f"{base} {cv}",
                f"{base} {cn}",
                f"{base} {cw} {joined[way]} {cn}",
            ],
        )
    if way == "either":
        q = a.one([f"{many} whose {says} is either {v} or {w}", f"Show {many} with {says} {v} or {w}."])
        return (
            q,
            a.one([f"{base} {cv} OR {cw}", f"{base} {c.sql} IN ({literal(v)}, {literal(w)})"]),
            [f"{base} {cv}", f"{base} {cv} AND {cw}", f"{base} NOT ({cv} OR {cw})"],
        )
    if way == "not":
        q = a.one(
            [
                f"All {many} except those with {says} {v}",
                f"{many} whose {says} is anything other than {v}",
                f"Which {many} are not of {says} {v}?",
            ]
        )
        return (
            q,
            f"{base} {c.sql} <> {literal(v)}",
            [f"{base} {cv}", f"{base} {c.sql} <> {literal(w)}", f"SELECT {shown(label)} FROM {t.sql}"],
        )
    q = a.one([f"{many} whose {says} is neither {v} nor {w}", f"Leave out {says} {v} and {w}: which {many} remain?"])
    return (
        q,
        f"{base} {c.sql} NOT IN ({literal(v)}, {literal(w)})",
        [
            f"{base} {c.sql} <> {literal(v)} OR {c.sql} <> {literal(w)}",
            f"{base} {c.sql} IN ({literal(v)}, {literal(w)})",
            f"{base} {c.sql} <> {literal(v)}",
        ],
    )


def in_time(a, t):
    label = t.label()
    many = a.many(t)
    counted = a.rng.random() < 0.5
    what = "COUNT(*)" if counted else shown(label)
    ask = "How many" if counted else "Which"
    dates = t.of("is_date")
    years = t.of("is_year")
    if dates and (not years or a.rng.random() < 0.6):
        c = a.one(dates)
        v = a.one(c.values)
        year, month, day = v[:4], v[5:7], v[8:10]
        d = a.other(dates, c)
        if a.rng.random() < 0.5:
            says = MONTHS[max(1, int(month)) - 1]
            right = f"strftime('%m', {c.sql}) = '{month}'"
            wrong = [f"strftime('%d', {c.sql}) = '{month}'", f"strftime('%Y', {c.sql}) = '{month}'",
                     f"{c.sql} = '{month}'"]
            q = f"{ask} {many} have a {a.say(c.words)} in {says}?"
        else:
            op = a.one(["=", ">", ">=", "<", "<="])
            says = year if op == "=" else ""
            phrase = f"in {year}" if op == "=" else a.one(TIMES[op]).format(n=year)
            right = f"strftime('%Y', {c.sql}) {op} '{year}'"
            wrong = [right.replace(f" {op} ", f" {x} ") for x in ("=", TWIN.get(op, "<"), TURNED.get(op, ">"))] + [
                f"strftime('%m', {c.sql}) {op} '{year}'"
            ]
            q = f"{ask} {many} have a {a.say(c.words)} {phrase}?"
        wrong += ["1 = 1"] + ([right.replace(c.sql, d.sql)] if d else [])
    else:
        c = a.one(years)
        n = a.one(c.values)
        op = a.one(["=", ">", ">=", "<", "<="])
        d = a.other(t.of("is_number"), c)
        phrase = f"in {n}" if op == "=" else a.one(TIMES[op]).format(n=n)
        right = f"{c.sql} {op} {n}"
        wrong = (
            [f"{c.sql} {x} {n}" for x in ("=", TWIN.get(op, "<"), TURNED.get(op, ">")) if x != op]
            + ["1 = 1"]
            + ([f"{d.sql} {op} {n}"] if d else [])
        )
        q = f"{ask} {many} have a {a.say(c.words)} {phrase}?"
    base = f"SELECT {what} FROM {t.sql}"
    return q, f"{base} WHERE {right}", [base if w == "1 = 1" else f"{base} WHERE {w}" for w in wrong]


def columns(a, t):
    fields = [c for c in t.columns if (c.is_text or c.is_number or c.is_date) and 2 < len(c.words) < 30]
    label = t.label()
    rest = [c for c in fields if c not in label]
    x = a.one(rest)
    y = a.other(rest, x)
    many = a.many(t)
    full = len(label) == 2
    if full and a.rng.random() < 0.5:
        q = a.one(
            [
                f"Give the full name and {a.say(x.words)} of each {a.single(t)}.",
                f"What are the {many}' full names and {a.say(x.words)}?",
            ]
        )
        return (
            q,
            f"SELECT {shown(label)}, {x.sql} FROM {t.sql}",
            [
                f"SELECT {label[0].sql}, {x.sql} FROM {t.sql}",
                f"SELECT {label[1].sql}, {x.sql} FROM {t.sql}",
                f"SELECT {shown(label)} FROM {t.sql}",
            ]
            + ([f"SELECT {shown(label)}, {y.sql} FROM {t.sql}"] if y else []),
        )
    q = a.one(
        [
            f"Show the {a.say(x.words)} and {a.say(y.words)} of all {many}.",
            f"For every {a.single(t)}: {a.say(x.words)} and {a.say(y.words)}",
            f"List {a.say(x.words)} along with {a.say(y.words)} for the {many}.",
        ]
    )
    z = a.other(rest, x, y)
    return (
        q,
        f"SELECT {x.sql}, {y.sql} FROM {t.sql}",
        [f"SELECT {x.sql} FROM {t.sql}", f"SELECT DISTINCT {y.sql} FROM {t.sql}"]
        + (
            [
                f"SELECT {x.sql}, {z.sql} FROM {t.sql}",
                f"SELECT {z.sql}, {y.sql} FROM {t.sql}",
                f"SELECT {x.sql}, {y.sql}, {z.sql} FROM {t.sql}",
            ]
            if z
            else []
        ),
    )


def sorted_list(a, t):
    c = a.one(t.of("is_number") + t.of("is_date"))
    d = a.other(t.of("is_number") + t.of("is_date"), c)
    label = t.label()
    up = a.rng.random() < 0.5
    direction = "ASC" if up else "DESC"
    order = a.one(
        ["from lowest to highest", "in ascending order", "smallest first", "going up"]
        if up
        else ["from highest to lowest", "in descending order", "largest first", "going down"]
    )
    if c.is_date:
        order = a.one(
            ["oldest first", "earliest first", "in chronological order"]
            if up
            else ["newest first", "latest first", "most recent first"]
        )
    q = a.one(
        [
            f"List the {a.many(t)} by {a.say(c.words)}, {order}.",
            f"{a.many(t)} sorted on {a.say(c.words)} {order}",
            (
                f"Show all {a.many(t)} {order} of {a.say(c.words)}"
                if "order" not in order
                else f"Show all {a.many(t)} {order} of {a.say(c.words)}"
            ),
        ]
    )
    base = f"SELECT {shown(label)} FROM {t.sql} ORDER BY"
    return (
        q,
        f"{base} {c.sql} {direction}",
        [f"{base} {c.sql} {'DESC' if up else 'ASC'}", f"SELECT {shown(label)} FROM {t.sql}"]
        + ([f"{base} {d.sql} {direction}"] if d else []),
    )


def not_recorded(a, t):
    c = a.one([x for x in t.columns if x.n_null and x.values and len(x.words) > 2])
    label = t.label()
    says = a.say(c.words)
    missing = a.rng.random() < 0.6
    test = "IS NULL" if missing else "IS NOT NULL"
    q = a.one(
        [
            f"Which {a.many(t)} have no {says} on record?",
            f"{a.many(t)} whose {says} is unknown",
            f"For which {a.many(t)} is the {says} missing?",
        ]
        if missing
        else [
            f"Which {a.many(t)} have a known {says}?",
            f"{a.many(t)} with a {says} on record",
            f"{a.many(t)} for which some {says} is filled in",
        ]
    )
    base = f"SELECT {shown(label)} FROM {t.sql}"
    return (
        q,
        f"{base} WHERE {c.sql} {test}",
        [
            f"{base} WHERE {c.sql} {'IS NOT NULL' if missing else 'IS NULL'}",
            f"{base} WHERE {c.sql} = 'null'",
            f"{base} WHERE {c.sql} = ''",
            base,
        ],
    )


def above_average(a, t):
    c = a.one([x for x in t.of("is_number") if not x.is_year])
    d = a.other(t.of("is_number"), c)
    label = t.label()
    up = a.rng.random() < 0.6
    op = ">" if up else "<"
    q = a.one(
        [
            f"Which {a.many(t)} are {'above' if up else 'below'} average in {a.say(c.words)}?",
            f"{a.many(t)} with a {'higher' if up else 'lower'} {a.say(c.words)} than the average",
            f"{a.many(t)} whose {a.say(c.words)} is {'more' if up else 'less'} than the mean",
        ]
    )
    right = f"SELECT {shown(label)} FROM {t.sql} WHERE {c.sql} {op} (SELECT AVG({c.sql}) FROM {t.sql})"
    slips = [
        right.replace(f" {op} ", f" {TURNED[op]} "),
        right.replace("AVG", "MAX" if not up else "MIN"),
        f"SELECT {shown(label)} FROM {t.sql}",
    ]
    if d:
        slips += [f"SELECT {shown(label)} FROM {t.sql} WHERE {d.sql} {op} (SELECT AVG({d.sql}) FROM {t.sql})"]
    return q, right, slips


def spread(a, t):
    c = a.one([x for x in t.of("is_number") if not x.is_year])
    d = a.other(t.of("is_number"), c)
    q = a.one(
        [
            f"How far apart are the highest and lowest {a.say(c.words)} of {a.many(t)}?",
            f"Difference between the largest and the smallest {a.say(c.words)} over all {a.many(t)}",
        ]
    )
    return (
        q,
        f"SELECT MAX({c.sql}) - MIN({c.sql}) FROM {t.sql}",
        [
            f"SELECT MIN({c.sql}) - MAX({c.sql}) FROM {t.sql}",
            f"SELECT MAX({c.sql}), MIN({c.sql}) FROM {t.sql}",
            f"SELECT MAX({c.sql}) - AVG({c.sql}) FROM {t.sql}",
        ]
        + ([f"SELECT MAX({d.sql}) - MIN({d.sql}) FROM {t.sql}"] if d else []),
    )


def number_in_text(a, t):
    c = a.one(t.of("is_text_number"))
    label = t.label()
    n = a.one(c.distinct)
    op = a.one([">", "<", ">=", "<="])
    bound = a.one(ABOVE[op]).format(n=n)
    q = a.one([f"Which {a.many(t)} have a {a.say(c.words)} of {bound}?", f"{a.many(t)} with {a.say(c.words)} {bound}"])
    base = f"SELECT {shown(label)} FROM {t.sql} WHERE"
    return (
        q,
        a.one([f"{base} CAST({c.sql} AS REAL) {op} {n}", f"{base} CAST({c.sql} AS INTEGER) {op} {n}"]),
        [
            f"{base} {c.sql} {op} '{n}'",
            f"{base} {c.sql} {op} {n}",
            f"{base} CAST({c.sql} AS REAL) {TWIN[op]} {n}",
            f"{base} CAST({c.sql} AS REAL) {TURNED[op]} {n}",
        ],
    )


def list_names(a, t):
    label = t.label()[-1]
    v = a.one([x for x in label.distinct if len(x) > 3])
    way = a.one(["start", "end", "contain"])
    part = v[:1].upper() if way == "start" else v[-2:] if way == "end" else a.one(v.split())
    pattern = {"start": f"{part}%", "end": f"%{part}", "contain": f"%{part}%"}
    says = {
        "start": ["starts with", "begins with", "starting with"],
        "end": ["ends in", "ends with", "ending with"],
        "contain": ["contains", "has the word", "includes"],
    }
    many = a.many(t)
    q = a.one(
        [
            f"Which {many} have a {label.words} that {a.one(says[way][:2])} {part}?",
            f"{many} whose {label.words} {a.one(says[way][:2])} '{part}'",
        ]
    )
    base = f"SELECT {label.sql} FROM {t.sql} WHERE {label.sql}"
    slips = [f"{base} LIKE {literal(x)}" for k, x in pattern.items() if k != way] + [f"{base} = {literal(part)}"]
    return q, f"{base} LIKE {literal(pattern[way])}", slips + [f"{base} NOT LIKE {literal(pattern[way])}"]


def between(a, t):
    c = a.one(t.of("is_number"))
    low, high = sorted(a.rng.sample(c.distinct, 2))
    label, says, many, strict = t.label(), a.say(c.words), a.many(t), a.rng.random() < 0.35
    phrase = a.one(
        ["strictly between {0} and {1}", "more than {0} but less than {1}", "between {0} and {1}, exclusive"]
        if strict
        else [
            "between {0} and {1}",
            "from {0} to {1}",
            "in the range {0} to {1}",
            "at least {0} and at most {1}",
            "no less than {0} and no more than {1}",
        ]
    )
    q = a.one([f"Which {many} have a {says} {phrase.format(low, high)}?",
               f"{many} with {says} {phrase.format(low, high)}"])
    base = f"SELECT {shown(label)} FROM {t.sql} WHERE"
    inside = f"{base} {c.sql} > {low} AND {c.sql} < {high}"
    closed = a.one([f"{base} {c.sql} BETWEEN {low} AND {high}", f"{base} {c.sql} >= {low} AND {c.sql} <= {high}"])
    right, twin = (inside, closed) if strict else (closed, inside)
    slips = [
        twin,
        f"{base} {c.sql} < {low} OR {c.sql} > {high}",
        f"{base} {c.sql} > {low} OR {c.sql} < {high}",
        f"{base} {c.sql} > {low}",
        f"{base} {c.sql} <= {high}",
    ]
    return q, right, slips


def by_value_form(a, t):
    """Values in words that the data do not use: women for F."""
    c, words = a.one([(x, SAID[k]) for x in t.columns for k in SAID if {str(v).lower() for v in x.distinct} == set(k)])
    values = sorted(c.distinct, key=lambda v: str(v).lower())
    side = a.rng.randint(0, 1)
    # The words of SAID are in the order of its key. Values are sorted like the keys, except girl and boy.
    if values[0].lower() == "boy":
        values.reverse()
    v, w, said = values[side], values[1 - side], a.one(words[side])
    counted, label = a.rng.random() < 0.5, t.label()
    people = said if said in ("women", "men", "ladies", "gentlemen", "girls", "boys") else f"{said} {a.many(t)}"
    q = a.one(
        [f"How many {people} are there?", f"Number of {people} among the {a.many(t)}"]
        if counted
        else [f"Which {a.many(t)} are {said}?", f"List all {people} of the {a.many(t)}."]
    )
    base = f"SELECT {'COUNT(*)' if counted else shown(label)} FROM {t.sql}"
    return (
        q,
        f"{base} WHERE {c.sql} = {literal(v)}",
        [
            f"{base} WHERE {c.sql} = {literal(w)}",
            base,
            f"{base} WHERE {c.sql} = {literal(said.capitalize())}",
            f"{base} WHERE {c.sql} <> {literal(v)}",
        ],
    )


def flagged(a, t):
    c, pair = a.one(
        [
            (x, f)
            for x in t.columns
            for f in FLAGS
            if len(x.distinct) == 2 and {str(v).lower() for v in x.distinct} == {str(v) for v in f}
        ]
    )
    yes = next(v for v in c.distinct if str(v).lower() == str(pair[1]))
    no = a.other(c.distinct, yes)
    says = re.sub(r"^(is|has) | (yn|yes no|flag|ind|indicator)$", "", c.words)
    wanted = a.rng.random() < 0.6
    counted, label = a.rng.random() < 0.5, t.label()
    what = "COUNT(*)" if counted else shown(label)
    ask = f"How many {a.many(t)}" if counted else f"Which {a.many(t)}"
    q = a.one(
        [f"{ask} are {says}?", f"{ask} are marked as {says}?", f"{ask} count as {says}?"]
        if wanted
        else [f"{ask} are not {says}?", f"{ask} are not marked as {says}?"]
    )
    base = f"SELECT {what} FROM {t.sql} WHERE {c.sql}"
    v, w = (yes, no) if wanted else (no, yes)
    return (
        q,
        f"{base} = {literal(v)}",
        [f"{base} = {literal(w)}", f"SELECT {what} FROM {t.sql}", f"{base} IS NOT NULL", f"{base} = {literal(says)}"],
    )


def in_other_units(a, t):
    c, said, factor = a.one(
        [
            (x, u[1], u[2])
            for x in t.of("is_number")
            for u in UNITS
            if re.search(rf"(^|_| )({u[0]})$", words_of(x.name))
            and (len(x.words.split()) > 1 or "dur" in x.name.lower())
        ]
    )
    n = a.one(sorted(c.distinct)[1:-1])
    k = max(1, round(n / factor)) if factor >= 1 else round(n / factor)
    op = a.one([">", "<", ">=", "<="])
    right_n = k * factor if factor < 1 else int(k * factor)
    label, bound = t.label(), a.one(ABOVE[op]).format(n=f"{a.number(k)} {said}")
    says = " ".join(c.words.split()[:-1]) or c.words
    q = a.one([f"Which {a.many(t)} have a {a.say(says)} of {bound}?", f"{a.many(t)} with {a.say(says)} {bound}"])
    base = f"SELECT {shown(label)} FROM {t.sql} WHERE {c.sql} {op}"
    right = f"{base} {k} * {factor}" if factor > 1 and a.rng.random() < 0.5 else f"{base} {right_n}"
    return (
        q,
        right,
        [
            f"{base} {k}",
            f"{base} {right_n * 10}",
            f"{base} {k / factor:g}",
            f"{base.replace(f' {op}', f' {TURNED[op]}')} {right_n}",
        ],
    )


def groups_by_average(a, t):
    c, n = a.one(t.of("is_category")), a.one([x for x in t.of("is_number") if not x.is_year])
    m, up, f = a.one(sorted(n.distinct)[1:-1]), a.rng.random() < 0.6, a.one(["AVG", "SUM", "MAX"])
    op, word = (
        (">" if up else "<"),
        {"AVG": a.one(["average", "mean", "typical"]), "SUM": a.one(["total", "combined"]),
         "MAX": a.one(["highest", "top"])}[
            f
        ],
    )
    bound = a.one(ABOVE[op][:5]).format(n=a.number(m))
    q = a.one(
        [
            f"In which {plural(a.say(c.words))} is the {word} {a.say(n.words)} of {a.many(t)} {bound}?",
            f"{plural(a.say(c.words))} whose {a.many(t)} have a {word} {a.say(n.words)} {bound}",
        ]
    )
    base = f"SELECT {c.sql} FROM {t.sql}"
    right = f"{base} GROUP BY {c.sql} HAVING {f}({n.sql}) {op} {m}"
    slips = [
        f"{base} WHERE {n.sql} {op} {m} GROUP BY {c.sql}",
        right.replace(f" {op} ", f" {TURNED[op]} "),
        f"{base} GROUP BY {c.sql} HAVING COUNT(*) {op} {m}",
    ]
    return q, right, slips + [right.replace(f"{f}(", f"{x}(") for x in ("AVG", "SUM", "MIN") if x != f]


def defined_term(a, t):
    """A term that only the evidence defines."""
    term, label, counted = a.one(TERMS), t.label(), a.rng.random() < 0.5
    numbers, categories = [x for x in t.of("is_number") if not x.is_year], t.of("is_category")
    if numbers and (not categories or a.rng.random() < 0.6):
        c = a.one(numbers)
        n, op = a.one(sorted(c.distinct)[1:-1]), a.one([">", "<", ">=", "<="])
        test, slips = f"{c.sql} {op} {n}", [f"{c.sql} {TURNED[op]} {n}", f"{c.sql} {TWIN[op]} {n}"]
        d = a.other(numbers, c)
        if d:
            slips.append(f"{d.sql} {op} {n}")
    else:
        c = a.one(categories)
        v = a.one(c.distinct)
        test, slips = (f"{c.sql} = {literal(v)}",
                       [f"{c.sql} <> {literal(v)}", f"{c.sql} = {literal(a.other(c.distinct, v))}"])
    evidence = a.one(
        [f"{term} {a.many(t)} refers to {test}", f"{term} means {test}", f"a {term} {a.single(t)} is one with {test}"]
    )
    q = a.one(
        [f"How many {term} {a.many(t)} are there?", f"Number of {term} {a.many(t)}"]
        if counted
        else [f"Which {a.many(t)} are {term}?", f"List the {term} {a.many(t)}."]
    )
    base = f"SELECT {'COUNT(*)' if counted else shown(label)} FROM {t.sql}"
    return q, f"{base} WHERE {test}", [base, *(f"{base} WHERE {x}" for x in slips)], evidence


def defined_ratio(a, t):
    numbers = [x for x in t.of("is_number") if not x.is_year]
    x, y = a.rng.sample(numbers, 2)
    label, term = t.label(), a.one(["efficiency", "yield", "intensity", "quotient", "index", "burden", "load factor"])
    evidence = a.one(
        [
            f"{term} = {x.name} / {y.name}",
            f"{term} refers to DIVIDE({x.name}, {y.name})",
            f"{term} is {x.name} divided by {y.name}",
        ]
    )
    word, direction = a.one([("highest", "DESC"), ("lowest", "ASC"), ("", "")])
    q = (
        f"Which {a.single(t)} has the {word} {term}?"
        if word
        else a.one([f"What is the {term} of every {a.single(t)}?", f"{term} per {a.single(t)}"])
    )
    made = [
        f"CAST({x.sql} AS REAL) / {y.sql}",
        f"CAST({y.sql} AS REAL) / {x.sql}",
        f"{x.sql} / {y.sql}",
        x.sql,
        y.sql,
        f"{x.sql} * {y.sql}",
    ]
    if word:
        sqls = [f"SELECT {shown(label)} FROM {t.sql} ORDER BY {e} {direction} LIMIT 1" for e in made] + [
            f"SELECT {shown(label)} FROM {t.sql} ORDER BY {made[0]} {'ASC' if direction == 'DESC' else 'DESC'} LIMIT 1"
        ]
    else:
        sqls = [f"SELECT {shown(label)}, {e} FROM {t.sql}" for e in made]
    return q, sqls[0], sqls[1:], evidence


OF_TABLE = [
    count_where,
    list_compared,
    extreme,
    extreme,
    top_n,
    aggregate,
    how_many_kept,
    how_many_kept,
    count_different,
    list_different,
    per_group,
    groups_with,
    share,
    share,
    two_conditions,
    in_time,
    in_time,
    columns,
    sorted_list,
    not_recorded,
    above_average,
    spread,
    number_in_text,
    number_in_text,
    list_names,
    between,
    by_value_form,
    by_value_form,
    flagged,
    flagged,
    in_other_units,
    in_other_units,
    groups_by_average,
    defined_term,
    defined_term,
    defined_ratio,
]
