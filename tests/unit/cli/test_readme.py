#!/usr/bin/env python3
"""Checks that the README is short, and that its sample verdict equals the current output of the command. Usage:
test_readme.py ASSAY"""
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MOST_LINES, MOST_COLUMNS, LINES_OF_VERDICT = 110, 120, 10


def mask(text):
    """Returns the text without the milliseconds of a run and without spaces at line ends."""
    return [re.sub(r"[\d.]+ ms", "N ms", line).rstrip() for line in text.splitlines()]


def split_block(readme):
    """Returns (command, output). The command ends at the first line that closes its quotes and has no continuation."""
    lines = re.search(r"^```\n\$ (assay check .*?)^```$", readme, re.S | re.M)[1].splitlines()
    n = next(i for i in range(1, len(lines)) if "\n".join(lines[:i]).count('"') % 2 == 0 and lines[i - 1][-1] != "\\")
    return "\n".join(lines[:n]), "\n".join(lines[n:])


def run(command, program):
    with tempfile.TemporaryDirectory() as folder:
        db = sqlite3.connect(Path(folder, "ferries.sqlite"))
        db.executescript((ROOT / "deploy/samples/ferries.sql").read_text("utf-8"))
        db.close()
        command = command.replace("assay check", f"{program} check --format text", 1)
        environment = {"PATH": os.environ["PATH"], "HOME": folder}
        done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True, text=True,
                              timeout=60)
        return done.returncode, done.stdout


def main(program):
    readme = (ROOT / "README.md").read_text("utf-8")
    command, shown = split_block(readme)
    status, printed = run(command, program)
    wrong = []
    if status != 0:
        wrong.append(f"the command of the README exits with {status}")
    if mask(shown) != mask(printed)[:len(mask(shown))] or len(mask(shown)) > LINES_OF_VERDICT or not shown:
        wrong.append("the verdict of the README is not the one that is printed:\n" +
                     "\n".join(printed.splitlines()[:LINES_OF_VERDICT]))
    if readme.count("\n") > MOST_LINES:
        wrong.append(f"the README has {readme.count(chr(10))} lines, {MOST_LINES} at most")
    wrong += [f"README.md:{n}: over {MOST_COLUMNS} columns" for n, line in enumerate(readme.splitlines(), 1)
              if len(line) > MOST_COLUMNS]
    print("\n".join(f"[FAIL] {one}" for one in wrong))
    print(f"Synthesis: Tested: 1 | Passing: {int(not wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
