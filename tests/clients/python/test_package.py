"""Tests the installed package: made from a wheel, with the library and the models in it, and with types."""
import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from served import ROOT

import assay
from assay import _library

PACKAGE = Path(assay.__file__).parent

USE = """
from typing import List, Optional
import assay
from assay.pandas import verdicts

def best(judge: assay.Judge, question: str, candidates: List[str]) -> Optional[str]:
    verdict = judge.judge(assay.request(question, "shop", candidates, policy="ask", alpha=0.05))
    return verdict.sql if verdict.validated else None

async def later(judge: assay.AsyncJudge) -> List[assay.Finding]:
    verdict = await judge.wait("id", timeout=3)
    return [finding for candidate in verdict.candidates for finding in candidate.findings]

for item in assay.Judge("http://x").batch([]):
    print(item.line, item.problem.code if isinstance(item, assay.LineProblem) else item.p_correct)
with assay.Engine({"shop": "shop.sqlite"}, threads=2) as engine:
    status: str = engine.submit({}).result().status
    print(len(verdicts([engine.judge({})]).candidates))
"""
WRONG = [
    ('assay.check("q", "db", ["SELECT 1"], polizy="ask")', "polizy"),
    ('assay.check("q", "db", ["SELECT 1"], deadline_ms="soon")', "deadline_ms"),
    ('assay.Judge("http://x").judge(assay.request("q", "db", [])).candidates[0].findigs', "findigs"),
    ('x: int = assay.check("q", "db", []).sql', "assignment"),
]


def mypy(tmp_path, *arguments):
    return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path, *arguments],
                          capture_output=True, text=True, cwd=tmp_path)


@pytest.mark.skipif(sys.version_info < (3, 10), reason="the confluent-kafka of Python 3.9 has no types")
def test_package_passes_type_check(tmp_path):
    done = mypy(tmp_path, "-p", "assay")
    assert done.returncode == 0, done.stdout


def test_types_of_user_programs_are_checked(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    done = mypy(tmp_path, "use.py")
    assert done.returncode == 0, done.stdout
    for i, (line, said) in enumerate(WRONG):
        (tmp_path / f"wrong{i}.py").write_text(f"import assay\n{line}\n")
    done = mypy(tmp_path, *(f"wrong{i}.py" for i in range(len(WRONG))))
    for i, (line, said) in enumerate(WRONG):
        assert any(out.startswith(f"wrong{i}.py:2: error") and said in out
                   for out in done.stdout.splitlines()), (line, done.stdout)


def test_wheel_contains_library():
    if ROOT in PACKAGE.parents:
        pytest.skip("run from the sources")
    assert Path(_library.path()) == PACKAGE / "lib/libassay.so.1"
    assert (PACKAGE / "py.typed").exists() and (PACKAGE / "share/assay/models/verifier.json").exists()
    wheel = importlib.metadata.distribution("assay-sql").read_text("WHEEL")
    assert "Tag: py3-none-manylinux" in wheel and "Root-Is-Purelib: false" in wheel


def test_library_equals_built_one():
    built = subprocess.run([os.environ["ASSAY_TEST_PROGRAM"], "--version"], capture_output=True, text=True).stdout
    assert _library.load().version().decode() in built


def test_options_match_request_options():
    """Compares the options with docs/formats.md; request() would refuse an option that is missing here."""
    table = (ROOT / "docs/formats.md").read_text("utf-8").split("### Options\n")[1].split("\n#")[0]
    said = set(re.findall(r"^\| `([a-z_]+)` \|", table, re.M))
    assert len(said) > 10 and said <= set(assay.Options.__annotations__)
