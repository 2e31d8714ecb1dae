#!/usr/bin/env python3
"""Compares the embedded replay with a Python loop in two processes that only parses each candidate (sqlglot) and
executes it.

  replay.py ASSAY LOG --db-root DIR [--venv DIR] [--rounds N] [--repeat N]

Each round runs three programs one after the other: the replay with its defaults, the replay without explanations, and
the peer. So a load on the machine affects all of them. Prints medians of candidates a second, seconds, CPU seconds and
peak memory, and the median over the rounds of the ratio to the peer. --repeat adds the peak memory over the log
repeated N times. Models are laid out as in an installation, with the binary forms that the build made. sqlglot is
installed from PyPI into --venv (pythons.py). Without it the peer is skipped, and the reason is printed.
"""
import argparse
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import pythons

HERE = os.path.dirname(os.path.abspath(__file__))


def run(command, **options):
    """Runs a child. Returns its wall seconds, CPU seconds and peak MB, without those of earlier children."""
    began = time.monotonic()
    child = subprocess.Popen(command, **options)
    _, status, usage = os.wait4(child.pid, 0)
    return (os.waitstatus_to_exitcode(status), time.monotonic() - began, usage.ru_utime + usage.ru_stime,
            usage.ru_maxrss / 1024)


def lay_out_models(program, folder):
    """Puts the shipped models and their binary forms into one folder, as in an installation."""
    build = os.path.dirname(os.path.dirname(os.path.abspath(program)))
    binary = glob.glob(os.path.join(build, "lib", "learn", "*.bin"))
    if not binary:
        print("the build has no binary forms of the models: their JSON is read at each start")
    for file in binary + [f for f in glob.glob(os.path.join(HERE, "..", "models", "*")) if os.path.isfile(f)]:
        shutil.copy2(file, folder)
    os.environ["ASSAY_MODELS"] = folder


def candidates_of(log):
    with open(log, encoding="utf-8") as lines:
        return sum(len(json.loads(line).get("candidates", [])) for line in lines)


def assay(args, log, *options):
    code, *figures = run([args.assay, "replay", log, "--db-root", args.db_root, "--workers", "2", "--quiet",
                          "--format", "jsonl", "--out", os.devnull, *options])
    if code not in (0, 1):
        sys.exit(f"assay replay failed with status {code}")
    return figures


def peer(args, python):
    output = subprocess.run([python, os.path.join(HERE, "replay_peer.py"), args.log, "--db-root", args.db_root],
                            check=True, capture_output=True, text=True).stdout
    figures = json.loads(output)
    return [figures["seconds"], figures["cpu_seconds"], figures["peak_mb"]]


def show(name, candidates, runs):
    seconds, cpu, peak = (statistics.median(column) for column in zip(*runs))
    print(f"{name:36s} {candidates / seconds:8.0f} candidates/s {seconds:7.2f} s {cpu:7.2f} CPU s {peak:7.1f} MB")


def compare(name, ours, theirs):
    """Prints the ratios within a round: their median and range."""
    speed = sorted(b[0] / a[0] for a, b in zip(ours, theirs))
    cpu = statistics.median(b[1] / a[1] for a, b in zip(ours, theirs))
    print(f"{name:36s} {statistics.median(speed):.2f}x the peer's candidates/s ({speed[0]:.2f}-{speed[-1]:.2f}), "
          f"{cpu:.2f}x by CPU seconds")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("log")
    parser.add_argument("--db-root", required=True)
    parser.add_argument("--venv", default="build/bench-venv")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as models:
        lay_out_models(args.assay, models)
        measure(args)


def measure(args):
    candidates = candidates_of(args.log)
    python, reason = pythons.python_with(args.venv, "sqlglot")
    if not python:
        print(f"skipped the peer: {reason}")
    whole, plain, theirs = [], [], []
    for _ in range(args.rounds):
        whole.append(assay(args, args.log))
        plain.append(assay(args, args.log, "--explain=no"))
        if python:
            theirs.append(peer(args, python))
    show("assay replay", candidates, whole)
    show("assay replay --explain=no", candidates, plain)
    if python:
        show("sqlglot and execution, 2 processes", candidates, theirs)
        compare("assay replay", whole, theirs)
        compare("assay replay --explain=no", plain, theirs)
    if args.repeat:
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as long_log:
            with open(args.log, encoding="utf-8") as lines:
                text = lines.read()
            for _ in range(args.repeat):
                long_log.write(text)
            long_log.flush()
            show(f"assay replay, log x {args.repeat}", candidates * args.repeat, [assay(args, long_log.name)])


if __name__ == "__main__":
    main()
