#!/usr/bin/env python3
"""Questions with a right query and plausible slips, made from schemas and data alone.

  generate_questions.py --db-root DATABASES --db NAME ... | --dbs-of LOG.jsonl  [--each 64] [--seed 1] > generated.jsonl

The training questions of public datasets never say some things that users say every day: "including those without any",
"in March", "what share of", "the second highest", "also the ones with nothing recorded". What a verifier has not seen asked it
cannot judge, and forms of SQL that only ever stood in wrong queries (LEFT JOIN, CAST, IS NOT NULL) it takes for wrong. So
each template below asks such a thing of a table, or of a parent and its children, in the words of that schema with some of
them replaced by everyday ones, and brings the right query and the slips that people and models make.

One line a question, as in any log: {"id", "db", "question", "gold", "candidates": [{"sql"} ...]}. Candidates are slips; what
they are worth is found by execution, as everywhere, so a slip that happens to give the right rows counts as right.
The same arguments give the same lines.
"""

import argparse, collections, copy, json, os, random, re, sqlite3, sys

MONTHS = "January February March April May June July August September October November December".split()
NUMBERS = "zero one two three four five six seven eight nine ten".split()
# What people say for words that schemas use; several for one word are drawn from at random.
EVERYDAY = {
    "customer": ["client", "buyer"],
    "employee": ["staff member", "worker"],
    "instructor": ["teacher"],
    "student": ["pupil"],
    "salary": ["pay", "earnings"],
    "price": ["cost"],
    "cost": ["price"],
    "quantity": ["amount"],
    "location": ["place"],
    "country": ["nation"],
    "company": ["firm", "business"],
    "manager": ["boss"],
    "department": ["division"],
    "city": ["town"],
    "product": ["item"],
    "capacity": ["number of seats"],
    "attendance": ["turnout"],
    "population": ["number of inhabitants"],
    "height": ["tallness", "stature"],
    "weight": ["heaviness"],
    "duration": ["length of time"],
    "type": ["kind", "sort"],
    "category": ["class", "kind"],
    "gender": ["sex"],
    "sex": ["gender"],
    "phone": ["telephone number"],
    "address": ["street address"],
    "film": ["movie"],
    "movie": ["film"],
    "song": ["track"],
    "track": ["song"],
    "artist": ["musician"],
    "aircraft": ["plane"],
    "airport": ["airfield"],
    "book": ["title"],
    "author": ["writer"],
    "vehicle": ["car"],
    "doctor": ["physician"],
    "physician": ["doctor"],
    "apartment": ["flat"],
    "ship": ["vessel"],
    "store": ["shop"],
    "shop": ["store"],
    "revenue": ["turnover"],
    "budget": ["money set aside"],
    "rating": ["score"],
    "score": ["mark"],
    "status": ["state"],
    "nationality": ["home country"],
    "color": ["colour"],
    "language": ["tongue"],
}
HIGH = {
    "age": "oldest",
    "price": "most expensive",
    "cost": "most expensive",
    "height": "tallest",
    "weight": "heaviest",
    "population": "most populous",
    "salary": "best paid",
    "length": "longest",
    "distance": "farthest",
    "speed": "fastest",
    "duration": "longest",
    "size": "biggest",
    "capacity": "largest",
    "area": "largest",
    "budget": "best funded",
    "rating": "best rated",
    "score": "best scoring",
}
LOW = {
    "age": "youngest",
    "price": "cheapest",
    "cost": "cheapest",
    "height": "shortest",
    "weight": "lightest",
    "population": "least populous",
    "salary": "worst paid",
    "length": "shortest",
    "distance": "nearest",
    "speed": "slowest",
    "duration": "shortest",
    "size": "smallest",
    "capacity": "smallest",
    "area": "smallest",
    "rating": "worst rated",
    "score": "worst scoring",
}
ABOVE = {
    ">": ["more than {n}", "over {n}", "above {n}", "exceeding {n}", "greater than {n}", "higher than {n}", "beyond {n}"],
    ">=": ["at least {n}", "{n} or more", "no less than {n}", "{n} and up", "a minimum of {n}", "not under {n}", "{n} or higher"],
    "<": ["less than {n}", "under {n}", "below {n}", "lower than {n}", "short of {n}", "smaller than {n}"],
    "<=": [
        "at most {n}",
        "no more than {n}",
        "up to {n}",
        "{n} or less",
        "not exceeding {n}",
        "a maximum of {n}",
        "{n} or lower",
        "not over {n}",
    ],
}
TIMES = {
    ">": ["after {n}", "later than {n}"],
    ">=": ["since {n}", "from {n} on", "in {n} or later", "{n} onwards", "not before {n}"],
    "<": ["before {n}", "earlier than {n}", "prior to {n}"],
    "<=": ["up to and including {n}", "in {n} or earlier", "by the end of {n}", "before or in {n}", "not after {n}"],
}
TWIN = {">": ">=", ">=": ">", "<": "<=", "<=": "<"}
TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


