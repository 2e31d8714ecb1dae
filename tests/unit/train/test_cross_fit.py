#!/usr/bin/env python3
"""Tests train/cross_fit.py. No model may see the requests that it judges, and the verdicts keep the order of the logs.
A program replaces assay: its model is a list of the databases of its training logs, which it writes into each
verdict."""
import json, os, stat, subprocess, sys, tempfile, unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
PRETENDER = """#!%s
import json, os, sys
words = sys.argv[1:]
out = words[words.index("--out") + 1]
logs = [w for w in words if w.endswith(".jsonl")]
lines = lambda path: [json.loads(l) for l in open(path)]
if words[0] == "train":
    assert words[words.index("--db-root") + 1] == "dbs" and words[words.index("--seed") + 1] == "7"
    json.dump({"seen": sorted({l["db"] for log in logs for l in lines(log)})}, open(out, "w"))
else:
    models = words[words.index("--models") + 1]
    seen = sorted({d for m in ("label_model", "verifier") for d in json.load(open(os.path.join(models, m + ".json")))["seen"]})
    assert "--strategy=rerank" in words and json.load(open(os.path.join(models, "decision.json")))["margin"] == 3
    with open(out, "w") as f:
        for l in lines(words[1]): f.write(json.dumps({"id": l["id"], "db": l["db"], "seen": seen}) + "\\n")
"""


class CrossFit(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        os.chdir(self.dir.name)
        os.makedirs("models"), os.makedirs("logs"), os.makedirs("own")
        self.write("assay", PRETENDER % sys.executable)
        os.chmod("assay", os.stat("assay").st_mode | stat.S_IXUSR)
        train = "assay train %s LOGS/a.jsonl%s --db-root DATABASES --seed 7"
        self.write("models/label_model.json", json.dumps({"command": train % ("label-model", "")}))
        self.write("models/verifier.json", json.dumps({"command": train % ("verifier", " LOGS/b.jsonl made.jsonl")}))
        self.write("models/decision.json", json.dumps({"command": "by hand", "margin": 3}))
        self.log("logs/a.jsonl", 40)
        self.log("logs/b.jsonl", 25)
        self.log("more.jsonl", 30)
        self.log("own/made.jsonl", 30)

    def tearDown(self):
        os.chdir("/")
        self.dir.cleanup()

    def write(self, path, text):
        with open(path, "w") as file: file.write(text)

    def log(self, path, n):
        self.write(path, "".join(json.dumps({"id": f"{path}-{i}", "db": f"db{i * 7 % 11}"}) + "\n" for i in range(n)))

    def run_it(self, folds):
        return subprocess.run([sys.executable, os.path.join(ROOT, "train", "cross_fit.py"), "--assay", "./assay",
                               "--models", "models",
                               "--logs", "logs", "--db-root", "dbs", "--made", "own", "--work", "work", "--out",
                               "out.jsonl", "--folds", str(folds),
                               "logs/a.jsonl", "more.jsonl", "--", "--strategy=rerank"], capture_output=True, text=True)

    def test_models_see_no_judged_request_and_order_stays(self):
        done = self.run_it(4)
        self.assertEqual(done.returncode, 0, done.stderr)
        verdicts = [json.loads(line) for line in open("out.jsonl")]
        asked = [json.loads(line)["id"] for path in ("logs/a.jsonl", "more.jsonl") for line in open(path)]
        self.assertEqual([v["id"] for v in verdicts], asked)
        for v in verdicts:
            self.assertNotIn(v["db"], v["seen"])
            self.assertGreaterEqual(len(v["seen"]), 8, "all other folds")
        self.assertEqual({v["fold"] for v in verdicts}, {0, 1, 2, 3})
        self.assertEqual({v["log"] for v in verdicts}, {"a.jsonl", "more.jsonl"})
        first = open("out.jsonl").read()
        os.remove("assay")
        self.assertEqual(self.run_it(4).returncode, 0, "what is there is used again")
        self.assertEqual(open("out.jsonl").read(), first)

    def test_too_few_databases_are_refused(self):
        self.assertIn("need at least as many databases", self.run_it(12).stderr)


if __name__ == "__main__":
    unittest.main()
