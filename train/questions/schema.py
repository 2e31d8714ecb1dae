"""A schema in the form that templates use: tables, columns, and the kinds of their values."""

import re


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
    "group order table index values from to where select check default primary key references transaction match rank "
    "all case end then else in is not".split()
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
                r"(^|_)(id|code|key|uid|ssn|phone|zip|postal)s?($|_)|(^|_)(no|num|number)$|[a-z](ID|Id|Code|No)$",
                name, re.I
            )
        ) or name.lower().endswith("id")
        text = [v for v in values if isinstance(v, str)]
        self.is_number = (
            not self.is_key and len(self.distinct) > 2 and bool(values)
            and all(isinstance(v, (int, float)) for v in values)
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
            self.is_text
            and not self.is_key
            and 1 < len(short) <= max(2, 0.7 * len(values))
            and len(short) == len(self.distinct)
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