# A unit in a column's name, and one that people use instead: (name in schemas, said unit, how many of the former it is).
UNITS = [
    (r"min(ute)?s?|duration", "hours", 60),
    (r"sec(ond)?s?", "minutes", 60),
    (r"ms|milliseconds", "seconds", 1000),
    (r"bytes", "megabytes", 1000000),
    (r"m|meters?|metres?", "kilometres", 1000),
    (r"km", "metres", 0.001),
    (r"kg", "grams", 0.001),
    (r"g|grams", "kilograms", 1000),
    (r"cm", "metres", 100),
    (r"millions?", "billion", 1000),
    (r"billions?", "million", 0.001),
    (r"thousands?", "million", 1000),
    (r"days", "weeks", 7),
    (r"months", "years", 12),
]
# What people say for the values of a two-valued column: (the values, in lower case) → words for each.
SAID = {
    ("f", "m"): (["women", "female", "ladies"], ["men", "male", "gentlemen"]),
    ("female", "male"): (["women", "ladies"], ["men", "gentlemen"]),
    ("girl", "boy"): (["female", "girls"], ["male", "boys"]),
}
FLAGS = [("n", "y"), ("no", "yes"), ("f", "t"), ("false", "true"), (0, 1), ("0", "1")]
TERMS = [
    "premium",
    "major",
    "small-scale",
    "flagged",
    "priority",
    "veteran",
    "top-tier",
    "light",
    "notable",
    "critical",
    "busy",
    "rich",
    "core",
    "modest",
]


# --- reading a schema ---


def words_of(name):
    name = re.sub(r"([a-z])([A-Z])", r"\1 \2", name).replace("_", " ").lower()
    return " ".join(w for w in re.findall(r"[a-z]+|\d+", name))


def singular(words):
    if words.endswith("ies") and len(words) > 4:
        return words[:-3] + "y"
    if re.search(r"(ss|us|is|news|series|species)$", words):
        return words
    if re.search(r"(ches|shes|xes|sses)$", words):
        return words[:-2]
    return words[:-1] if words.endswith("s") and len(words) > 3 else words


def plural(words):
    words = singular(words)
    if words.endswith("person"):
        return words[:-6] + "people"
    if re.search(r"[^aeiou]y$", words):
        return words[:-1] + "ies"
    if re.search(r"(s|x|ch|sh)$", words):
        return words + "es"
    return words if words in ("staff", "aircraft", "people", "series", "species", "news") else words + "s"


def quote(name):
    return (
        name
        if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.lower() not in RESERVED
        else '"' + name.replace('"', '""') + '"'
    )


RESERVED = set(
    "group order table index values from to where select check default primary key references transaction match rank all case end then else in is not".split()
)


def literal(value):
    return str(value) if isinstance(value, (int, float)) else "'" + str(value).replace("'", "''") + "'"


