#!/usr/bin/env python3
"""Writes pairs of queries that differ inside one operator.

  analytic_pairs.py [--folder tests/data/analytic] [--set tune|held] > pairs.jsonl

A fact (facts.json) names a table that records events, its date, amount, group and owner, and the words for them. A kind
(kinds.json) makes questions and two queries of a fact. The queries differ in the operand of one window, CASE, set
operation, ratio or join. Pairs whose queries return equal rows are left out.
"""
import argparse, json, os, sqlite3, sys

import pairs

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "data", "analytic")

def words_of(fact, db):
    """The names that the kinds use, of one fact. `mid` and `high` are round amounts that split the rows."""
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


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--folder", default=FOLDER)
    p.add_argument("--set", choices=("tune", "held"))
    a = p.parse_args()
    kinds, facts = (load(a.folder, name) for name in ("kinds", "facts"))
    with pairs.build_databases(a.folder) as root:
        for fact in (f for f in facts if a.set in (None, f["set"])):
            db = sqlite3.connect(f"file:{root}/{fact['db']}/{fact['db']}.sqlite?mode=ro", uri=True)
            for pair in make(kinds, fact, db): print(json.dumps(pair))
            db.close()


if __name__ == "__main__":
    sys.exit(main())
