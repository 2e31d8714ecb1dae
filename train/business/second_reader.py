#!/usr/bin/env python3
"""Compares the answers of a second reader, who has not seen the queries, with the right queries.

  second_reader.py sample 300 [NAME ...] --seed 1  prints a sample of the questions; of these databases if named
  second_reader.py sample 300 --twins              prints a sample of the twins
  second_reader.py compare ANSWERS                 ANSWERS has [ID] headers, each followed by an SQL query

Each database has its share of the sample, to the nearest question. The sample shows questions, evidence, DDL, rows, and
the values of columns that have few. An answer agrees if its result has the rows of the right result in any order. It
agrees in form if this holds with columns omitted or reordered, or numbers rounded.
"""
import argparse, dataclasses, itertools, random, re, sys
from os.path import dirname
import corpus

sys.path.insert(0, dirname(corpus.HERE))
from execute import run, same

ROWS_SHOWN = 3
FEW_VALUES = 12   # maximum values of a text column that are shown
WIDEST = 8        # maximum columns of a result whose order may differ
DECIMALS = range(7, -1, -1) # decimals of a rounded number; 7: not rounded


# --- sample ---

def asked(name, twins):
    """Returns the questions of a database. With twins, returns the twins as questions; the right query of a twin is the
    query that it belongs to."""
    for q in corpus.read(name):
        if not twins: yield q
        for n, w in enumerate(q.wrong if twins else []):
            if w.twin: yield dataclasses.replace(q, id=f"{q.id}/twin{n}", question=w.twin, right=[w.sql],
                                                 evidence=w.twin_evidence or q.evidence)


def sample(n, seed, twins=False):
    """Returns n questions: every k-th of all databases in sequence, each database shuffled."""
    chance, pool = random.Random(seed), []
    for name in corpus.names():
        questions = list(asked(name, twins))
        chance.shuffle(questions)
        pool += questions
    step = len(pool) / n
    start = chance.random() * step
    return [pool[int(start + i * step)] for i in range(n)]


def few_values(db, table, column):
    """Returns the values of a text column that has few; otherwise an empty list."""
    sql = f'SELECT DISTINCT "{column}" FROM "{table}" WHERE typeof("{column}") = \'text\' LIMIT {FEW_VALUES + 1}'
    values = sorted(v for v, in db.execute(sql))
    return values if len(values) <= FEW_VALUES else []


def print_database(name):
    db = corpus.build(name)
    print(f"\n=== {name} ===\n{corpus.ddl(name).strip()}\n")
    for table in corpus.tables(db):
        rows = db.execute(f'SELECT * FROM "{table}" LIMIT {ROWS_SHOWN}')
        print(f"{table}:")
        for row in rows: print(f"  {row}")
        for column, *_ in rows.description:
            values = few_values(db, table, column)
            if values: print(f"  {column}: {', '.join(values)}")


def print_sample(n, seed, twins, only):
    for name, questions in itertools.groupby(sample(n, seed, twins), lambda q: q.db):
        if only and name not in only: continue
        print_database(name)
        for q in questions:
            print(f"\n[{q.id}] {q.work}\nquestion: {q.question}")
            if q.evidence: print(f"evidence: {q.evidence}")


# --- comparison ---

def read_answers(path):
    """Returns {id: SQL} of a file of answers."""
    with open(path, encoding="utf-8") as file: parts = re.split(r"^\[([\w/-]+)\].*$", file.read(), flags=re.M)
    return {id: sql.strip().rstrip(";") for id, sql in zip(parts[1::2], parts[2::2])}


def number(value):
    """Converts text of digits to a number. Returns other values unchanged."""
    try: return float(value)
    except (TypeError, ValueError): return value


def to_decimals(values, digits):
    return [round(v, digits) if isinstance(v, float) else v for v in values]


def common_decimals(a, b):
    """Returns the decimals to which one column is rounded if the columns are then equal. Returns None if they differ
    otherwise."""
    for digits in DECIMALS:
        short_a, short_b = (sorted(to_decimals(column, digits), key=repr) for column in (a, b))
        if short_a == short_b and (digits == DECIMALS[0] or short_a in (sorted(a, key=repr), sorted(b, key=repr))):
            return digits
    return None


def same_in_form(a, b):
    """True if columns of the wider result, in some order, equal those of the other result, up to rounding."""
    if len(a) != len(b) or not a: return False
    narrow, wide = sorted(([list(map(number, column)) for column in zip(*rows)] for rows in (a, b)), key=len)
    if len(wide) > WIDEST: return False
    fits = [[(i, d) for i, other in enumerate(wide) if (d := common_decimals(column, other)) is not None]
            for column in narrow]
    for choice in itertools.product(*fits):
        if len({i for i, _ in choice}) < len(choice): continue
        left = zip(*(to_decimals(column, d) for column, (_, d) in zip(narrow, choice)))
        right = zip(*(to_decimals(wide[i], d) for i, d in choice))
        if same(list(left), list(right), False): return True
    return False


def verdict(answer, expected):
    """Returns "agree", "form" or "differ" for the rows of an answer."""
    if same(answer, expected, False): return "agree"
    return "form" if same_in_form(answer, expected) else "differ"


def show(label, rows):
    print(f"  {label}: {len(rows)} rows")
    for row in rows[:ROWS_SHOWN]: print(f"    {row}")


def compare(question, sql, db):
    """Returns the verdict on one answer. Prints it, and if they differ also the results and the right query."""
    rows, error = run(db, sql)
    expected, _ = run(db, question.right[0])
    found = "differ" if error else verdict(rows, expected)
    print(f"[{question.id}] {found}")
    if found != "differ": return found
    print(f"  question: {question.question}\n  evidence: {question.evidence}\n  answer: {error or sql}")
    if not error: show("answer", rows)
    show("right", expected)
    print(f"  right: {question.right[0]}")
    return found


def compare_all(path):
    answers, found = read_answers(path), []
    for name in corpus.names():
        questions = [q for q in (*asked(name, False), *asked(name, True)) if q.id in answers]
        db = corpus.build(name) if questions else None
        found += [(name, compare(q, answers.pop(q.id), db)) for q in questions]
    if answers: print("no such question: " + " ".join(answers))
    held = {name for names in corpus.HELD.values() for name in names}
    for label, some in (("all", found), ("held out", [f for f in found if f[0] in held])):
        agree, form = (sum(f[1] == v for f in some) for v in ("agree", "form"))
        print(f"{label}: {len(some)} answers, {(agree + form) / max(len(some), 1):.1%} agree, {form} of them in form")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    jobs = p.add_subparsers(dest="job", required=True)
    job = jobs.add_parser("sample")
    job.add_argument("n", type=int)
    job.add_argument("names", nargs="*", metavar="NAME")
    job.add_argument("--seed", type=int, default=1)
    job.add_argument("--twins", action="store_true")
    jobs.add_parser("compare").add_argument("answers")
    o = p.parse_args()
    if o.job == "sample": print_sample(o.n, o.seed, o.twins, o.names)
    else: compare_all(o.answers)


if __name__ == "__main__": main()
