#!/usr/bin/env python3
"""train/flip_questions.py reverses a question and its query together, or not at all."""
import json, os, sqlite3, subprocess, sys, tempfile, unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
SCHEMA = """CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, city TEXT, age INT);
INSERT INTO person VALUES (1, 'Ann', 'Paris', 20), (2, 'Bob', 'Rome', 30), (3, 'Cid', 'Paris', 41), (4, 'Dan', 'Oslo', 60);"""


class FlipQuestions(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        os.makedirs(os.path.join(self.dir.name, "town"))
        db = sqlite3.connect(os.path.join(self.dir.name, "town", "town.sqlite"))
        db.executescript(SCHEMA)
        db.close()

    def tearDown(self):
        self.dir.cleanup()

    def flip(self, question, gold, each=9):
        log = os.path.join(self.dir.name, "log.jsonl")
        with open(log, "w") as file:
            file.write(json.dumps({"id": "1", "db": "town", "question": question, "gold": gold}) + "\n")
        out = [subprocess.run([sys.executable, os.path.join(ROOT, "train", "flip_questions.py"), log, "--db-root",
                               self.dir.name,
                               "--each", str(each)], capture_output=True, text=True, check=True).stdout
               for _ in range(2)]
        self.assertEqual(out[0], out[1], "the same arguments, the same lines")
        return [(line["question"], line["gold"]) for line in map(json.loads, out[0].splitlines())]

    def test_limit_becomes_inclusive(self):
        found = self.flip("Who is older than 20?", "SELECT name FROM person WHERE age > 20")
        self.assertEqual(found, [("Who is at least as old as 20?", "SELECT name FROM person WHERE age >= 20")])

    def test_extreme_is_reversed(self):
        found = self.flip("Name the oldest one.", "SELECT name FROM person ORDER BY age DESC LIMIT 1")
        self.assertEqual(found, [("Name the youngest one.", "SELECT name FROM person ORDER BY age ASC LIMIT 1")])

    def test_value_is_replaced_in_both(self):
        for question, gold in self.flip("Who lives in Rome?", "SELECT name FROM person WHERE city = 'Rome'"):
            town = question[len("Who lives in "):-1]
            self.assertIn(town, ("Paris", "Oslo"))
            self.assertEqual(gold, f"SELECT name FROM person WHERE city = '{town}'")
        self.assertTrue(self.flip("Who lives in Rome?", "SELECT name FROM person WHERE city = 'Rome'"))

    def test_change_without_counterpart_is_dropped(self):
        self.assertEqual(self.flip("Who is older than 20?", "SELECT name FROM person WHERE 20 < age"), [])
        self.assertEqual(self.flip("Who lives in the city of Rome, not the Rome of the film?",
                                   "SELECT name FROM person WHERE city = 'Rome'"), [])

    def test_change_with_equal_result_is_dropped(self):
        self.assertEqual(self.flip("Who is older than 25?", "SELECT name FROM person WHERE age > 25"), [])


if __name__ == "__main__":
    unittest.main()
