#!/usr/bin/env python3
"""The minimal pairs of tests/data/pairs: every line says what it must, and what is held out is held out. Needs no databases."""
import collections, json, os, sys, unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
import pairs

FILES = {name: pairs.read([os.path.join(ROOT, "tests", "data", "pairs", name + ".jsonl")]) for name in ("tune", "held", "dev")}
MEMBERS = {"id", "db", "kind", "question", "right", "wrong"}


class Pairs(unittest.TestCase):
    def test_each_says_all_and_nothing_else(self):
        for pair in sum(FILES.values(), []):
            self.assertEqual(MEMBERS, set(pair) - {"evidence"}, pair.get("id"))
            self.assertTrue(all(pair[m].strip() for m in pair), pair["id"])
            self.assertIn(pair["kind"], pairs.KINDS, pair["id"])
            self.assertNotEqual(pair["right"], pair["wrong"], pair["id"])

    def test_no_pair_twice(self):
        for member in (lambda p: p["id"], lambda p: (p["db"], p["question"], p["wrong"])):
            seen = collections.Counter(map(member, sum(FILES.values(), [])))
            self.assertEqual([], [x for x, n in seen.items() if n > 1])

    def test_no_database_in_two_files(self):
        dbs = {name: {p["db"] for p in lines} for name, lines in FILES.items()}
        self.assertFalse(dbs["tune"] & dbs["held"] or dbs["tune"] & dbs["dev"] or dbs["held"] & dbs["dev"])
        self.assertTrue(all(db[0].lower() <= "h" for db in dbs["tune"]) and all(db[0].lower() > "h" for db in dbs["held"]))

    def test_every_kind_is_met_in_what_is_tuned_on_and_in_what_is_held_out(self):
        for name in ("tune", "held"):
            self.assertEqual(set(pairs.KINDS), {p["kind"] for p in FILES[name]}, name)


if __name__ == "__main__":
    unittest.main()
