"""Makes errors of another domain (section 3.2 of the paper) with a small generator that retrieves and edits queries.

python3 collect.py LOG --db-root DIR --out FILE [--in-domain]

The databases of a log with gold are split at random into two halves. For each question, the generator retrieves the
most similar questions of the other half. It takes their gold queries, and replaces each table, column and value by one
that the question and its schema suggest. The log FILE has up to five candidates that run for each question, best first.
`assay train export` labels them. With --in-domain all databases are searched, except for the question itself.

This is not a trained parser, and its errors differ from those of a parser:

- Its queries have a wrong structure far more often, because the retrieved question asked for something else.
- It joins only along declared keys, and omits what it cannot fill.
- It makes few of the beams of parsers, which differ in one column or one operator.
"""
import argparse
import json
import os
import random
import re
import sqlite3
import sys

TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|[A-Za-z_][A-Za-z_0-9]*|\d+(?:\.\d+)?|<=|>=|!=|<>|[^\s]")
KEYWORDS = set(
    """select from where group by order having limit distinct count sum avg min max and or not in like between
    join on as asc desc union intersect except is null exists all inner left outer case when then else end""".split())
STOP = set(
    """the a an of what which who is are for in on to and or by with show find list give me all how many each that
    have has their its s number name names""".split())
STEPS, KEPT, LOOKED_UP = 2_000_000, 5, 12


def words(text):
    split = re.sub(r"([a-z])([A-Z])", r"\1 \2", text.replace("_", " ")).lower()
    return [re.sub(r"(?<=..)(ies|es|s)$", lambda m: "y" if m[1] == "ies" else "", w)
            for w in re.findall(r"[a-z0-9]+", split)]


