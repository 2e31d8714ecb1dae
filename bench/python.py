#!/usr/bin/env python3
"""Compares the Python client in process with the C call: the additional time for a candidate, on the same requests,
alternating in one run.

  python.py --library build/release/bench/bench_library --log LOG --db-root DATABASES [--runs 3]

Run it with the Python that has assay installed (or PYTHONPATH=clients/python/assay/src
ASSAY_LIBRARY=build/release/engine/libassay.so.1). The C program judges each request, then this script does, each with
an engine of one thread, --repeat times. The fastest time of each counts, so that other load on the machine has no
effect. The first run, which reads the databases, is not printed. In C, the time is that of assay_judge alone. Here, it
runs from a dict to a complete Verdict, and includes both conversions of JSON.
"""
import argparse
import json
import statistics
import subprocess
import time

import assay


class Peer:
    """The C program, which judges one request at a time."""

    def __init__(self, program, db_root):
        self.process = subprocess.Popen([program, db_root], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def judge(self, line):
        """Returns (microseconds of the call, microseconds of the verdict's JSON)."""
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return tuple(map(float, self.process.stdout.readline().split()))


def ours(engine, request):
    began = time.perf_counter()
    verdict = engine.judge(request)
    return 1e6 * (time.perf_counter() - began), len(verdict.candidates)


def pair(peer, engine, request, repeat):
    """Returns (C, its JSON, Python, candidates), with the fastest times."""
    line = json.dumps(request).encode()
    return tuple(map(min, zip(*((*peer.judge(line), *ours(engine, request)) for _ in range(repeat)))))


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--library", required=True)
    p.add_argument("--log", required=True)
    p.add_argument("--db-root", required=True)
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--repeat", type=int, default=5)
    o = p.parse_args()
    with open(o.log, encoding="utf-8") as log:
        requests = [{key: value for key, value in json.loads(line).items() if key != "gold"} for line in log]
    requests = [request for request in requests if request["candidates"]]
    peer = Peer(o.library, o.db_root)
    print("| run | requests | C: assay_judge, p50 us | its JSON, p50 us | Python, p50 us | over C a candidate, p50 us "
          "| p95 us |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    with assay.Engine(database_root=o.db_root, threads=1) as engine:
        for run in range(o.runs + 1):
            pairs = [pair(peer, engine, request, o.repeat) for request in requests]
            if not run: continue
            over = [(python - c) / n for c, _, python, n in pairs]
            median = [statistics.median(column) for column in zip(*pairs)]
            print(f"| {run} | {len(pairs)} | {median[0]:.0f} | {median[1]:.0f} | {median[2]:.0f} | "
                  f"{statistics.median(over):.1f} "
                  f"| {percentile(over, 0.95):.1f} |", flush=True)


if __name__ == "__main__": main()
