#!/usr/bin/env python3
"""Measures the cost of `assay diff` on two files of verdicts. They repeat the verdicts of a log under new ids.

  diff.py ASSAY LOG --db-root DIR [--verdicts N] [--slim] [--directory DIR]

The second file equals the first, except for another p_correct in every tenth verdict. --slim keeps one candidate of
each verdict, and no explanation. Prints the size of a verdict, seconds, CPU seconds and peak memory. The peak is at
least that of Python itself, some 20 MB. Checks that the command finds the changes, and no others. The disk must have
space for both files.
"""
import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

EVERY = 10


def run(command, out):
    """Runs a child. Returns exit status, wall seconds, CPU seconds and peak bytes."""
    began = time.monotonic()
    with open(out, "wb") as file:
        child = subprocess.Popen(command, stdout=file)
    _, status, usage = os.wait4(child.pid, 0)
    cpu = usage.ru_utime + usage.ru_stime
    return os.waitstatus_to_exitcode(status), time.monotonic() - began, cpu, usage.ru_maxrss * 1024


def verdicts_of(args, path):
    command = [args.assay, "replay", args.log, "--db-root", args.db_root, "--quiet", "--format", "jsonl"]
    subprocess.run([*command, "--out", path, "--force"], check=False)
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def slim(verdict):
    verdict["candidates"] = verdict["candidates"][:1]
    verdict["chosen"] = None if verdict["chosen"] is None else 0
    for candidate in verdict["candidates"]:
        candidate.pop("explanation", None)
    return verdict


def write(path, verdicts, n, changed):
    """Writes the verdicts as text, so that a million takes only seconds. Returns the mean size of a verdict."""
    size = 0
    parts = []  # for each verdict: the text before its id, and the text from there to p_correct
    for verdict in verdicts:
        text, moved = json.dumps(dict(verdict, id="@")), json.dumps(dict(verdict, id="@", p_correct=0.5))
        parts.append((text.split('"@"', 1), moved.split('"@"', 1)))
    with open(path, "w", encoding="utf-8") as out:
        for i, (plain, moved) in zip(range(n), itertools.cycle(parts)):
            before, behind = moved if changed and i % EVERY == 0 else plain
            size += out.write(f'{before}"{i}"{behind}\n')
    return size / n


def compare(args, directory, verdicts, n):
    a, b, out = (os.path.join(directory, name) for name in ("a.jsonl", "b.jsonl", "changes.jsonl"))
    size = write(a, verdicts, n, False)
    write(b, verdicts, n, True)
    code, wall, cpu, peak = run([args.assay, "diff", a, b, "--format", "jsonl"], out)
    with open(out, encoding="utf-8") as lines:
        summary = json.loads(list(lines)[-1])["summary"]
    if code != 1 or summary["requests"] != n or summary["fields"]["p_correct"] != -(-n // EVERY):
        sys.exit(f"assay diff ended with {code} and found {summary}")
    return size, wall, cpu, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("assay")
    parser.add_argument("log")
    parser.add_argument("--db-root", required=True)
    parser.add_argument("--verdicts", type=int, default=100_000)
    parser.add_argument("--slim", action="store_true", help="one candidate, no explanation")
    parser.add_argument("--directory", help="where there is room (default: that of temporary files)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.directory) as directory:
        verdicts = [v for v in verdicts_of(args, os.path.join(directory, "verdicts.jsonl")) if v["p_correct"] != 0.5]
        verdicts = [slim(v) for v in verdicts] if args.slim else verdicts
        size, wall, cpu, peak = compare(args, directory, verdicts, args.verdicts)
    print(f"{args.verdicts} verdicts of {size:.0f} bytes on each side: {wall:.1f} s, {cpu:.1f} s of CPU, "
          f"{peak / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
