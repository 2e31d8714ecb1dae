#!/usr/bin/env python3
"""Tests of bench/results.py: files with quotes and Unicode, the stamp of commit and machine, and rows that stay."""
import argparse, csv, glob, os, re, shutil, subprocess, sys, tempfile, unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "bench"))
import results

MACHINE = r"\d+ x .+, \d+ GiB"


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name): return os.path.join(self.folder.name, name)

    def test_values_round_trip(self):
        rows = [{"log": 'a "b", c', "ex_pct": 76.7}, {"log": "größer\nzwei", "broken": 0}]
        results.save(self.path("x.csv"), rows)
        found = results.read(self.path("x.csv"))
        self.assertEqual([{name: row[name] for name in ("log", "ex_pct", "broken")} for row in found],
                         [{"log": 'a "b", c', "ex_pct": "76.7", "broken": ""},
                          {"log": "größer\nzwei", "ex_pct": "", "broken": "0"}])

    def test_each_row_has_the_stamp(self):
        results.write("x", [{"a": 1}, {"a": 2}], self.folder.name)
        for row in results.read(self.path("x.csv")):
            self.assertEqual(list(row), ["a", "commit", "machine"])
            self.assertRegex(row["commit"], r"^([0-9a-f]{7,40}\+?)?$")
            self.assertRegex(row["machine"], f"^{MACHINE}$")

    def test_rows_of_other_keys_are_kept(self):
        rows = [{"bench": "a", "measured": 1}, {"bench": "b", "measured": 2}]
        results.write("x", rows, self.folder.name, key="bench")
        old = [{**row, "commit": "1234567", "machine": "another"} for row in results.read(self.path("x.csv"))]
        results.save(self.path("x.csv"), old)
        results.write("x", [{"bench": "b", "measured": 3}], self.folder.name, key="bench")
        kept, new = results.read(self.path("x.csv"))
        self.assertEqual((kept["measured"], kept["commit"], kept["machine"]), ("1", "1234567", "another"))
        self.assertEqual((new["measured"], new["commit"] == "1234567"), ("3", False))

    def test_rows_are_replaced_without_a_key(self):
        for measured in (1, 2): results.write("x", [{"measured": measured}], self.folder.name)
        self.assertEqual([row["measured"] for row in results.read(self.path("x.csv"))], ["2"])

    def test_no_file_without_the_option(self):
        parser = argparse.ArgumentParser()
        results.add_option(parser)
        results.save(parser.parse_args([]).csv, [{"a": 1}])
        self.assertEqual(os.listdir(self.folder.name), [])
        self.assertEqual(parser.parse_args(["--csv", "x.csv"]).csv, "x.csv")


@unittest.skipUnless(shutil.which("git"), "no git")
class Commit(unittest.TestCase):
    def test_changed_sources_add_plus_to_commit(self):
        with tempfile.TemporaryDirectory() as root:
            own = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
            git = lambda *command: subprocess.run([*own, *command], cwd=root, check=True, capture_output=True)
            here, results.HERE = results.HERE, os.path.join(root, "bench")
            try:
                os.makedirs(os.path.join(results.HERE, "results"))
                for name in ("a.py", "results/a.csv"): self.put(name, "1")
                git("init", "-q")
                git("add", ".")
                git("commit", "-qm", "a")
                self.assertRegex(results.commit(), r"^[0-9a-f]{7,40}$")
                self.put("results/a.csv", "2")
                self.assertFalse(results.commit().endswith("+"))
                self.put("a.py", "2")
                self.assertRegex(results.commit(), r"^[0-9a-f]{7,40}\+$")
            finally:
                results.HERE = here

    def put(self, name, text):
        with open(os.path.join(results.HERE, name), "w", encoding="utf-8") as file: file.write(text)


class Shipped(unittest.TestCase):
    """The files of bench/results."""

    def test_each_file_has_rows_and_a_stamp(self):
        paths = glob.glob(os.path.join(results.FOLDER, "*.csv"))
        self.assertGreater(len(paths), 50)
        for path in paths:
            with open(path, newline="", encoding="utf-8") as file: head, *rows = csv.reader(file, strict=True)
            self.assertTrue(rows, path)
            self.assertTrue({"commit", "machine"} <= set(head), path)
            self.assertEqual({len(row) for row in rows}, {len(head)}, path)

    def test_readme_names_each_file(self):
        with open(os.path.join(results.FOLDER, "README.md"), encoding="utf-8") as file:
            named = set(re.findall(r"`(\w+)`", file.read()))
        there = {os.path.basename(path)[:-4] for path in glob.glob(os.path.join(results.FOLDER, "*.csv"))}
        self.assertEqual(there - named, set())


if __name__ == "__main__":
    unittest.main()
