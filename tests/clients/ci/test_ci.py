"""assay check --pairs in CI: pre-commit on a real repository, the steps of action.yml, and JUnit XML against its
schema.

    test_ci.py SCRATCH          after run.sh has filled it; the program is $ASSAY_TEST_PROGRAM
"""
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import yaml
from lxml import etree

ROOT = Path(__file__).resolve().parents[3]
SCRATCH = Path(sys.argv[1])
PROGRAM = os.path.realpath(os.environ["ASSAY_TEST_PROGRAM"])

GOOD = "-- question: How many hosts are there?\n-- db: podcasts\nSELECT count(*) FROM host\n"
BAD = "-- question: What are the names of the hosts?\n-- db: podcasts\n\nSELECT h.nme\nFROM host AS h\n"
HOSTILE = ("-- question: \"&<]]>\x01::error::,%\n-- db: podcasts\n"
           "SELECT \"]]></failure>\x1b[2J\n::error::%0A\" FROM host\n")


class Case(unittest.TestCase):
    def setUp(self):
        self.home = Path(tempfile.mkdtemp(prefix="assay-ci-"))
        self.addCleanup(shutil.rmtree, self.home)
        (self.home / "bin").mkdir()
        (self.home / "bin/assay").symlink_to(PROGRAM)
        self.repository = self.home / "repository"
        (self.repository / "databases/podcasts").mkdir(parents=True)
        connection = sqlite3.connect(self.repository / "databases/podcasts/podcasts.sqlite")
        connection.executescript((ROOT / "deploy/samples/podcasts.sql").read_text())
        connection.close()
        self.write(good=GOOD, bad=BAD)
        bare = {key: value for key, value in os.environ.items()
                if not key.startswith(("ASSAY_", "GIT_", "GITHUB_", "INPUT_"))}
        self.env = {**bare, "PATH": f"{self.home}/bin:{SCRATCH}/venv/bin:{os.environ['PATH']}", "HOME": str(self.home),
                    "PRE_COMMIT_HOME": str(self.home / "pre-commit"), "ASSAY_MODELS": str(ROOT / "models")}

    def write(self, **queries):
        (self.repository / "queries").mkdir(exist_ok=True)
        for name, text in queries.items():
            (self.repository / f"queries/{name}.sql").write_text(text)

    def run_in(self, *command, folder=None, env=None):
        return subprocess.run(command, cwd=folder or self.repository, env=env or self.env, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=120)

    def must(self, *command, **kwargs):
        done = self.run_in(*command, **kwargs)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout


class Hook(Case):
    def git(self, folder, *words):
        return self.must("git", "-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false",
                         "-c", "init.defaultBranch=main", *words, folder=folder)

    def hooks_at(self):
        """Makes a repository of hooks, as users refer to it, with the current file of this tree."""
        hooks = self.home / "hooks"
        hooks.mkdir()
        shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
        self.git(hooks, "init", "-q")
        self.git(hooks, "add", ".")
        self.git(hooks, "commit", "-q", "-m", "hooks")
        return hooks, self.git(hooks, "rev-parse", "HEAD").strip()

    def setUp(self):
        super().setUp()
        hooks, revision = self.hooks_at()
        config = {"repos": [{"repo": str(hooks), "rev": revision,
                             "hooks": [{"id": "assay-check", "args": ["--db-root", "databases"]}]}]}
        (self.repository / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
        self.git(self.repository, "init", "-q")
        self.must("pre-commit", "install")
        (self.repository / "README").write_text("no query\n")

    def commit(self, *names):
        self.git(self.repository, "add", ".pre-commit-config.yaml", "README", *names)
        return self.run_in("git", "-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-q", "-m",
                           "queries")

    def test_manifest_is_valid(self):
        self.must("pre-commit", "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"))

    def test_good_query_is_committed(self):
        done = self.commit("queries/good.sql")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"assay check\.+Passed")

    def test_bad_query_is_not_committed(self):
        done = self.commit("queries/good.sql", "queries/bad.sql")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("queries/bad.sql:4:8: error: no such column: h.nme [invalid_sql]", done.stdout)
        self.assertNotEqual(self.run_in("git", "rev-parse", "HEAD").returncode, 0, "there is a commit")

    def test_other_files_are_not_checked(self):
        done = self.commit()
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("no files to check", done.stdout)


