#!/usr/bin/env python3
"""Writes pairs of queries that differ inside one operator, or judges them with --assay.

  analytic_pairs.py [--folder tests/data/analytic] [--set tune|held] > pairs.jsonl
  analytic_pairs.py --assay build/release/cli/assay [--folder ...] [--set tune|held]

A fact (facts.json) describes a table of events: its date, amount, group and owner columns, and words for them. A kind
(kinds.json) makes a question and two queries from a fact. The queries differ in the operand of one window, CASE, set
operation, ratio or join. Pairs whose queries return equal rows are left out.
"""
import argparse, json, os, sqlite3, sys

import pairs

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "data", "analytic")

def words_of(fact, db):
    """Returns the names that the kinds use, for one fact. `mid` and `high` are round amounts that divide the rows."""
    out = {k: v for k, v in fact.items() if isinstance(v, str)}
    if fact["values"]: out.update(values=True, v1=fact["values"][0], v2=fact["values"][1])
    if fact["optional"]: out.update(optional=True, optional_column=fact["optional"][0], optional_of=fact["optional"][1])
    if fact["other"]:
        out.update(other=True, other_table=fact["other"][0], other_key=fact["other"][1], other_things=fact["other"][2])
    values = [v for (v,) in db.execute("SELECT {amount} FROM {table} WHERE {amount} > 0 ORDER BY 1".format(**out))]
    if values and values[len(values) // 2] < values[len(values) * 5 // 6]:
        out.update(mid=values[len(values) // 2], high=values[len(values) * 5 // 6])
    return out


def make(kinds, fact, db):
    words = words_of(fact, db)
    for kind, needs, questions, right, wrong in (tuple(k.values()) for k in kinds):
        if any(n not in words for n in needs): continue
        pair = {side: text.format(**words) for side, text in (("right", right), ("wrong", wrong))}
        if "{group}" in right and "{owner}" in right + wrong and words["group"] == words["owner"]: continue
        rows = [sorted(map(repr, db.execute(sql).fetchall())) for sql in pair.values()]
        if rows[0] == rows[1]: continue
        for n, question in enumerate(questions):
            yield {"id": f"{fact['db']}-{fact['table']}-{kind}-{n + 1}", "db": fact["db"], "kind": kind,
                   "question": question.format(**words), **pair}


def load(folder, name):
    with open(os.path.join(folder, name + ".json"), encoding="utf-8") as f: return json.load(f)


def make_all(root, folder=FOLDER, name=None):
    """Returns the pairs of the facts of a set, or of all facts, on the databases below root."""
    kinds, facts = (load(folder, file) for file in ("kinds", "facts"))
    for fact in (f for f in facts if name in (None, f["set"])):
        db = sqlite3.connect(f"file:{root}/{fact['db']}/{fact['db']}.sqlite?mode=ro", uri=True)
        yield from make(kinds, fact, db)
        db.close()


def judge(assay, root, made):
    verdicts = pairs.judge(assay, root, made, [])
    return [pairs.outcome(verdicts, number) for number in range(len(made))]


def has_equal_p(outcome):
    return outcome["p"]["right"] == outcome["p"]["wrong"]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", default=FOLDER)
    p.add_argument("--set", choices=("tune", "held"))
    p.add_argument("--assay")
    a = p.parse_args()
    with pairs.build_databases(a.folder) as root:
        made = list(make_all(root, a.folder, a.set))
        outcomes = judge(a.assay, root, made) if a.assay else []
    if a.assay:
        pairs.print_rows([pairs.row("all", outcomes)])
        print(f"equal P: {sum(map(has_equal_p, outcomes))}")
    else:
        for pair in made: print(json.dumps(pair))


if __name__ == "__main__":
    sys.exit(main())
