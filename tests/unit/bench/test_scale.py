#!/usr/bin/env python3
"""Tests the arithmetic of bench/scale.py, and the figures that bench/all.py reads from outputs, on numbers small enough
for manual calculation."""
import os, sys, unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
import all as every, scale

SIZES = [1, 10, 100, 1000, 10_000, 100_000]


class Slopes(unittest.TestCase):
    def test_power_is_fitted(self):
        for power in (0.5, 1, 2): self.assertAlmostEqual(scale.slope([(n, 3 * n ** power) for n in SIZES]), power)
        self.assertIsNone(scale.slope([(10, 1)]))
        self.assertIsNone(scale.slope([(10, 1), (10, 2)]))

    def test_start_time_is_subtracted(self):
        found, marked = scale.growth([(n, 0.1 + 1e-4 * n) for n in SIZES], "n log n")
        self.assertAlmostEqual(found, 1, places=2)
        self.assertFalse(marked)

    def test_only_quadratic_growth_is_marked(self):
        self.assertTrue(scale.growth([(n, 0.1 + 1e-6 * n * n) for n in SIZES], "n log n")[1])
        self.assertFalse(scale.growth([(n, 0.1 + 1e-5 * scale.ALLOWED["n log n"](n)) for n in SIZES], "n log n")[1])

    def test_curve_within_start_time_has_no_slope(self):
        self.assertEqual(scale.growth([(n, 0.1 + 0.01 * (n > 1)) for n in SIZES], "n log n"), (0.0, False))

    def test_flat_curve_is_checked_as_whole(self):
        self.assertFalse(scale.growth([(n, 40 + 0.00002 * n) for n in SIZES], "flat")[1])
        self.assertTrue(scale.growth([(n, 40 + 0.01 * n) for n in SIZES], "flat")[1])

    def test_forecast_extends_last_two_points(self):
        self.assertEqual(scale.forecast([], 10), 0)
        self.assertEqual(scale.forecast([(1, 0.5)], 1000), 0.5)
        self.assertAlmostEqual(scale.forecast([(1, 0), (10, 1), (20, 4)], 40), 16)
        self.assertAlmostEqual(scale.forecast([(1, 1), (10, 2), (100, 2)], 1000), 11)

    def test_sql_has_requested_length(self):
        for shape, make in scale.SHAPES.items():
            lengths = [len(make(n)) for n in (1000, 10_000)]
            self.assertTrue(900 <= lengths[0] <= 1000 and 9900 <= lengths[1] <= 10_000, (shape, lengths))

    def test_curves_rise_and_have_unique_names(self):
        for curve in scale.CURVES:
            for sizes in (curve.sizes, curve.quick): self.assertEqual(sorted(set(sizes)), sizes, curve.name)
        self.assertEqual(len(scale.CURVES), len({curve.name for curve in scale.CURVES}))


class Figures(unittest.TestCase):
    def test_table_cell_is_read(self):
        table = "| kind | pairs | preferred % |\n| --- | --- | --- |\n| units | 8 | 62.5 |\n| all | 307 | 84.7 |\n"
        self.assertEqual(every.figure(every.cells("all", then=1), table), 84.7)
        self.assertIsNone(every.figure(every.cells("none"), table))

    def test_last_number_with_commas_is_read(self):
        self.assertEqual(every.figure(every.NUMBER + r" requests", "1,200 requests\n13,400.5 requests"), 13400.5)

    def test_bounds_are_compared(self):
        claim = lambda op, bound: every.Claim("", "", op, bound)
        self.assertTrue(every.holds(claim(">=", 2), 2) and every.holds(claim("<=", 2), 2))
        self.assertFalse(every.holds(claim(">=", 2), 1.99) or every.holds(claim("<=", 2), 2.01)
                         or every.holds(claim("<=", 2), None))
        self.assertTrue(every.holds(claim("==", 84.7), 84.8))
        self.assertFalse(every.holds(claim("==", 84.7), 84.9) or every.holds(claim("==", 0.831), 0.84))

    def test_each_row_can_be_filled_in(self):
        where = dict.fromkeys(["build", "assay", "mutations", "spider", "databases", "superhero", "superhero_log",
                               "scratch", "postgres", "venv", "verdicts", "first_400"], "x")
        self.assertEqual(len(every.BENCHES), len({row.name for row in every.BENCHES}))
        for row in every.BENCHES:
            command = [part.format(**where) for part in row.command]
            if command[0] == "python3": self.assertTrue(os.path.exists(os.path.join(ROOT, command[1])), command[1])
            for claim in row.claims: self.assertIn(claim.op, every.OPERATORS)


if __name__ == "__main__":
    unittest.main()
