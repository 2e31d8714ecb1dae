"""Tests libassay as its users have it: installed into a folder. Its example is compiled with pkg-config's flags, and
run."""
import argparse
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
EXAMPLE = os.path.join(SOURCE, "engine/example/judge.c")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
QUESTION = "Give the name of each host and the titles of the shows they host."
args = None


def run(*command, **kwargs):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=240, **kwargs)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def compare(verdict):
    """Returns the verdict without the parts that depend on the clock or on the id of the request."""
    for candidate in verdict["candidates"]:
        if candidate["execution"]:
            candidate["execution"].pop("ms")
    return {key: value for key, value in verdict.items() if key not in ("id", "timings", "request_digest")}


class Library(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.mkdtemp(prefix="assay-library-")
        cls.addClassCleanup(shutil.rmtree, cls.home)
        cls.prefix = os.path.join(cls.home, "usr")
        run("cmake", "--install", args.build, "--component", "library", "--prefix", cls.prefix)
        cls.database = os.path.join(cls.home, "podcasts.sqlite")
        with open(os.path.join(SOURCE, "deploy/samples/podcasts.sql"), encoding="utf-8") as script:
            connection = sqlite3.connect(cls.database)
            connection.executescript(script.read())
            connection.close()
        cls.program = os.path.join(cls.home, "judge")
        run(args.cc, "-std=c11", *WARNINGS, *args.flags, EXAMPLE, *cls.pkg_config("--cflags", "--libs"), "-o",
            cls.program)

    @classmethod
    def find(cls, name, prefix=None):
        for folder, _, files in os.walk(prefix or cls.prefix):
            if name in files:
                return os.path.join(folder, name)
        raise AssertionError(f"{name} is not installed")

    @classmethod
    def pkg_config(cls, *words):
        env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(cls.find("assay.pc")))
        return run("pkg-config", *words, "assay", env=env).stdout.split()

    def judge(self, *words, prefix=None):
        """Runs outside of the sources, and without a setting that names the models."""
        env = {key: value for key, value in os.environ.items() if key != "ASSAY_MODELS"}
        env["LD_LIBRARY_PATH"] = os.path.dirname(self.find("libassay.so.1", prefix))
        return run(self.program, *words, env=env, cwd=self.home)

    def test_example_runs(self):
        done = self.judge(self.database)
        lines = done.stdout.splitlines()
        self.assertRegex(lines[0], r"^validated, P\(correct\) = 0\.\d{3}, candidates\[1\]$")
        self.assertIn("JOIN show_host", lines[1])
        verdict = json.loads(lines[-1])
        self.assertEqual(verdict["schema_version"], 2)
        self.assertEqual(verdict["id"], "example")
        self.assertEqual(done.stderr, "", "the library is silent")

    def test_verdict_equals_command_line(self):
        verdict = json.loads(self.judge(self.database).stdout.splitlines()[-1])
        candidates = [candidate["sql"] for candidate in verdict["candidates"]]
        done = run(args.assay, "check", "--format=jsonl", "--db", self.database, "--question", QUESTION, *candidates,
                   env=dict(os.environ, ASSAY_MODELS=os.path.join(SOURCE, "models")))
        self.assertEqual(compare(verdict), compare(json.loads(done.stdout)))

    def test_executor_process_is_supported(self):
        verdict = json.loads(self.judge(self.database, args.assay).stdout.splitlines()[-1])
        self.assertEqual(verdict["chosen"], 1)

    def test_missing_database_is_reported_in_verdict(self):
        done = self.judge(os.path.join(self.home, "none.sqlite"))
        self.assertEqual(json.loads(done.stdout.splitlines()[-1])["reason"], "db_missing")
        self.assertEqual(done.stderr, "")

    def test_library_can_be_moved(self):
        moved = os.path.join(self.home, "elsewhere")
        shutil.copytree(self.prefix, moved, symlinks=True)
        models = os.path.join(self.prefix, "share/assay/models")
        os.rename(models, models + ".gone")
        try:
            self.assertIn("validated", self.judge(self.database, prefix=moved).stdout)
        finally:
            os.rename(models + ".gone", models)

    def test_library_exports_only_its_header(self):
        with open(self.find("assay.h"), encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        declared = set(re.findall(r"ASSAY_API [^;]*?\b(assay_\w+)\(", text))
        library = self.find("libassay.so.1.0.0")
        names = run("nm", "-D", "--defined-only", "--with-symbol-versions", library).stdout
        exported = {line.split()[2] for line in names.splitlines() if line.split()[1] != "A"}
        self.assertEqual(exported, {name + "@@ASSAY_1" for name in declared})
        self.assertIn("[libassay.so.1]", run("readelf", "-d", library).stdout)

    def test_header_is_self_contained(self):
        flags = self.pkg_config("--cflags")
        source = "#include <assay.h>\nint main(void) { struct assay_options o; assay_options_init(&o); return 0; }\n"
        run(args.cc, "-std=c99", *WARNINGS, *flags, "-fsyntax-only", "-x", "c", "-", input=source)
        cxx = shutil.which("g++") or shutil.which("clang++")
        if not cxx:
            self.skipTest("there is no C++ compiler")
        run(cxx, "-std=c++11", *WARNINGS, *flags, "-fsyntax-only", "-x", "c++", "-",
            input=source.replace("(void)", "()"))

    def test_example_is_short(self):
        with open(EXAMPLE, encoding="utf-8") as file:
            self.assertLessEqual(len(file.readlines()), 60)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("--build", "--assay", "--cc"):
        parser.add_argument(name, required=True)
    parser.add_argument("--flags", default="", type=str.split)
    args, rest = parser.parse_known_args()
    if not shutil.which("pkg-config"):
        print("there is no pkg-config")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + rest)
