#!/usr/bin/env python3
"""Checks that the pairs of tests/data/analytic follow its README. A failure gives only the id of a pair, because
held.jsonl must not be read."""
import os, sqlite3, sys, unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
import pairs

FOLDER = os.path.join(ROOT, "tests", "data", "analytic")
MUST = {"id", "db", "kind", "question", "right", "wrong"}


def load(name):
    return pairs.read([os.path.join(FOLDER, name + ".jsonl")])


def rows(root, pair, side):
    db = sqlite3.connect(f"file:{root}/{pair['db']}/{pair['db']}.sqlite?mode=ro", uri=True)
    try: return db.execute(pair[side]).fetchall()
    finally: db.close()


class Analytic(unittest.TestCase):
    def test_members_match_pair_format(self):
        bad = [p.get("id") for name in ("held", "tune") for p in load(name)
               if not MUST <= p.keys() <= MUST | {"evidence"}]
        self.assertEqual([], bad)

    def test_ids_are_unique(self):
        ids = [p["id"] for name in ("held", "tune") for p in load(name)]
        self.assertEqual(len(ids), len(set(ids)))

    def test_files_share_no_database(self):
        self.assertEqual(set(), {p["db"] for p in load("held")} & {p["db"] for p in load("tune")})
        self.assertGreaterEqual(len(load("held")), 120)

    def test_kinds_of_tune_occur_in_held(self):
        self.assertEqual(set(), {p["kind"] for p in load("tune")} - {p["kind"] for p in load("held")})

    def test_right_and_wrong_queries_return_different_rows(self):
        with pairs.build_databases(FOLDER) as root:
            same = [p["id"] for name in ("held", "tune") for p in load(name)
                    if rows(root, p, "right") == rows(root, p, "wrong")]
        self.assertEqual([], same)


if __name__ == "__main__":
    unittest.main()