class Column:
    def __init__(self, table, name, kind, values, n_null):
        self.table, self.name, self.sql, self.kind = table, name, quote(name), kind.lower()
        self.values, self.n_null = values, n_null
        self.distinct = list(dict.fromkeys(values))
        stem = words_of(name)
        own = singular(words_of(table)).split()[-1] if words_of(table) else ""
        self.words = re.sub(rf"^{re.escape(own)}s? ", "", stem) or stem
        self.is_key = bool(
            re.search(
                r"(^|_)(id|code|key|uid|ssn|phone|zip|postal)s?($|_)|(^|_)(no|num|number)$|[a-z](ID|Id|Code|No)$", name, re.I
            )
        ) or name.lower().endswith("id")
        text = [v for v in values if isinstance(v, str)]
        self.is_number = (
            not self.is_key and len(self.distinct) > 2 and bool(values) and all(isinstance(v, (int, float)) for v in values)
        )
        self.is_year = self.is_number and all(isinstance(v, int) and 1700 < v < 2100 for v in values)
        self.is_date = len(text) == len(values) > 0 and all(re.match(r"\d{4}-\d\d-\d\d", v) for v in text)
        self.is_text_number = (
            len(text) == len(values) > 2 and not self.is_key and all(re.fullmatch(r"-?\d+(\.\d+)?", v) for v in text)
        )
        self.has_commas = (
            len(text) == len(values) > 2
            and all(re.fullmatch(r"\d{1,3}(,\d{3})*", v) for v in text)
            and any("," in v for v in text)
        )
        self.is_text = len(text) == len(values) > 0 and not self.is_date and not self.is_text_number
        short = [v for v in self.distinct if isinstance(v, str) and 0 < len(v) <= 24 and re.match(r"\w", v)]
        self.is_category = (
            self.is_text and not self.is_key and 1 < len(short) <= max(2, 0.7 * len(values)) and len(short) == len(self.distinct)
        )
        self.is_name = self.is_text and bool(re.search(r"name|title", name, re.I)) and len(self.distinct) > 2


class Table:
    def __init__(self, db, name, limit=3000):
        self.name, self.sql = name, quote(name)
        info = db.execute(f"PRAGMA table_info({self.sql})").fetchall()
        rows = db.execute(f"SELECT * FROM {self.sql} LIMIT {limit}").fetchall()
        self.n_rows = len(rows)
        self.columns = [
            Column(name, c[1], c[2] or "", [r[i] for r in rows if r[i] is not None], sum(r[i] is None for r in rows))
            for i, c in enumerate(info)
        ]
        self.key = [c for c, i in zip(self.columns, info) if i[5]]
        self.words = singular(words_of(name))
        self.parents = [(f[3], f[2], f[4]) for f in db.execute(f"PRAGMA foreign_key_list({self.sql})")]

    def column(self, name):
        return next((c for c in self.columns if name and c.name.lower() == name.lower()), None)

    def of(self, kind):
        linked = {p[0].lower() for p in self.parents} | {k.name.lower() for k in self.key}
        return [c for c in self.columns if getattr(c, kind) and c.name.lower() not in linked and 2 < len(c.words) < 30]

    def label(self):
        names = self.of("is_name")
        first, last = (
            next((c for c in names if re.search(p, c.name, re.I)), None) for p in ("first|fname", "last|lname|surname")
        )
        return [first, last] if first and last else names[:1]


# --- asking ---


class Ask:
    """One question in the making: random choices, and everyday words for those of the schema."""

    def __init__(self, rng):
        self.rng = rng

    def one(self, items):
        return self.rng.choice(items)

    def say(self, words):
        return " ".join(self.one(EVERYDAY[w]) if w in EVERYDAY and self.rng.random() < 0.4 else w for w in words.split())

    def many(self, table):
        return plural(self.say(table.words))

    def single(self, table):
        return self.say(table.words)

    def number(self, n):
        return (
            NUMBERS[n]
            if isinstance(n, int) and 0 <= n <= 10 and self.rng.random() < 0.5
            else f"{n:,}"
            if isinstance(n, int) and n > 9999 and self.rng.random() < 0.5
            else str(n)
        )

    def other(self, items, *known):
        rest = [i for i in items if i not in known]
        return self.one(rest) if rest else None


def shown(label, of=""):
    return ", ".join(of + c.sql for c in label)


def condition(a, column, value):
    return a.one(
        [
            f"with {a.say(column.words)} {value}",
            f"whose {a.say(column.words)} is {value}",
            f"that have {value} as their {a.say(column.words)}",
            f"of {a.say(column.words)} {value}",
            f"listed under {value} for {a.say(column.words)}",
        ]
    )


