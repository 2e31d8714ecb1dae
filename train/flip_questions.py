#!/usr/bin/env python3
"""Makes the opposite of training questions: replaces one cue of a question by its opposite, and changes the query
accordingly.

  flip_questions.py LOG.jsonl ... --db-root DATABASES [--each 2] [--seed 1] > flipped.jsonl

A verifier learns that the most frequent form of a data set is right: > rather than >=, DESC rather than ASC, the
average rather than the total. Here "more than 5" becomes "at least 5", the oldest becomes the youngest, and Paris
becomes another city of the column, in question and query alike. So each of the two queries is right for one question
and wrong for the other, and only the words tell which.

A line is changed only under these conditions: the question has the cue once, and the query has its counterpart once.
The new query runs, and its result is not empty and differs from the old one.

Lines have a gold query and no candidates. Training makes candidates from gold, and the original query is among them.
The same arguments give the same lines.
"""
import argparse, json, os, random, re, sqlite3, sys, zlib

# (pattern of the question, replacements; pattern of the query, replacement)
ABOVE = r"(?<![<>=!])>(?!=)\s*(?=[\d'\"])"
BELOW = r"(?<![<>=!])<(?![=>])\s*(?=[\d'\"])"
CUES = [
    (r"\b(more|greater|higher|larger) than(?= \d)", ["at least", "no less than", "a minimum of"], ABOVE, ">= "),
    (r"\b(above|over|exceeding)(?= \d)", ["at least", "not under"], ABOVE, ">= "),
    (r"\bolder than(?= \d)", ["at least as old as"], ABOVE, ">= "),
    (r"\bafter(?= (the year )?\d{4}\b)", ["since", "not before", "from"], ABOVE, ">= "),
    (r"\bat least(?= (\d|one|two|three))", ["more than", "over"], r">=\s*", "> "),
    (r"\b(less|fewer|smaller|lower) than(?= \d)", ["at most", "no more than", "up to", "not over"], BELOW, "<= "),
    (r"\b(below|under)(?= \d)", ["at most", "no more than", "not exceeding"], BELOW, "<= "),
    (r"\byounger than(?= \d)", ["at most as old as"], BELOW, "<= "),
    (r"\bbefore(?= (the year )?\d{4}\b)", ["up to and including", "not after"], BELOW, "<= "),
    (r"\bat most(?= (\d|one|two|three))", ["less than", "fewer than"], r"<=\s*", "< "),
    (r"\b(highest|largest|biggest|greatest)\b", ["lowest", "smallest"], r"\bDESC\b(?=\s+LIMIT)", "ASC"),
    (r"\b(lowest|smallest)\b", ["highest", "largest"], r"\bASC\b(?=\s+LIMIT)", "DESC"),
    (r"\bmost\b(?! (recent|of|expensive|popular|common))", ["fewest", "least"], r"\bDESC\b(?=\s+LIMIT)", "ASC"),
    (r"\b(fewest|least)\b(?<!at least)", ["most"], r"\bASC\b(?=\s+LIMIT)", "DESC"),
    (r"\boldest\b", ["youngest"], r"\bDESC\b(?=\s+LIMIT)", "ASC"),
    (r"\byoungest\b", ["oldest"], r"\bASC\b(?=\s+LIMIT)", "DESC"),
    (r"\b(longest)\b", ["shortest"], r"\bDESC\b(?=\s+LIMIT)", "ASC"),
    (r"\b(shortest)\b", ["longest"], r"\bASC\b(?=\s+LIMIT)", "DESC"),
    (r"\b(most recent|latest)\b", ["earliest", "oldest"], r"\bDESC\b(?=\s+LIMIT)", "ASC"),
    (r"\bmost expensive\b", ["cheapest", "least expensive"], r"\bDESC\b(?=\s+LIMIT)", "ASC"),
    (r"\b(maximum|highest|largest|biggest)\b", ["minimum", "lowest", "smallest"], r"\bmax\s*\(", "min("),
    (r"\b(minimum|lowest|smallest)\b", ["maximum", "highest", "largest"], r"\bmin\s*\(", "max("),
    (r"\b(average|mean)\b", ["total", "overall"], r"\bavg\s*\(", "sum("),
    (r"\b(average|mean)\b", ["maximum", "highest", "top"], r"\bavg\s*\(", "max("),
    (r"\b(total|overall)\b(?! number)", ["average", "mean"], r"\bsum\s*\(", "avg("),
    (r"\bdescending\b", ["ascending"], r"\bDESC\b(?!\s+LIMIT)", "ASC"),
    (r"\bascending\b", ["descending"], r"\bASC\b(?!\s+LIMIT)", "DESC"),
    (r"\b(do|does|did) not have any\b|\b(do|does) not have\b|\bhave no\b", ["have any", "have"], r"\bNOT IN\b", "IN"),
    (r"\bhave never\b|\bhas never\b", ["have already"], r"\bNOT IN\b", "IN"),
    (r"\bnot\b", [""], r"!=|<>", "="),
    (r"\bor\b(?=[^,]*$)", ["and also"], r"\bUNION\b", "INTERSECT"),
    (r"\bboth\b", ["either"], r"\bINTERSECT\b", "UNION"),
    (r"\b(different|distinct|unique)\b ?", [""], r"\bcount\s*\(\s*DISTINCT\b", "count( "),
]
EQUALITY = re.compile(r"([\w.]+)\s*=\s*(\"[^\"]+\"|'[^']+')")


