"""Checks docs/python.md. Its snippets run one after another, as one program, and must print the output in their
comments."""
import contextlib
import io
import os
import re
import shutil
import subprocess

import pytest
from served import HIRED, HIRED_SQL, ROOT, SAMPLES

PAGE = (ROOT / "docs/python.md").read_text("utf-8")
SNIPPETS = re.findall(r"^```python\n(.*?)^```", PAGE, re.S | re.M)
SAID = re.compile(r"^ *print\(.*\)  # (.+)$", re.M)


@pytest.fixture(scope="module")
def program(server, databases, tmp_path_factory):
    """The common state of the snippets: a folder with a database and the files that they read, and their variables."""
    folder = tmp_path_factory.mktemp("docs")
    shutil.copy(databases / "shops/shops.sqlite", folder)
    run, log = os.environ["ASSAY_TEST_PROGRAM"], SAMPLES / "questions.jsonl"
    subprocess.run([run, "replay", log, "--db-root", databases, "--format", "jsonl", "--out",
                    folder / "verdicts.jsonl"], check=True, capture_output=True)
    with open(folder / "report.json", "wb") as out:
        subprocess.run([run, "eval", log, "--db-root", databases, "--format", "json"], check=True, stdout=out,
                       stderr=subprocess.DEVNULL)
    return folder, {"http://127.0.0.1:8080": server.url}, {}


@pytest.mark.parametrize("number", range(len(SNIPPETS)))
def test_snippet_prints_its_comments(number, program, monkeypatch):
    folder, instead, names = program
    text, printed = SNIPPETS[number], io.StringIO()
    if "assay.kafka" in text:
        pytest.skip("test_kafka.py runs it, where there is a broker")
    for said, meant in instead.items():
        text = text.replace(said, meant)
    monkeypatch.chdir(folder)
    with contextlib.redirect_stdout(printed):
        exec(compile(text, f"docs/python.md, snippet {number}", "exec"), names)
    lines = printed.getvalue().splitlines()
    said = [line for comment in SAID.findall(text) for line in comment.split(" | ")]
    assert [line for line in lines if line in said] == said, printed.getvalue()
    assert lines or "print" not in text


def test_page_shows_usual_question():
    assert HIRED in SNIPPETS[0] and all(sql in SNIPPETS[0] for sql in HIRED_SQL)


def test_each_error_is_documented():
    from assay import errors
    names = {name for name, what in vars(errors).items() if isinstance(what, type)
             and issubclass(what, errors.AssayError)}
    assert all(f"`{name}`" in PAGE for name in names), names