class Action(Case):
    """The composite action. Its steps run as in a runner: expressions are expanded, bash runs each script, and files
    hold the outputs."""

    def setUp(self):
        super().setUp()
        self.action = yaml.safe_load((ROOT / "action.yml").read_text())
        self.steps = self.action["runs"]["steps"]

    def fill(self, text, inputs):
        """Expands inputs only, because this runner supports no other expression in the environment of a step."""
        def value(match):
            name = re.fullmatch(r"inputs\.([\w-]+)", match[1])
            self.assertIsNotNone(name, match[0])
            self.assertIn(name[1], self.action["inputs"])
            return inputs.get(name[1], self.action["inputs"][name[1]].get("default", ""))
        return re.sub(r"\$\{\{\s*(.*?)\s*\}\}", value, text)

    def run_steps(self, **inputs):
        """Returns (exit status of the first failing step, output, outputs that the steps set)."""
        files = {name: self.home / name for name in ("GITHUB_OUTPUT", "GITHUB_PATH")}
        for path in files.values():
            path.write_text("")
        said = ""
        for step in self.steps:
            if "run" not in step:
                continue
            self.assertNotIn("${{", step["run"], "an input would be part of the script")
            own = {key: self.fill(value, inputs) for key, value in step.get("env", {}).items()}
            env = {**self.env, **own, **{key: str(path) for key, path in files.items()},
                   "GITHUB_ACTION_PATH": str(ROOT), "RUNNER_TEMP": str(self.home)}
            done = self.run_in("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"], env=env)
            said += done.stdout
            if done.returncode:
                break
        outputs = dict(line.split("=", 1) for line in files["GITHUB_OUTPUT"].read_text().splitlines())
        return done.returncode, said, outputs

    def test_output_follows_schema(self):
        self.must("check-jsonschema", "--builtin-schema", "vendor.github-actions", str(ROOT / "action.yml"))

    def test_annotations_are_printed(self):
        status, said, outputs = self.run_steps(paths="queries", **{"db-root": "databases"})
        self.assertEqual(status, 1, said)
        self.assertIn(
            "::error file=queries/bad.sql,line=4,endLine=4,col=8,endColumn=13,title=invalid_sql::no such column: h.nme",
            said)
        self.assertEqual(outputs, {})

    def test_report_is_uploaded(self):
        status, said, outputs = self.run_steps(paths="queries/good.sql\n\nqueries/bad.sql\n", upload="true",
                                               **{"db-root": "databases"})
        self.assertEqual(status, 1, said)
        sarif = json.loads(Path(outputs["sarif"]).read_text())
        results = sarif["runs"][0]["results"]
        self.assertEqual([r["ruleId"] for r in results], ["invalid_sql", "not_validated"])
        for result in results:
            place = result["locations"][0]["physicalLocation"]
            self.assertTrue((self.repository / place["artifactLocation"]["uri"]).exists())
            self.assertEqual(place["region"]["startLine"], 4)
        step = next(step for step in self.steps if "uses" in step)
        self.assertEqual(step["with"]["sarif_file"], "${{ steps.check.outputs.sarif }}")
        self.assertIn("!cancelled()", step["if"], "findings are uploaded when the check has failed, above all")

    def test_good_queries_pass(self):
        status, said, _ = self.run_steps(paths="queries/good.sql", db="databases/podcasts/podcasts.sqlite",
                                         arguments="--strict -q")
        self.assertEqual(status, 0, said)

    def test_input_is_not_run_as_script(self):
        self.run_steps(paths="$(touch gone)`touch gone`; touch gone\n--config=/etc/passwd", **{"db-root": "databases"})
        self.assertFalse((self.repository / "gone").exists())

    def test_missing_queries_fail(self):
        status, said, _ = self.run_steps(paths="databases", **{"db-root": "databases"})
        self.assertEqual(status, 2, said)


class JUnit(Case):
    def setUp(self):
        super().setUp()
        self.schema = etree.XMLSchema(etree.parse(str(SCRATCH / "junit-10.xsd")))
        self.write(hostile=HOSTILE, none="SELECT 1\n", away=GOOD.replace("podcasts", "gone"))

    def report(self, *words):
        done = subprocess.run(["assay", "check", "--pairs", *words, "--db-root", "databases", "--format", "junit",
                               "-q"],
                              cwd=self.repository, env=self.env, stdout=subprocess.PIPE, timeout=120)
        return done.returncode, etree.fromstring(done.stdout)

    def test_output_follows_schema(self):
        status, report = self.report("queries")
        self.assertEqual(status, 2)
        self.schema.assertValid(report)
        suite = report[0]
        self.assertEqual({key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")},
                         {"tests": "5", "failures": "2", "errors": "1", "skipped": "1"})
        outcome = {case.get("name"): [child.tag for child in case] for case in suite}
        self.assertEqual(outcome,
                         {"queries/away.sql": ["error"], "queries/bad.sql": ["failure"], "queries/good.sql": [],
                          "queries/hostile.sql": ["failure"], "queries/none.sql": ["skipped"]})

    def test_hostile_text_is_escaped(self):
        _, report = self.report("queries/hostile.sql")
        self.schema.assertValid(report)
        failure, = report.iter("failure")
        self.assertEqual(len(failure), 0)
        self.assertIn("queries/hostile.sql:3:", failure.text)
        self.assertNotIn("\x1b", failure.text)


if __name__ == "__main__":
    result = unittest.TextTestRunner(stream=open(os.devnull, "w")).run(
        unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]))
    wrong = result.failures + result.errors
    for case, why in wrong:
        print(f"[FAIL] {case.id()}\n{why}")
    print(f"Synthesis: Tested: {result.testsRun} | Passing: {result.testsRun - len(wrong)}")
    sys.exit(1 if wrong else 0)
