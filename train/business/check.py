#!/usr/bin/env python3
"""Runs every query of the business corpus and reports each question that breaks a rule of README.md.

  check.py [NAME ...]      only these databases; default: all

Each query runs on the data and on a mutated copy. Right queries must agree on both. Wrong ones must differ on the data.
Prints the counts by database, work and kind. The exit status is 1 if a question has a fault.
"""
import argparse, collections, re, sqlite3, sys, time
import corpus

KINDS = """boundary column complement condition_stage constant count_vs_sum date_column direction distinct doubling
duplicates evidence extra_condition frame grain group_key growth_base join_path last level limit limit_before_aggregate
missing_condition negation null order partition period projection ratio role scale set_operation state table ties unit
value whole zeros""".split()
SECONDS = 10      # of one query
ROWS = 50_000
BUILD_SECONDS = 5 # of one database
WRONG = (2, 5)    # number of wrong queries of a question


def run(db, sql):
    """(rows, None), or (None, why not)."""
    end = time.monotonic() + SECONDS
    db.set_progress_handler(lambda: time.monotonic() > end, 10_000)
    try: return db.execute(sql).fetchmany(ROWS), None
    except sqlite3.Error as error: return None, str(error)


def near(value):
    """Floats are compared to nine digits."""
    return float(f"{value:.9g}") if isinstance(value, (int, float)) else value


def same(a, b, ordered):
    a, b = ([tuple(near(v) for v in row) for row in rows] for rows in (a, b))
    return a == b if ordered else sorted(a, key=repr) == sorted(b, key=repr)


def is_ordered(sql):
    """True if the outermost SELECT has an ORDER BY."""
    while True:
        shorter = re.sub(r"\([^()]*\)", " ", sql)
        if shorter == sql: return "order by" in sql.lower()
        sql = shorter


def faults_of_queries(question, data, copy):
    first, error = run(data, question.right[0])
    if error: return [f"{error}: {question.right[0]}"]
    found = [] if first else [f"no rows: {question.right[0]}"]
    ordered = is_ordered(question.right[0])
    there, error = run(copy, question.right[0])
    if error: found.append(f"copy: {error}: {question.right[0]}")
    for sql in question.right[1:]:
        for db, expected, place in ((data, first, ""), (copy, there, "on the copy: ")):
            rows, error = run(db, sql)
            if error: found.append(f"{place}{error}: {sql}")
            elif expected is not None and not same(rows, expected, ordered and is_ordered(sql)):
                found.append(f"{place}right queries differ: {sql}")
    for wrong in question.wrong:
        rows, error = run(data, wrong.sql)
        if error: found.append(f"{error}: {wrong.sql}")
        elif not rows: found.append(f"a wrong query returns no rows: {wrong.sql}")
        elif same(rows, first, ordered and is_ordered(wrong.sql)):
            found.append(f"a wrong query has the right result: {wrong.sql}")
    return found


def faults(question, data, copy):
    """Messages for one question."""
    if not question.question: return ["no question"]
    if not question.right: return ["no right query"]
    found = faults_of_queries(question, data, copy)
    found += [f"unknown kind '{w.kind}'" for w in question.wrong if w.kind not in KINDS]
    if not WRONG[0] <= len(question.wrong) <= WRONG[1]: found.append(f"{len(question.wrong)} wrong queries")
    for wrong in question.wrong:
        if wrong.twin == question.question and not wrong.twin_evidence: found.append("a twin equals its question")
    return found


def check(name):
    """(questions, number with a fault) of a database."""
    begin = time.monotonic()
    data = corpus.build(name)
    took = time.monotonic() - begin
    copy = corpus.build(name, copy=True)
    bad = 0
    if took > BUILD_SECONDS: print(f"{name}: built in {took:.1f} s"); bad += 1
    questions = corpus.read(name)
    seen = collections.Counter(q.id for q in questions)
    for question in questions:
        found = faults(question, data, copy) + (["id is not unique"] if seen[question.id] > 1 else [])
        for fault in found: print(f"{question.id}: {fault}")
        bad += bool(found)
    return questions, bad


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("names", nargs="*", metavar="NAME")
    o = p.parse_args()
    bad, kinds, work, twins = 0, collections.Counter(), collections.Counter(), 0
    for name in o.names or corpus.names():
        questions, faulty = check(name)
        bad += faulty
        n_twins = sum(w.twin is not None for q in questions for w in q.wrong)
        print(f"{name}: {len(questions)} questions, {n_twins} twins, {faulty} with a fault")
        kinds.update(w.kind for q in questions for w in q.wrong)
        work.update(q.work for q in questions)
        twins += n_twins
    by_work = ", ".join(f"{n} {w}" for w, n in sorted(work.items()))
    print(f"{sum(work.values())} questions ({by_work}), {twins} twins, {bad} with a fault")
    print("wrong: " + ", ".join(f"{kind} {n}" for kind, n in kinds.most_common()))
    return int(bad > 0)


if __name__ == "__main__": sys.exit(main())