# Each template: (asker, table or parent and child) → question, right, [slips]; None where it does not fit.


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
    plain = a.one(["highest", "greatest", "largest", "biggest", "top"] if up else ["lowest", "smallest", "least", "minimum"])
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
        return q, f"{base} LIMIT 1 OFFSET {n - 1}", [f"{base} LIMIT 1", f"{base} LIMIT {n}", f"{base} LIMIT 1 OFFSET {n}"]
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
        more = [f"SELECT {kind}({c.sql}) FROM {t.sql}", f"SELECT {kind}({c.sql}) FROM {t.sql} WHERE {k.sql} = {literal(w)}"]
    q = a.one(
        [
            f"What is the {a.one(word)} {says} of {many}{cond}?",
            f"{a.one(word).capitalize()} {says} across all {many}{cond}",
            f"What {says} do {many}{cond} have {'on average' if kind == 'AVG' else 'in total' if kind == 'SUM' else 'at ' + ('most' if kind == 'MAX' else 'least')}?",
        ]
    )
    right = f"SELECT {kind}({c.sql}) FROM {t.sql}{where}"
    slips = [f"SELECT {x}({c.sql}) FROM {t.sql}{where}" for x in ("AVG", "SUM", "MAX", "MIN", "COUNT") if x != kind] + more
    if d:
        slips += [f"SELECT {kind}({d.sql}) FROM {t.sql}{where}"]
    return q, right, slips


