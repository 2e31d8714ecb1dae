#!/usr/bin/env python3
"""Runs every query of the business corpus and reports each question that breaks a rule of README.md.

  check.py [NAME ...]      only these databases; default: all

Each query runs on the data and on a mutated copy. Right queries must agree on both. Wrong ones must differ on the data.
Prints the counts by database, work and kind. The exit status is 1 if a question has a fault.
"""
import argparse, collections, os, re, sys, time
import corpus

sys.path.insert(0, os.path.dirname(corpus.HERE))
from execute import run, same

KINDS = """boundary column complement condition_stage constant count_vs_sum date_column direction distinct doubling
duplicates evidence extra_condition frame grain group_key growth_base join_path last level limit limit_before_aggregate
missing_condition negation null order partition period projection ratio role scale set_operation state table ties unit
value whole zeros""".split()
BUILD_SECONDS = 3         # limit for building one database
SIZE = (1_000, 200_000)   # number of rows of a database
WRONG = (2, 5)            # number of wrong queries of a question


def is_ordered(sql):
    """True if the outermost SELECT has an ORDER BY."""
    while True:
        shorter = re.sub(r"\([^()]*\)", " ", sql)
        if shorter == sql: return "order by" in sql.lower()
        sql = shorter


def faults_of_right(sqls, db, place):
    """Returns (rows of the first query or None, messages). All queries must have the same result on `db`."""
    first, error = run(db, sqls[0])
    if error: return None, [f"{place}{error}: {sqls[0]}"]
    found = []
    for sql in sqls[1:]:
        rows, error = run(db, sql)
        if error: found.append(f"{place}{error}: {sql}")
        elif not same(rows, first, is_ordered(sqls[0]) and is_ordered(sql)):
            found.append(f"{place}right queries differ: {sql}")
    return first, found


def fault_of_wrong(sql, right, expected, db):
    """Returns a message if a wrong query does not run, has no rows, or has the result of the right query; else None."""
    rows, error = run(db, sql)
    if error: return f"{error}: {sql}"
    if not rows: return f"a wrong query returns no rows: {sql}"
    if same(rows, expected, is_ordered(right) and is_ordered(sql)): return f"a wrong query has the right result: {sql}"
    return None


def faults_of_queries(question, data, copy):
    rows, found = faults_of_right(question.right, data, "")
    if rows is None: return found
    if not rows: found.append(f"no rows: {question.right[0]}")
    found += faults_of_right(question.right, copy, "on the copy: ")[1]
    wrong = (fault_of_wrong(w.sql, question.right[0], rows, data) for w in question.wrong)
    return found + [fault for fault in wrong if fault]


def faults(question, data, copy):
    """Returns the messages for one question."""
    if not question.question: return ["no question"]
    if not question.right: return ["no right query"]
    found = faults_of_queries(question, data, copy)
    found += [f"unknown kind '{w.kind}'" for w in question.wrong if w.kind not in KINDS]
    if not WRONG[0] <= len(question.wrong) <= WRONG[1]: found.append(f"{len(question.wrong)} wrong queries")
    for wrong in question.wrong:
        if wrong.twin == question.question and not wrong.twin_evidence: found.append("a twin equals its question")
        if wrong.twin is not None and len(wrong.twin) < 6: found.append(f"a twin is no question: {wrong.twin}")
    return found


def faults_of_database(db, took):
    """Returns the messages for a database that took `took` seconds to build."""
    n = sum(db.execute(f'SELECT COUNT(*) FROM "{table}"').fetchone()[0] for table in corpus.tables(db))
    found = [] if SIZE[0] <= n <= SIZE[1] else [f"{n} rows"]
    return found + ([f"built in {took:.1f} s"] if took > BUILD_SECONDS else [])


def check(name):
    """Prints the faults of a database. Returns (questions, number with a fault)."""
    begin = time.process_time()
    data = corpus.build(name)
    found = {name: faults_of_database(data, time.process_time() - begin)}
    copy = corpus.build(name, copy=True)
    questions = corpus.read(name)
    for question in questions:
        again = ["id is not unique"] if question.id in found else []
        found[question.id] = faults(question, data, copy) + again
    for id, messages in found.items():
        for message in messages: print(f"{id}: {message}")
    return questions, sum(bool(messages) for messages in found.values())


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
