#!/usr/bin/env python3
"""Queries that differ inside one operator have different P, and the right one is preferred.

bench/analytic_pairs.py makes the pairs. Three of 632 have equal P: "for every show" is read as a verb, the "return" of
"returns count as negative" as a repeat, and the sides of one EXCEPT have the same words. The bounds below leave room
for those and for no more."""
import argparse, os, sqlite3, sys, unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
import analytic_pairs, pairs

FOLDER = os.path.join(ROOT, "tests", "data", "analytic")
MOST_EQUAL, LEAST_PREFERRED = 4, 0.94


def make_pairs(root):
    kinds, facts = (analytic_pairs.load(FOLDER, name) for name in ("kinds", "facts"))
    for fact in facts:
        db = sqlite3.connect(f"file:{root}/{fact['db']}/{fact['db']}.sqlite?mode=ro", uri=True)
        yield from analytic_pairs.make(kinds, fact, db)
        db.close()


class AnalyticPairs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with pairs.build_databases(FOLDER) as root:
            cls.pairs = list(make_pairs(root))
            verdicts = pairs.judge(assay, root, cls.pairs, [])
        cls.outcomes = [pairs.outcome(verdicts, number) for number in range(len(cls.pairs))]

    def test_every_kind_has_pairs(self):
        made = {pair["kind"] for pair in self.pairs}
        self.assertEqual({kind["kind"] for kind in analytic_pairs.load(FOLDER, "kinds")}, made)
        self.assertGreaterEqual(len(self.pairs), 600)

    def test_p_differs(self):
        equal = [pair["id"] for pair, o in zip(self.pairs, self.outcomes) if o["p"]["right"] == o["p"]["wrong"]]
        self.assertLessEqual(len(equal), MOST_EQUAL, equal)

    def test_the_right_query_is_preferred(self):
        won = sum(all(o["wins"]) for o in self.outcomes)
        self.assertGreaterEqual(won / len(self.outcomes), LEAST_PREFERRED)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--assay", required=True)
    args, rest = p.parse_known_args()
    assay = os.path.abspath(args.assay)
    unittest.main(argv=[sys.argv[0], *rest])