def how_many_kept(a, t):
    """A column that holds a number of things: how many is its sum, not the count of rows."""
    c = a.one(
        [
            x
            for x in t.of("is_number")
            if not x.is_year
            and re.search(
                r"num|count|total|quantity|capacity|population|attendance|employees|votes|seats|stock|amount", x.name, re.I
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
    slips = [f"SELECT COUNT({c.sql}) FROM {t.sql}", f"SELECT COUNT(*) FROM {t.sql}", f"SELECT DISTINCT {c.sql} FROM {t.sql}"]
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
        more = [f"SELECT {c.sql}, {x}({n.sql}) FROM {t.sql} GROUP BY {c.sql}" for x in ("AVG", "SUM", "MIN", "COUNT") if x != f]
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
    slips = [f"{base} {TWIN[op]} {n}", f"{base} {TURNED[op]} {n}", f"{base} = {n}", f"SELECT DISTINCT {c.sql} FROM {t.sql}"]
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
            wrong = [f"strftime('%d', {c.sql}) = '{month}'", f"strftime('%Y', {c.sql}) = '{month}'", f"{c.sql} = '{month}'"]
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
            f"Show all {a.many(t)} {order} of {a.say(c.words)}"
            if "order" not in order
            else f"Show all {a.many(t)} {order} of {a.say(c.words)}",
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
    q = a.one([f"Which {many} have a {says} {phrase.format(low, high)}?", f"{many} with {says} {phrase.format(low, high)}"])
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
    """Values said in words that the data does not use: women for F."""
    c, words = a.one([(x, SAID[k]) for x in t.columns for k in SAID if {str(v).lower() for v in x.distinct} == set(k)])
    values = sorted(c.distinct, key=lambda v: str(v).lower())
    side = a.rng.randint(0, 1)
    # SAID's words stand in the order of its key; values are sorted, as the keys are, but girl and boy.
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
            if re.search(rf"(^|_| )({u[0]})$", words_of(x.name)) and (len(x.words.split()) > 1 or "dur" in x.name.lower())
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
        {"AVG": a.one(["average", "mean", "typical"]), "SUM": a.one(["total", "combined"]), "MAX": a.one(["highest", "top"])}[f],
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
    """A term that only the evidence explains."""
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
        test, slips = f"{c.sql} = {literal(v)}", [f"{c.sql} <> {literal(v)}", f"{c.sql} = {literal(a.other(c.distinct, v))}"]
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


# --- of a parent and its children: p.key = c.link ---


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
            f"SELECT {'COUNT(*)' if counted else shown(label, 'p.')} FROM {joined(p, key, c, link, 'LEFT JOIN')} WHERE c.{link.sql} IS NULL",
        ]
    )
    return (
        q,
        right,
        [
            f"{base} WHERE {key.sql} IN ({of})",
            base,
            f"SELECT {'COUNT(*)' if counted else shown(label, 'p.')} FROM {joined(p, key, c, link)} WHERE p.{key.sql} <> c.{link.sql}",
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
    inside = f"SELECT {shown(label)} FROM {p.sql} WHERE {key.sql} IN (SELECT {link.sql} FROM {c.sql} WHERE {k.sql} = {literal(v)}) AND {key.sql} IN (SELECT {link.sql} FROM {c.sql} WHERE {k.sql} = {literal(w)})"
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
            f"Which {a.number(q_n) + ' ' + a.many(p) + ' have' if q_n else a.single(p) + ' has'} the {word} {a.many(c)}?",
            f"{a.single(p) if not q_n else a.number(q_n) + ' ' + a.many(p)} with the {'largest' if up else 'smallest'} number of {a.many(c)}",
        ]
    )
    base = f"SELECT {cols} FROM {joined(p, key, c, link)} GROUP BY p.{key.sql} ORDER BY COUNT(*)"
    slips = [f"{base} {'ASC' if up else 'DESC'} LIMIT {limit}", f"{base} {direction} LIMIT {limit + 2}", f"{base} {direction}"]
    if len(label[0].distinct) < len(label[0].values):
        slips += [f"SELECT {cols} FROM {joined(p, key, c, link)} GROUP BY {cols} ORDER BY COUNT(*) {direction} LIMIT {limit}"]
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
        a.one([f"Which {a.many(c)} belong to {v}?", f"{a.many(c)} of the {a.single(p)} {v}", f"List all {a.many(c)} for {v}."])
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
        + [f"SELECT {cols}, c.{n.sql} FROM {joined(p, key, c, link)}", f"SELECT {f}(c.{n.sql}) FROM {joined(p, key, c, link)}"]
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
    q = a.one([f"Which {a.many(p)} have a {a.single(c)} {cond}?", f"{a.many(p)} with at least one {a.single(c)} {cond}"])
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
    twin = next((c.column(x[0]) for x in c.parents if x[1].lower() == p.name.lower() and x[0].lower() != link.name.lower()), None)
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
    """A number of the parent over those that have a child: a join would count it once a child."""
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
    """Conditions on both sides; each may be forgotten."""
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


# --- values and logic: slips that keep the words and change what they mean together ---


def quotient(a, t):
    """One number of a thing over another of it; inverted, it is as good a number."""
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
    return q, base.format(upright), [base.format(inverted), other, base.format(f"{y.sql} / {x.sql}"), base.format(inverted)]


def extreme_text(a, t):
    """Numbers kept as text, sorted by their letters."""
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
    """The least value, where some have none: a row without any sorts first."""
    c = a.one([x for x in t.columns if x.n_null and len(x.distinct) > 2 and not x.is_key and len(x.words) > 2 and not x.is_name])
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
    slips = [f"{base} {end}", f"{base} WHERE {c.sql} IS NOT NULL ORDER BY {key} DESC LIMIT {n if few else 1}", f"{base} {end}"]
    return q, right, slips


def negated_two(a, t):
    """Neither ... nor is not "not both"; everything but those with both is not "without either"."""
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
            f"{'How many are left of' if counted else 'Every one of'} the {many} if we leave out those of {cs} {v} whose {ds} is {w}?",
        ]
    )
    right = a.one([not_both, not_both, f"{base} {c.sql} <> {literal(v)} OR {d.sql} <> {literal(w)}"])
    return q, right, [neither, f"{base} {cv} AND {dw}", f"{base} NOT ({cv} OR {dw})", f"{base} {c.sql} <> {literal(v)}"]


def negated_missing(a, t):
    """One value left out and another not recorded."""
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
        [f"{base} BETWEEN {low} AND {high}", f"{base} < {low} AND {c.sql} > {high}", f"{base} > {high}", f"{base} < {low}"],
    )


def loose_or(a, t):
    """AND binds closer than OR: without parentheses the other condition is that of the last alternative alone."""
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
        [f"({first} OR {second}) AND {rest}", f"{rest} AND ({first} OR {second})", f"{first} AND {rest} OR {second} AND {rest}"]
    )
    slips = [f"{first} OR {second} AND {rest}", f"{rest} AND {first} OR {second}", f"{first} OR ({second} AND {rest})"]
    return q, f"{base} {right}", [f"{base} {s}" for s in [*slips, f"{first} AND {rest}", f"{first} OR {second}"]]