class Schema:
    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.db.text_factory = lambda b: b.decode(errors="replace")
        names = self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        self.tables = {t: [(c[1], c[2].upper()) for c in self.db.execute(f'PRAGMA table_info("{t}")')]
                       for (t,) in names}
        self.keys = [(t, k[3], k[2], k[4]) for t in self.tables
                     for k in self.db.execute(f'PRAGMA foreign_key_list("{t}")') if k[4]]

    def runs(self, sql):
        left = [STEPS // 1000]

        def tick():
            left[0] -= 1
            return left[0] < 0

        self.db.set_progress_handler(tick, 1000)
        try:
            self.db.execute(sql).fetchmany(1000)
            return True
        except sqlite3.Error:
            return False
        finally:
            self.db.set_progress_handler(None, 0)


def likeness(name, said):
    parts = words(name)
    return sum(p in said for p in parts) / max(1, len(parts))


def is_number(kind):
    return any(w in kind for w in ("INT", "REAL", "NUM", "FLOA", "DOUB", "DEC"))


class Filler:
    """Adapts one query of another database to this schema."""

    def __init__(self, source, target, question, values, draw):
        self.source, self.target, self.said = source, target, set(words(question))
        self.values, self.draw = list(values), draw
        self.numbers = re.findall(r"\b\d+(?:\.\d+)?\b", question)
        self.columns = {c.lower(): kind for cs in source.tables.values() for c, kind in cs}
        self.names = {t.lower() for t in source.tables}
        self.known = {}

    def table(self, name, others):
        near = {b for a in others for t, _, b, _ in self.target.keys if t == a} | \
               {t for a in others for t, _, b, _ in self.target.keys if b == a}
        pool = near - set(others) if others else set(self.target.tables)
        if not pool:
            return None
        return max(sorted(pool), key=lambda t: likeness(t, self.said) + 0.3 * self.draw.random())

    def column(self, name, tables):
        if name not in self.known:
            wanted = is_number(self.columns.get(name, ""))
            used = set(self.known.values())
            pool = [(t, c, kind) for t in tables for c, kind in self.target.tables[t] if (t, c) not in used]
            if not pool:
                return None
            score = lambda x: 2 * likeness(x[1],
                                           self.said) + 2.5 * (is_number(x[2]) == wanted) + 0.5 * self.draw.random()
            self.known[name] = max(pool, key=score)[:2]
        return self.known[name]

    def joined(self, tables):
        text, before = f'"{tables[0]}"', [tables[0]]
        for t in tables[1:]:
            key = next(((a, x, b, y) for a, x, b, y in self.target.keys
                        if (a == t and b in before) or (b == t and a in before)), None)
            if not key:
                return None
            text += f' JOIN "{t}" ON "{key[0]}"."{key[1]}" = "{key[2]}"."{key[3]}"'
            before.append(t)
        return text

    def fill(self, sql):
        """Adapts a query with a single SELECT. The FROM clause is rebuilt, because its keys belong to the other
        database."""
        found = re.match(r"(?is)\s*select\s+(.*?)\s+from\s+(.*?)(\s+where\s.*|\s+group\s.*|\s+order\s.*|)\s*;?\s*$",
                         sql)
        if not found or re.search(r"(?i)\bselect\b", found[1] + found[2] + found[3]):
            return None
        tables = []
        for token in TOKEN.findall(found[2]):
            if token.lower() in self.names:
                t = self.table(token.lower(), tables)
                if not t:
                    return None
                tables.append(t)
        source = self.joined(tables) if tables else None
        items, rest = self.tokens(found[1], tables), self.tokens(found[3], tables)
        return f"SELECT {items} FROM {source} {rest}".strip() if source and items and rest is not None else None

    def tokens(self, text, tables):
        out, all_tokens = [], TOKEN.findall(text)
        for i, token in enumerate(all_tokens):
            low = token.strip('"').lower()
            if token[0] == "'" or (token[0] == '"' and low not in self.columns):
                out.append("'" + (self.values.pop(0) if self.values else token[1:-1]).replace("'", "''") + "'")
            elif token[0].isdigit():
                out.append(self.numbers.pop(0) if self.numbers else token)
            elif low in self.columns and low not in KEYWORDS:
                place = self.column(low, tables)
                if not place:
                    return None
                out.append(f'"{place[0]}"."{place[1]}"')
            elif token == "." or all_tokens[i + 1:i + 2] == ["."]:
                continue  # the alias that qualifies a column
            else:
                out.append(token)
        return " ".join(out)


def look_up(question, pool):
    said = set(words(question["question"])) - STOP
    frame = set(words(question["question"])) & STOP

    def score(other):
        theirs = set(words(other["question"]))
        return 2 * len(frame & theirs) / max(1, len(frame | (theirs & STOP))) + len(said & theirs) / max(1, len(said))

    return sorted(pool, key=score, reverse=True)[:LOOKED_UP]


def candidates(question, pool, schemas, draw):
    target, out = schemas[question["db"]], []
    values = [a or b for a, b in re.findall(r"'([^']+)'|\"([^\"]+)\"", question["question"])]
    values += re.findall(r"(?<=\s)[A-Z][a-z]+(?: [A-Z][a-z]+)*", question["question"])
    for other in look_up(question, pool):
        sql = Filler(schemas[other["db"]], target, question["question"], values, draw).fill(other["gold"])
        if sql and sql not in out and target.runs(sql):
            out.append(sql)
        if len(out) == KEPT:
            break
    return out


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("log")
    a.add_argument("--db-root", required=True)
    a.add_argument("--out", required=True)
    a.add_argument("--in-domain", action="store_true")
    a.add_argument("--limit", type=int, default=0)
    a.add_argument("--seed", type=int, default=1)
    args = a.parse_args()
    draw = random.Random(args.seed)
    with open(args.log, encoding="utf-8") as file:
        log = [q for q in map(json.loads, file) if q.get("gold")]
    names = sorted({q["db"] for q in log})
    draw.shuffle(names)
    half = {name: i % 2 for i, name in enumerate(names)}
    schemas = {name: Schema(os.path.join(args.db_root, name, name + ".sqlite")) for name in names}
    asked = draw.sample(log, min(args.limit or len(log), len(log)))
    made = 0
    with open(args.out, "w", encoding="utf-8") as file:
        for q in asked:
            pool = [o for o in log if (o is not q if args.in_domain else half[o["db"]] != half[q["db"]])]
            sqls = candidates(q, pool, schemas, draw)
            made += len(sqls)
            if sqls:
                line = {**q, "candidates": [{"sql": s, "generators": ["edit"]} for s in sqls]}
                file.write(json.dumps(line) + "\n")
    print(f"{made} candidates of {len(asked)} questions", file=sys.stderr)


if __name__ == "__main__":
    main()
