#!/usr/bin/env python3
"""Queries that differ within one operator must have different P(correct), and the right one must be preferred.

bench/analytic_pairs.py makes the pairs. Three of 632 have equal P(correct). In these, "for every show" is read as a
verb, "return" in "returns count as negative" as a repeat, and the sides of one EXCEPT have the same words. The bounds
below permit only those three.
"""
import argparse, os, sys, unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
import analytic_pairs, pairs

FOLDER = analytic_pairs.FOLDER
MOST_EQUAL, LEAST_PREFERRED = 4, 0.94


class AnalyticPairs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with pairs.build_databases(FOLDER) as root:
            cls.pairs = list(analytic_pairs.make_all(root))
            cls.outcomes = analytic_pairs.judge(assay, root, cls.pairs)

    def test_every_kind_has_pairs(self):
        made = {pair["kind"] for pair in self.pairs}
        self.assertEqual({kind["kind"] for kind in analytic_pairs.load(FOLDER, "kinds")}, made)
        self.assertGreaterEqual(len(self.pairs), 600)

    def test_p_differs_within_pairs(self):
        equal = [pair["id"] for pair, o in zip(self.pairs, self.outcomes) if analytic_pairs.has_equal_p(o)]
        self.assertLessEqual(len(equal), MOST_EQUAL, equal)

    def test_right_query_is_preferred(self):
        won = sum(all(o["wins"]) for o in self.outcomes)
        self.assertGreaterEqual(won / len(self.outcomes), LEAST_PREFERRED)


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--assay", required=True)
    args, rest = p.parse_known_args()
    assay = os.path.abspath(args.assay)
    unittest.main(argv=[sys.argv[0], *rest])
