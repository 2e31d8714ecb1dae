#!/usr/bin/env python3
"""Checks the tables of docs/signals.md: each signal that a row names must report an example of that row.

The examples are in tests/data/known_errors. An `id` is the number of the error and a letter. Errors of the second table
are numbered A1, A2 and so on, in the order of the table."""
import argparse, collections, json, os, re, subprocess, sys, tempfile, unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
import pairs

FOLDER = os.path.join(ROOT, "tests", "data", "known_errors")
SAME_EXAMPLES = {"A7": "10"}  # NOT IN with NULL is in both tables


def read_examples():
    with open(os.path.join(FOLDER, "examples.jsonl"), encoding="utf-8") as f: return [json.loads(line) for line in f]


def error_of(example): return re.match(r"A?\d+", example["id"]).group()


def read_rows():
    """Returns the entry of docs/signals.md for each error: {"8": "`contradiction` (partly)", ...}."""
    with open(os.path.join(ROOT, "docs", "signals.md"), encoding="utf-8") as f: text = f.read()
    rows, others = {}, 0
    for first, found in re.findall(r"^\| ([^|]+) \|[^|]+\| ([^|]+) \|$", text, re.M):
        if first in ("number", "antipattern", "---"): continue
        others += not first.isdigit()
        rows[first if first.isdigit() else f"A{others}"] = found
    return rows


def judge(examples):
    """Returns for each error the severities of each signal on its examples."""
    found = collections.defaultdict(lambda: collections.defaultdict(set))
    with pairs.build_databases(FOLDER) as root, tempfile.TemporaryDirectory() as work:
        log, out = os.path.join(work, "log.jsonl"), os.path.join(work, "verdicts.jsonl")
        with open(log, "w", encoding="utf-8") as f:
            for e in examples:
                request = {key: e[key] for key in ("id", "db", "question")} | {"candidates": [e["sql"]]}
                f.write(json.dumps(request) + "\n")
        subprocess.run([assay, "replay", log, "--db-root", root, "--out", out, "--quiet"], check=True)
        with open(out, encoding="utf-8") as f:
            for verdict in map(json.loads, f):
                for finding in verdict["candidates"][0]["findings"] if verdict["candidates"] else ():
                    found[error_of(verdict)][finding["signal"]].add(finding["severity"])
    return found


class KnownErrors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.examples, cls.rows = read_examples(), read_rows()
        cls.found = judge(cls.examples)

    def test_every_error_has_a_row(self):
        self.assertEqual([str(n) for n in range(1, 44)] + [f"A{n}" for n in range(1, 12)], list(self.rows))

    def test_signals_report_an_example(self):
        for error, row in self.rows.items():
            for signal in re.findall(r"`(\w+)`", row):
                with self.subTest(error=error, signal=signal):
                    severities = self.found[SAME_EXAMPLES.get(error, error)][signal]
                    self.assertTrue(severities if "(note" in row else severities - {"note"})

    def test_undetected_errors_have_examples(self):
        missed = {error for error, row in self.rows.items() if row == "not found"}
        self.assertLessEqual(missed, {error_of(e) for e in self.examples})


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--assay", required=True)
    args, rest = p.parse_known_args()
    assay = os.path.abspath(args.assay)
    unittest.main(argv=[sys.argv[0], *rest])