def or_else(a, t):
    """Whoever has the one, or has the other: a choice between conditions on two columns, said in other words than "or" alone."""
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
        return q, f"{base} {cv} OR {cn}", [f"{base} {cv} AND {cn}", f"{base} {cv}", f"{base} {cn}", f"{base} {cv} AND {cn}"]
    q = a.one(
        [
            f"{many} {cond} that also have {ns} {bound}",
            f"{many} {cond}, but only if their {ns} is {bound}",
            f"Of the {many} {cond}, those with {ns} {bound}",
        ]
    )
    return q, f"{base} {cv} AND {cn}", [f"{base} {cv} OR {cn}", f"{base} {cv}", f"{base} {cn}", f"{base} {cv} OR {cn}"]


def rows_not_amounts(a, t):
    """How many rows there are, where a column of amounts is there to be summed by mistake."""
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
        return q, f"SELECT COUNT(*) FROM {t.sql}{where}", [*sides, f"SELECT COUNT(DISTINCT {n.sql}) FROM {t.sql}{where}"]
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
    """Numbers written in words: ten million, 1.5 million, 40 thousand."""
    n = a.one([x for x in t.of("is_number") if not x.is_year and max(x.distinct) >= 20000])
    op, top = a.one(list(ABOVE)), max(n.distinct)
    unit, word = a.one([(u, w) for u, w in ((1000, "thousand"), (1000000, "million"), (1000000000, "billion")) if top >= 2 * u])
    k = a.one(sorted({max(1, round(v / unit)) for v in n.distinct if v >= unit})[:-1])
    bound = a.one(ABOVE[op]).format(n=f"{a.number(k)} {word}")
    base = f"SELECT {shown(t.label())} FROM {t.sql} WHERE {n.sql} {op}"
    q = a.one([f"Which {a.many(t)} have a {a.say(n.words)} of {bound}?", f"{a.many(t)} with {a.say(n.words)} {bound}"])
    return (
        q,
        f"{base} {k * unit}",
        [f"{base} {k}", f"{base.replace(f' {op}', f' {TURNED[op]}')} {k * unit}", f"{base} {k * unit * 10}", f"{base} {k}"],
    )


def some_other(a, p, key, c, link):
    """At least one other than v; not: none that is v."""
    k = a.one(c.of("is_category"))
    v = a.one(k.distinct)
    label = p.label()
    counted = a.rng.random() < 0.3
    q = a.one(
        [
            f"{'How many' if counted else 'Which'} {a.many(p)} have a {a.single(c)} of some {a.say(k.words)} other than {v}?",
            f"{'How many' if counted else 'Which'} {a.many(p)} have at least one {a.single(c)} whose {a.say(k.words)} isn't {v}?",
            f"{'Number of ' if counted else ''}{a.many(p)} with any {a.single(c)} that is not {v} by {a.say(k.words)}, whatever else they have",
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
    """Parents that have children, none of them beyond a bound."""
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
    """Never had a child, in other words; a slip asks whether some child is another's, or looks at other children."""
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
    """As well as, and also, too; against: or, either will do."""
    k = a.one(c.of("is_category"))
    v = a.one(k.distinct)
    w = a.other(k.distinct, v)
    label = p.label()
    of = f"SELECT {link.sql} FROM {c.sql} WHERE {k.sql}"
    base, cols = f"SELECT {shown(label)} FROM {p.sql} WHERE {key.sql}", shown(label, "p.")
    joins = f"SELECT DISTINCT {cols} FROM {joined(p, key, c, link)} WHERE c.{k.sql}"
    exists = f"EXISTS (SELECT 1 FROM {c.sql} AS c WHERE c.{link.sql} = p.{key.sql} AND c.{k.sql} = {{}})"
    exist = f"SELECT {cols} FROM {p.sql} AS p WHERE {exists.format(literal(v))} {{}} {exists.format(literal(w))}"
    every = f"SELECT {cols} FROM {joined(p, key, c, link)} WHERE c.{k.sql} IN ({literal(v)}, {literal(w)}) GROUP BY p.{key.sql} HAVING COUNT(DISTINCT c.{k.sql}) = 2"
    inside = f"{base} IN ({of} = {literal(v)}) {{}} {key.sql} IN ({of} = {literal(w)})"
    both = [inside.format("AND"), exist.format("AND"), every, f"{base} IN ({of} = {literal(v)} INTERSECT {of} = {literal(w)})"]
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
        return q, a.one(both), [a.one(either), a.one(either), f"{joins} = {literal(v)} AND c.{k.sql} = {literal(w)}", either[0]]
    q = a.one(
        [
            f"Which {a.many(p)} have {some} of {ks} {v} or {w}, either will do?",
            f"{a.many(p)} with a {a.single(c)} in {v} or in {w} ({ks})",
            f"{a.many(p)} that have {v} or {w} {some}, or both",
        ]
    )
    return q, a.one(either), [a.one(both), a.one(both), f"{joins} = {literal(v)}", both[2]]


def average_beyond(a, p, key, c, link):
    """A bound on the average, the total or the number of children; a slip puts it on each child."""
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
                f"For which {many} does the {says} of their {a.many(c)} come to {bound} {'on average' if f == 'AVG' else 'in total'}?",
            ]
        )
        right, where = f"{base} {group} HAVING {f}(c.{n.sql}) {op} {m}", f"c.{n.sql}"
    row = f"{base} WHERE c.{n.sql} {op} {m} {group}"
    return q, right, [f"{base} WHERE {where} {op} {m} {group}", row, right.replace(f" {op} ", f" {TURNED[op]} "), row]


