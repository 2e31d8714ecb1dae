#!/usr/bin/env python3
"""Embedded replay against a Python loop that only parses (sqlglot) and executes each candidate, two processes.

  replay.py ASSAY LOG --db-root DIR [--venv DIR] [--repeat N]

Prints candidates per second of both and their ratio, CPU seconds and peak memory; with --repeat also the peak memory over
the log repeated N times. sqlglot comes from pip into --venv; without it the peer is skipped and the reason printed.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def run(command, **options):
    """Wall seconds, CPU seconds and peak MB of one child (its own usage, not that of earlier ones)."""
    began = time.monotonic()
    child = subprocess.Popen(command, **options)
    _, status, usage = os.wait4(child.pid, 0)
    return os.waitstatus_to_exitcode(status), time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def candidates_of(log):
    with open(log, encoding="utf-8") as lines:
        return sum(len(json.loads(line).get("candidates", [])) for line in lines)


def assay(args, log):
    code, seconds, cpu, peak = run([args.assay, "replay", log, "--db-root", args.db_root, "--workers", "2", "--quiet",
                                    "--format", "jsonl", "--out", os.devnull])
    if code not in (0, 1):
        sys.exit(f"assay replay failed with status {code}")
    return seconds, cpu, peak


def peer_python(venv):
    """A Python that has sqlglot, or None and the reason."""
    python = os.path.join(venv, "bin", "python3")
    try:
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", venv], check=True, capture_output=True)
        if subprocess.run([python, "-c", "import sqlglot"], capture_output=True).returncode != 0:
            subprocess.run([python, "-m", "pip", "install", "-q", "sqlglot"], check=True, capture_output=True, timeout=300)
        return python, None
    except (OSError, subprocess.SubprocessError) as error:
        return None, str(error)


def show(name, candidates, seconds, cpu, peak):
    print(f"{name:32s} {candidates / seconds:10.0f} candidates/s {seconds:8.2f} s {cpu:8.2f} CPU s {peak:8.1f} MB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("assay")
    parser.add_argument("log")
    parser.add_argument("--db-root", required=True)
    parser.add_argument("--venv", default="build/bench-venv")
    parser.add_argument("--repeat", type=int, default=0)
    args = parser.parse_args()

    candidates = candidates_of(args.log)
    ours = assay(args, args.log)
    show("assay replay, 2 workers", candidates, *ours)
    python, reason = peer_python(args.venv)
    if python:
        output = subprocess.run([python, os.path.join(HERE, "replay_peer.py"), args.log, "--db-root", args.db_root],
                                check=True, capture_output=True, text=True).stdout
        theirs = json.loads(output)
        show(f"sqlglot {theirs['sqlglot']} + execute, 2 proc.", theirs["candidates"], theirs["seconds"],
             theirs["cpu_seconds"], theirs["peak_mb"])
        print(f"ratio of candidates/s: {theirs['seconds'] / ours[0]:.2f}   of CPU: {theirs['cpu_seconds'] / ours[1]:.2f}")
    else:
        print(f"skipped the peer: {reason}")
    if args.repeat:
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as long_log:
            with open(args.log, encoding="utf-8") as lines:
                text = lines.read()
            for _ in range(args.repeat):
                long_log.write(text)
            long_log.flush()
            show(f"assay replay, log x {args.repeat}", candidates * args.repeat, *assay(args, long_log.name))


if __name__ == "__main__":
    main()
