#!/usr/bin/env python3
"""Makes a training log of hand-written questions: train/written/questions.jsonl, and pairs of tests/data/pairs.

  written_log.py [--times 4] FILE.jsonl ... > written.jsonl
  written_log.py --db-root DATABASES FILE.jsonl ...

The first right query of a question is its gold, and all others are its candidates. A line is written --times times,
because a hundred lines have little weight beside thousands made by templates. Their mutants differ each time.

With --db-root nothing is written. Every query is run, and violations of train/written/README.md are reported. The exit
status is 1 if there are any.
"""
import argparse, json, os, sqlite3, sys
from execute import run, same


def queries_of(question):
    """Returns (right queries, wrong queries) of a written question or of a pair."""
    right = question["right"] if isinstance(question["right"], list) else [question["right"]]
    wrong = question["wrong"] if isinstance(question["wrong"], list) else [{"sql": question["wrong"]}]
    return right, [w["sql"] for w in wrong]


def log_of(question, copy):
    right, wrong = queries_of(question)
    out = {"id": f"{question['id']}/{copy}", "db": question["db"], "question": question["question"], "gold": right[0],
           "candidates": [{"sql": sql} for sql in right + wrong]}
    if question.get("evidence"): out["evidence"] = question["evidence"]
    return out


# --- checks on the databases ---

def faults(question, db):
    right, wrong = queries_of(question)
    first, error = run(db, right[0])
    if error: return [f"{error}: {right[0]}"]
    found = [] if first else [f"no rows: {right[0]}"]
    ordered = "order by" in right[0].lower()
    for sql, is_right in [(sql, True) for sql in right[1:]] + [(sql, False) for sql in wrong]:
        rows, error = run(db, sql)
        if error: found.append(f"{error}: {sql}")
        elif same(rows, first, ordered and not is_right) != is_right:
            found.append(("another result than the first: " if is_right else "the right result: ") + sql)
    return found


def check(questions, root):
    """Prints each fault. Returns the number of questions with a fault."""
    bad, dbs = 0, {}
    for question in questions:
        name = question["db"]
        if name not in dbs:
            dbs[name] = sqlite3.connect(f"file:{os.path.join(root, name, name)}.sqlite?mode=ro", uri=True)
            dbs[name].text_factory = lambda raw: raw.decode("utf-8", "replace")
        found = faults(question, dbs[name])
        for fault in found: print(f"{question['id']}: {fault}")
        bad += bool(found)
    print(f"{len(questions)} questions, {bad} with a fault")
    return bad


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="+", metavar="FILE.jsonl")
    p.add_argument("--times", type=int, default=4, help="how often each line is written")
    p.add_argument("--db-root", metavar="DATABASES", help="hold the questions against these instead: DIR/DB/DB.sqlite")
    o = p.parse_args()
    questions = []
    for path in o.files:
        with open(path, encoding="utf-8") as file: questions += [json.loads(line) for line in file if line.strip()]
    if o.db_root: return check(questions, o.db_root) > 0
    for question in questions:
        for copy in range(o.times): print(json.dumps(log_of(question, copy), ensure_ascii=False))
    return 0


if __name__ == "__main__": sys.exit(main())
