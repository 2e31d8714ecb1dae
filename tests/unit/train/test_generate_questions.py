#!/usr/bin/env python3
"""Tests questions that are generated from a schema. Right queries run and return rows, wrong ones return other results,
and equal seeds give equal questions."""
import collections, importlib.util, json, os, random, sqlite3, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, *[os.pardir] * 3)
SCHEMA = """
CREATE TABLE department (department_id INTEGER PRIMARY KEY, name TEXT, city TEXT, num_employees INTEGER, budget REAL);
CREATE TABLE worker (worker_id INTEGER PRIMARY KEY, first_name TEXT, last_name TEXT, gender TEXT, role TEXT, age INTEGER, wage TEXT,
  hired TEXT, bonus REAL, department_id INTEGER REFERENCES department (department_id), mentor_department_id INTEGER REFERENCES department (department_id));
"""


def load():
    sys.path.insert(0, os.path.join(ROOT, "train"))
    spec = importlib.util.spec_from_file_location("generate_questions",
                                                  os.path.join(ROOT, "train", "generate_questions.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_database(path):
    rng = random.Random(5)
    db = sqlite3.connect(path)
    db.executescript(SCHEMA)
    cities = ["Oslo", "Lima", "Bern", "Cork", "Oslo", "Lima", "Oslo", "Bern"]
    for i, city in enumerate(cities):
        db.execute("INSERT INTO department VALUES (?, ?, ?, ?, ?)",
                   (i + 1, f"Unit {i + 1}", city, rng.randint(3, 90), rng.randint(1, 900) * 10.5))
    for i in range(60):
        row = (i + 1, f"First{i}", f"Last{i % 40}", "MF"[i % 2], ["cook", "clerk", "driver"][i % 3],
               rng.randint(18, 65), str(rng.randint(9, 120)),
               f"{rng.randint(2001, 2012)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
               None if i % 7 == 0 else i * 1.5, rng.randint(1, 6), rng.randint(1, 6))
        db.execute(f"INSERT INTO worker VALUES ({', '.join('?' * len(row))})", row)
    db.commit()
    return db


def rows(db, sql):
    found = [repr(row) for row in db.execute(sql).fetchall()]
    return found if "ORDER BY" in sql else sorted(found)


def check(lines, db):
    """Returns their faults in words."""
    told, templates = [], collections.Counter()
    for line in lines:
        right = rows(db, line["gold"])
        templates[line["id"].split("-")[1]] += 1
        if not right: told.append(f"{line['id']}: the right query answers nothing")
        if line["candidates"][0]["sql"] != line["gold"]:
            told.append(f"{line['id']}: the right query is not among its candidates")
        if all(rows(db, c["sql"]) == right for c in line["candidates"][1:]):
            told.append(f"{line['id']}: no slip differs: {line['question']}")
    for name in ("with_none", "in_time", "share", "number_in_text", "how_many_kept", "by_role", "not_recorded",
                 "never_with",
                 "quotient", "extreme_text", "first_recorded", "negated_two", "negated_missing", "loose_or",
                 "rows_not_amounts", "none_under", "no_partner",
                 "both_or_either", "average_beyond", "children_each", "parents_own_where", "least_partnered",
                 "counted_once"):
        if not templates[name]: told.append(f"nothing asked by {name}")
    return told


def main():
    module = load()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "firm.sqlite")
        db = make_database(path)
        made = [list(module.questions_of(path, "firm", 340, random.Random("1 firm"))) for _ in range(2)]
        told = check(made[0], db)
        if json.dumps(made[0]) != json.dumps(made[1]): told.append("the same seed gave other questions")
        inner = [l for l in made[0] if "with_none" in l["id"]
                 and rows(db, l["gold"]) == rows(db, l["gold"].replace("LEFT JOIN", "JOIN"))]
        if inner: told.append(f"{inner[0]['id']}: nobody is without, yet it is asked for")
    for line in told: print(line)
    print(f"{len(made[0])} questions, {len(told)} faults")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