def once(pattern, text):
    found = list(re.finditer(pattern, text, re.I))
    return found[0] if len(found) == 1 else None


def put(text, match, replacement):
    return re.sub(r" {2,}", " ", text[:match.start()] + replacement + text[match.end():]).strip()


def turned(question, sql, rng):
    """Yields all questions and queries that replacing one cue gives."""
    for asked, instead, pattern, replacement in CUES:
        word, place = once(asked, question), once(pattern, sql)
        if word and place: yield put(question, word, rng.choice(instead)), put(sql, place, replacement)


def other_value(db, question, sql, rng):
    """Replaces a value that question and condition share by another value of the column."""
    for match in EQUALITY.finditer(sql):
        value, column = match[2][1:-1], match[1].split(".")[-1]
        place = once(r"(?<!\w)" + re.escape(value) + r"(?!\w)", question)
        if not place or not re.fullmatch(r"\w+", column): continue
        others = []
        for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            held = (run(db, f'SELECT DISTINCT "{table}".{column} FROM "{table}" WHERE typeof({column}) = \'text\' '
                        'LIMIT 300') or [])
            if (value,) in held:
                others += sorted(v for (v,) in held if v != value and 0 < len(v) < 40 and "'" not in v and '"' not in v)
        if others:
            new = rng.choice(others)
            yield put(question, place, new), sql[:match.start(2)] + "'" + new + "'" + sql[match.end(2):]


def run(db, sql):
    steps = [0]

    def tick():
        steps[0] += 1
        return steps[0] > 300

    db.set_progress_handler(tick, 100000)
    try:
        return db.execute(sql).fetchmany(2000)
    except sqlite3.Error:
        return None
    finally:
        db.set_progress_handler(None, 0)


def is_sound(db, sql, old):
    before, after = run(db, old), run(db, sql)
    nothing = not after or all(v is None or v == 0 for row in after for v in row)
    return before is not None and not nothing and before != after


def flip(db, line, each, seed):
    rng = random.Random(zlib.crc32((line["question"] + line["gold"]).encode()) ^ seed)
    made = (list(turned(line["question"], line["gold"], rng))
            + list(other_value(db, line["question"], line["gold"], rng)))
    rng.shuffle(made)
    return [(q, sql) for q, sql in made if is_sound(db, sql, line["gold"])][:each]


def connect(roots, name):
    path = next((p for p in (os.path.join(r, name, name + ".sqlite") for r in roots) if os.path.exists(p)), None)
    if not path: return None
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.text_factory = lambda b: b.decode(errors="replace")
    return db


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("log", nargs="+")
    p.add_argument("--db-root", action="append", required=True)
    p.add_argument("--each", type=int, default=2)
    p.add_argument("--seed", type=int, default=1)
    o = p.parse_args()
    databases, n = {}, 0
    for path in o.log:
        for line in map(json.loads, filter(str.strip, open(path, encoding="utf-8"))):
            if not line.get("gold") or not line.get("question"): continue
            if line["db"] not in databases: databases[line["db"]] = connect(o.db_root, line["db"])
            if not databases[line["db"]]: continue
            for question, sql in flip(databases[line["db"]], line, o.each, o.seed):
                n += 1
                print(json.dumps({"id": f"flip-{n}", "db": line["db"], "question": question, "gold": sql},
                                 ensure_ascii=False))
    print(f"{n} questions", file=sys.stderr)


if __name__ == "__main__":
    main()
