#!/usr/bin/env python3
"""Tests train/written: its questions follow its README, and train/written_log.py makes a log of them and finds
faults."""
import json, os, sqlite3, subprocess, sys, tempfile, unittest

sys.dont_write_bytecode = True
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "bench"))
import pairs

SCRIPT = os.path.join(ROOT, "train", "written_log.py")
WRITTEN = os.path.join(ROOT, "train", "written", "questions.jsonl")
PAIRS = os.path.join(ROOT, "tests", "data", "pairs")
SOUND = {"id": "w-1", "db": "town", "question": "who is grown up?", "evidence": "grown up: 21 or older",
         "right": ["SELECT name FROM person WHERE age >= 21", "SELECT name FROM person WHERE age > 20"],
         "wrong": [{"kind": "boundary", "sql": "SELECT name FROM person WHERE age > 21"}]}


def databases(name):
    return {question["db"] for question in pairs.read([os.path.join(PAIRS, name + ".jsonl")])}


class Questions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.questions = pairs.read([WRITTEN])

    def test_each_line_is_valid(self):
        for q in self.questions:
            with self.subTest(id=q["id"]):
                self.assertEqual(set(q) - {"evidence"}, {"id", "db", "question", "right", "wrong"})
                self.assertTrue(q["right"] and q["wrong"] and q["question"].strip())
                self.assertLessEqual({w["kind"] for w in q["wrong"]}, set(pairs.KINDS))
                self.assertFalse(set(q["right"]) & {w["sql"] for w in q["wrong"]})

    def test_ids_are_unique_and_kinds_complete(self):
        self.assertEqual(len({q["id"] for q in self.questions}), len(self.questions))
        self.assertEqual({w["kind"] for q in self.questions for w in q["wrong"]}, set(pairs.KINDS))

    def test_databases_of_pairs_are_excluded(self):
        self.assertEqual({q["db"] for q in self.questions} & (databases("held") | databases("dev")), set())


class Script(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        os.makedirs(os.path.join(self.dir.name, "town"))
        db = sqlite3.connect(os.path.join(self.dir.name, "town", "town.sqlite"))
        db.executescript(
            "CREATE TABLE person(name TEXT, age INT);"
            " INSERT INTO person VALUES ('Ann', 20), ('Bob', 21), ('Cid', 40);")
        db.close()

    def tearDown(self):
        self.dir.cleanup()

    def run_on(self, question, *more):
        path = os.path.join(self.dir.name, "questions.jsonl")
        with open(path, "w", encoding="utf-8") as file: file.write(json.dumps(question) + "\n")
        return subprocess.run([sys.executable, SCRIPT, path, *more], capture_output=True, text=True)

    def test_repeated_question_gives_one_line_each_time(self):
        lines = [json.loads(line) for line in self.run_on(SOUND, "--times", "2").stdout.splitlines()]
        self.assertEqual([line["id"] for line in lines], ["w-1/0", "w-1/1"])
        self.assertEqual(lines[0]["gold"], SOUND["right"][0])
        self.assertEqual([c["sql"] for c in lines[0]["candidates"]], SOUND["right"] + [SOUND["wrong"][0]["sql"]])
        self.assertEqual(lines[0]["evidence"], SOUND["evidence"])

    def test_pair_is_also_a_question(self):
        pair = {"id": "p", "db": "town", "question": "who?", "right": "SELECT name FROM person",
                "wrong": "SELECT age FROM person"}
        line = json.loads(self.run_on(pair, "--times", "1").stdout)
        self.assertEqual([c["sql"] for c in line["candidates"]], ["SELECT name FROM person", "SELECT age FROM person"])

    def test_questions_are_checked_on_database(self):
        sound = self.run_on(SOUND, "--db-root", self.dir.name)
        self.assertEqual((sound.returncode, sound.stdout), (0, "1 questions, 0 with a fault\n"))
        for change, says in (({"wrong": [{"kind": "boundary", "sql": SOUND["right"][1]}]}, "the right result"),
                             ({"right": SOUND["right"] + ["SELECT name FROM person"]}, "another result than the first"),
                             ({"right": ["SELECT nobody FROM person"]}, "no such column"),
                             ({"right": ["SELECT name FROM person WHERE age > 99"]}, "no rows")):
            bad = self.run_on({**SOUND, **change}, "--db-root", self.dir.name)
            self.assertEqual(bad.returncode, 1)
            self.assertIn(says, bad.stdout)


if __name__ == "__main__": unittest.main()