def children_each(a, p, key, c, link):
    """How many children a parent has on average: the rows over the parents, not the other way round."""
    some = a.rng.random() < 0.7
    parents, many = f"COUNT(DISTINCT {link.sql})", a.many(c)
    q = a.one(
        [
            f"How many {many} does a {a.single(p)} have on average"
            + (f", counting only {a.many(p)} with {many}?" if some else "?"),
            f"Average number of {many} per {a.single(p)}" + (" that has any" if some else ""),
            f"On average, how many {many} are there for a {a.single(p)}?" + (" Only those that have some." if some else ""),
            f"What is the mean number of {many} a {a.single(p)} has?" + (" Leave out those without." if some else ""),
        ]
    )
    upright, inverted = f"SELECT 1.0 * COUNT(*) / {parents} FROM {c.sql}", f"SELECT 1.0 * {parents} / COUNT(*) FROM {c.sql}"
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
    """A number of the parents that have a child of some kind: each counts once."""
    n, k = a.one([x for x in p.of("is_number") if not x.is_year]), a.one(c.of("is_category"))
    v, f = a.one(k.distinct), a.one(["AVG", "SUM", "SUM", "COUNT"])
    cond, says, many = condition(a, k, v), a.say(n.words), a.many(p)
    word = {"AVG": a.one(["average", "mean"]), "SUM": a.one(["total", "combined"]), "COUNT": "number"}[f]
    what = f"{word} {says} of {many}" if f != "COUNT" else f"number of {many}"
    q = a.one(
        [
            f"What is the {what} that have at least one {a.single(c)} {cond}?",
            f"{what} with a {a.single(c)} {cond}, each {a.single(p)} counted once",
            f"Take the {many} that have any {a.single(c)} {cond}: what is their {word + ' ' + says if f != 'COUNT' else 'number'}?",
        ]
    )
    arg = "*" if f == "COUNT" else n.sql
    right = f"SELECT {f}({arg}) FROM {p.sql} WHERE {key.sql} IN (SELECT {link.sql} FROM {c.sql} WHERE {k.sql} = {literal(v)})"
    join = f"SELECT {f}({'p.' + arg if arg != '*' else '*'}) FROM {joined(p, key, c, link)}"
    where = f"WHERE c.{k.sql} = {literal(v)}"
    return q, right, [f"{join} {where}", join, right.replace(" IN (", " NOT IN ("), f"{join} {where}"]


def least_partnered(a, p, key, c, link):
    """The least of the children with their parents; kept with all parents, one without a child comes first."""
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
    """Things against their rows: each once, or each row."""
    label = p.label()
    way = a.one(["rows", "things", "list"])
    if way == "rows":
        k, v = a.one(c.of("is_category")), a.one(label[-1].distinct)
        q = a.one([f"How many {a.many(c)} has {v} had?", f"How many {a.many(c)} are there of {v}?", f"Count {v}'s {a.many(c)}."])
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


