#!/usr/bin/env python3
"""Tests bench/calibration.py and the choices of bench/combine_weights.py, on numbers small enough for manual
calculation."""
import math, os, random, sys, unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "bench"))
import calibration, combine_weights, strategy_report


class Calibration(unittest.TestCase):
    def test_bins_have_equal_mass(self):
        pairs = [(0.1, False), (0.2, True), (0.9, True), (0.8, True)]
        self.assertAlmostEqual(calibration.calibration_error(pairs, bins=2), (0.35 * 2 + 0.15 * 2) / 4)
        self.assertAlmostEqual(calibration.calibration_error(pairs, bins=1), 0.25)
        self.assertAlmostEqual(calibration.over(pairs), -0.25)

    def test_fewer_values_than_bins(self):
        self.assertAlmostEqual(calibration.calibration_error([(0.25, True)]), 0.75)
        self.assertTrue(math.isnan(calibration.calibration_error([])))

    def test_calibrated_judge_stays_within_bound(self):
        rng = random.Random(5)
        said = [rng.random() for _ in range(300)]
        bound = calibration.honest_bound(said, runs=200)
        kept = sum(calibration.calibration_error([(p, rng.random() < p) for p in said]) <= bound for _ in range(200))
        self.assertTrue(175 <= kept, kept)
        self.assertGreater(calibration.calibration_error([(p, rng.random() < p * p) for p in said]), bound)
        self.assertEqual(bound, calibration.honest_bound(said, runs=200))

    def test_f1_measures_detection_of_wrong_answers(self):
        self.assertAlmostEqual(calibration.f1([(0.2, False), (0.4, True), (0.9, False), (0.9, True)]), 50)
        self.assertTrue(math.isnan(calibration.f1([(0.9, True)])))


class Margins(unittest.TestCase):
    def test_replacement_must_exceed_margin(self):
        self.assertEqual(combine_weights.answer([0.5, 0.75, 0.6], 0.2), 1)
        self.assertEqual(combine_weights.answer([0.5, 0.75, 0.6], 0.25), 0)
        self.assertEqual(combine_weights.answer([0.5, 0.5], 0), 0)

    def test_outcome_matches_manual_value(self):
        lists = [[(True, 0.6), (False, 0.7)], [(False, 0.2), (True, 0.9)], [(True, 0.5), (True, 0.9)],
                 [(False, 0.1), (False, 0.3)]]
        self.assertEqual(combine_weights.outcome(lists, 0), (50, 1, 1))
        self.assertEqual(combine_weights.outcome(lists, 0.15), (75, 1, 0))

    def test_smallest_margin_holds_in_worst_world(self):
        choose = combine_weights.choose_margin
        self.assertEqual(choose({0: [(9, 1), (3, 2)], 0.1: [(8, 1), (4, 2)], 0.2: [(2, 0), (3, 1)]}), (0.1, 2))
        self.assertEqual(choose({0: [(9, 1), (1, 2)], 0.1: [(8, 1), (3, 2)], 0.2: [(8, 1), (3, 2)]}), (0.1, 1.5))
        self.assertEqual(choose({0: [(0, 0)], 0.1: [(0, 0)]}), (0, math.inf))

    def test_positions_count_only_in_ranked_order(self):
        a, b = {"result": "x", "rows": 1}, {"result": "y", "rows": 1}
        first = {kind: combine_weights.contexts([(a, 1), (b, 1)], *combine_weights.HABITS[kind])
                 for kind in combine_weights.KINDS}
        self.assertGreater(first["ranked"][0], first["ranked"][1])
        for kind in combine_weights.ORDERS["sampled"]: self.assertEqual(*first[kind])

    def test_share_takes_same_questions_of_all_logs(self):
        lines = [{"db": "d%d" % (i % 7), "question": "q%d" % i} for i in range(2000)]
        kept = [l for l in lines if combine_weights.is_kept(l, 0.25)]
        self.assertTrue(400 < len(kept) < 600, len(kept))
        self.assertTrue(all(combine_weights.is_kept(dict(l, gold="SELECT 1"), 0.25) for l in kept))
        self.assertTrue(all(combine_weights.is_kept(l, 1) for l in lines))


class Report(unittest.TestCase):
    def test_orders_are_listed_for_each_word(self):
        self.assertEqual(strategy_report.words_of("ranked"), ["ranked", None, "sampled"])
        self.assertEqual(strategy_report.words_of("sampled"), ["sampled", None, "ranked"])
        self.assertEqual(strategy_report.words_of("unknown"), ["unknown"])

    def test_pairs_compare_first_executing_and_answer(self):
        candidates = [{"p_correct": 0.25}, {"p_correct": 0.5}, {"p_correct": 0.75}]
        verdicts = [{"candidates": candidates, "chosen": 2}, {"candidates": candidates, "chosen": None},
                    {"candidates": [{"p_correct": None}], "chosen": 0}, {"candidates": candidates, "chosen": 1}]
        labels = [["err:no", "wrong", "ok"], ["ok", "ok", "ok"], ["wrong"], []]
        self.assertEqual(strategy_report.pairs_of(verdicts, labels), ([(0.5, False), (0.25, True)], [(0.75, True)]))


if __name__ == "__main__":
    unittest.main()
