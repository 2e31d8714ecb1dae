#!/usr/bin/env python3
"""Makes questions with a right query and plausible errors from schemas and data alone.

  generate_questions.py --db-root DATABASES --db NAME ... | --dbs-of LOG.jsonl  [--each 150] [--seed 1] >
  generated.jsonl

The training questions of public datasets lack phrases that users write every day: "including those without any", "in
March", "what share of", "the second highest", "also the ones with nothing recorded". A verifier cannot judge phrases
that it has not seen. It also rejects forms of SQL that occur only in wrong queries of its training data (LEFT JOIN,
CAST, IS NOT NULL).

So each template of `questions` makes such a question about a table, or about related tables. It uses the words of the
schema, some of them replaced by everyday words. It adds the right query and the errors that people and models make.

The output has one line for each question, as in any log: {"id", "db", "question", "gold", "candidates": [{"sql"} ...]}.
Candidates are the errors. Execution labels them, so an error that has the right rows counts as right. The same
arguments give the same lines.
"""

import argparse, collections, copy, json, os, random, sqlite3, sys

from questions import of_children, of_conditions, of_connection, of_pair, of_table, of_values
from questions.ask import Ask
from questions.schema import Table

OF_TABLE = of_table.OF_TABLE + of_values.OF_TABLE + of_conditions.OF_TABLE
OF_PAIR = of_pair.OF_PAIR + of_values.OF_PAIR + of_children.OF_PAIR

MOST_OF_A_TEMPLATE = 4  # questions of a template for one database
# The maximum of templates for which few databases have columns.
MOST_OF_RARE = {
    t: 8
    for t in (
        of_values.extreme_text,
        of_table.number_in_text,
        of_values.first_recorded,
        of_values.negated_missing,
        of_table.in_other_units,
        of_values.large_number,
        of_table.how_many_kept,
    )
}


def named_after(child, others):
    """Returns a child table. If it only connects two others, it gets the words of the other one: the `takes` of a
    student are courses."""
    if len(others) != 1 or not others[0] or len(child.columns) > 4 or child.label():
        return child
    out = copy.copy(child)
    out.words = others[0].words
    return out


def families(tables):
    """Yields (parent, key, child, link) for each foreign key of one column between tables that people ask about."""
    by_name = {t.name.lower(): t for t in tables}
    for t in tables:
        t.children = [
            (c, c.column(x[0])) for c in tables for x in c.parents if x[1].lower() == t.name.lower() and c.column(x[0])
        ]
    for child in tables:
        for column, parent, key in child.parents:
            p = by_name.get(parent.lower())
            link = child.column(column)
            k = p and (p.column(key) if key else p.key[0] if len(p.key) == 1 else None)
            if p and k and link and p is not child and p.label() and p.n_rows > 1 and child.n_rows > 1:
                yield (p, k, named_after(child, [by_name.get(x[1].lower()) for x in child.parents if x[0] != column]),
                       link)


def attempt(a, template, subject):
    try:
        return template(a, *subject)
    # there is nothing to choose from: the template does not fit this table
    except (AttributeError, IndexError, TypeError, ValueError):
        return None


def answer(db, sql, ordered):
    """Returns the first rows, in order if the query is ordered; None if the query does not run."""
    try:
        rows = [repr(row) for row in db.execute(sql).fetchmany(2000)]
    except sqlite3.Error:
        return None
    return rows if ordered else sorted(rows)


def sound(db, made):
    """True if the right query runs and has rows, and some error has another result."""
    ordered = "ORDER BY" in made[1]
    right = answer(db, made[1], ordered)
    return bool(right) and any(answer(db, slip, ordered) != right for slip in made[2][:1] + made[2][-1:])


def questions_of(path, name, each, rng):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    db.text_factory = lambda b: b.decode("utf-8", "replace")
    ticks = [0]
    db.set_progress_handler(lambda: ticks.__setitem__(0, ticks[0] + 1) or ticks[0] > 200, 100000)
    names = [
        r[0]
        for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER "
                            "BY name")
    ]
    tables = [t for t in (Table(db, n) for n in names) if t.n_rows > 1]
    kinds = [
        (templates, subjects)
        for templates, subjects in (
            (OF_TABLE, [(t,) for t in tables if t.label()]),
            (OF_PAIR, list(families(tables))),
            (of_connection.OF_CONNECTION, list(of_connection.connections(tables))),
        )
        if subjects
    ]
    seen, used = set(), collections.Counter()
    for _ in range(each * 12 if kinds else 0):
        if len(seen) >= each:
            break
        templates, subjects = rng.choices(kinds, [len(k[0]) for k in kinds])[0]
        template, subject = rng.choice(templates), rng.choice(subjects)
        ticks[0] = 0
        made = (attempt(Ask(rng), template, subject) if used[template] < MOST_OF_RARE.get(template, MOST_OF_A_TEMPLATE)
                else None)
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
    p.add_argument("--each", type=int, default=150, help="questions a database at most")
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