OF_TABLE += [
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
OF_PAIR += [
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


# --- making a log ---

MOST_OF_A_TEMPLATE = 2  # of one database
# Those that few databases have columns for.
MOST_OF_RARE = {
    t: 6 for t in (extreme_text, number_in_text, first_recorded, negated_missing, in_other_units, large_number, how_many_kept)
}


def named_after(child, others):
    """A table that only connects two others stands for the other one: a student's `takes` are courses."""
    if len(others) != 1 or not others[0] or len(child.columns) > 4 or child.label():
        return child
    out = copy.copy(child)
    out.words = others[0].words
    return out


def families(tables):
    """(parent, key, child, link) for every foreign key of one column between tables that people ask about."""
    by_name = {t.name.lower(): t for t in tables}
    for t in tables:
        t.children = [(c, c.column(x[0])) for c in tables for x in c.parents if x[1].lower() == t.name.lower() and c.column(x[0])]
    for child in tables:
        for column, parent, key in child.parents:
            p = by_name.get(parent.lower())
            link = child.column(column)
            k = p and (p.column(key) if key else p.key[0] if len(p.key) == 1 else None)
            if p and k and link and p is not child and p.label() and p.n_rows > 1 and child.n_rows > 1:
                yield p, k, named_after(child, [by_name.get(x[1].lower()) for x in child.parents if x[0] != column]), link


def attempt(a, template, subject):
    try:
        return template(a, *subject)
    except (AttributeError, IndexError, TypeError, ValueError):  # nothing to draw from: the template does not fit this table
        return None


def answer(db, sql, ordered):
    """The first rows, in order where that was asked for; None: it does not run."""
    try:
        rows = [repr(row) for row in db.execute(sql).fetchmany(2000)]
    except sqlite3.Error:
        return None
    return rows if ordered else sorted(rows)


def sound(db, made):
    """The right query runs and answers something, and some slip answers something else."""
    ordered = "ORDER BY" in made[1]
    right = answer(db, made[1], ordered)
    return bool(right) and any(answer(db, slip, ordered) != right for slip in made[2][:1] + made[2][-1:])


def questions_of(path, name, each, rng):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.text_factory = lambda b: b.decode("utf-8", "replace")
    ticks = [0]
    db.set_progress_handler(lambda: ticks.__setitem__(0, ticks[0] + 1) or ticks[0] > 200, 100000)
    names = [
        r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    ]
    tables = [t for t in (Table(db, n) for n in names) if t.n_rows > 1]
    alone = [t for t in tables if t.label()]
    pairs = list(families(tables))
    seen, used = set(), collections.Counter()
    for _ in range(each * 12):
        if len(seen) >= each or not (alone or pairs):
            break
        of_pair = bool(pairs) and (not alone or rng.random() < 0.45)
        template, subject = (rng.choice(OF_PAIR), rng.choice(pairs)) if of_pair else (rng.choice(OF_TABLE), (rng.choice(alone),))
        ticks[0] = 0
        made = attempt(Ask(rng), template, subject) if used[template] < MOST_OF_RARE.get(template, MOST_OF_A_TEMPLATE) else None
        if not made or made[0] in seen or not sound(db, made):
            continue
        seen.add(made[0])
        used[template] += 1
        slips = list(dict.fromkeys(s for s in made[2] if s and s != made[1]))
        question = made[0][0].upper() + made[0][1:]
        evidence = {"evidence": made[3]} if len(made) > 3 else {}
        yield {
            "id": f"{name}-{template.__name__}-{len(seen)}",
            "db": name,
            "question": question,
            **evidence,
            "gold": made[1],
            "candidates": [{"sql": s} for s in [made[1], *slips]],
        }
    db.close()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--db-root", required=True)
    p.add_argument("--db", action="append", default=[])
    p.add_argument("--dbs-of", help="take the databases that this log names")
    p.add_argument("--each", type=int, default=64, help="questions a database at most")
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    names = set(a.db) | ({json.loads(l)["db"] for l in open(a.dbs_of, encoding="utf-8")} if a.dbs_of else set())
    for name in sorted(names):
        path = os.path.join(a.db_root, name, name + ".sqlite")
        if not os.path.exists(path):
            continue
        for line in questions_of(path, name, a.each, random.Random(f"{a.seed} {name}")):
            print(json.dumps(line))


if __name__ == "__main__":
    sys.exit(main())
