#!/usr/bin/env python3
"""Measures a run of a million verdicts: the speed of making its index, its size, the memory used, and the time to open
and filter the run.

    bench/runs.py build/release/cli/assay VERDICTS [N [FOLDER]]

VERDICTS is the output of a replay. Its verdicts are written N times (1,000,000) with other ids, other P and other
signals, into FOLDER. By default this is a temporary folder, which is removed; the file takes some 6.5 KB for a verdict.
Filters are measured over HTTP, on assay serve.
"""
import json
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

FILTERS = ["status=abstained", "signal=empty_predicate", "p_from=0.4&p_to=0.6&sort=p", "text=-77777", "db=%s",
           "sort=-ms", "sort=-p&offset=900000",
           "status=validated&signal=fan_out&sort=-ms", "sort=telling"]


def templates(path):
    """Splits each line at its id and its P: (before, between, after)."""
    out = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            verdict = json.loads(line)
            cut = re.fullmatch(r'(.*?"id":)"(?:[^"\\]|\\.)*"(,"db":.*?,"p_correct":)([0-9.e-]+|null)(,.*\n)',
                               line, re.S)
            if cut:
                out.append((cut.group(1), verdict["id"], cut.group(2), cut.group(3), cut.group(4)))
    return out


def write(path, lines, n):
    draw = random.Random(7)
    with open(path, "w", encoding="utf-8", buffering=1 << 20) as out:
        for i in range(n):
            head, name, middle, p, tail = lines[i % len(lines)]
            p = p if p == "null" else f"{draw.random() ** 0.4:.6f}"
            if draw.random() < 0.1:
                tail = tail.replace('"empty_predicate":"silent"', '"empty_predicate":"fired"', 1)
            out.write(f'{head}"{name}-{i}"{middle}{p}{tail}')


def timed(*command):
    before = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    text = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command}: exit status {process.returncode}")
    return time.monotonic() - before, usage.ru_maxrss / 1024, text


def ask(port, path):
    before = time.monotonic()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=600) as reply:
        data = json.loads(reply.read())
    return time.monotonic() - before, data


def serve(program, folder):
    with tempfile.TemporaryDirectory() as root:
        server = subprocess.Popen([program, "serve", "--http", "127.0.0.1:0", "--db-root", root, "--runs", folder,
                                   "--log-form", "json"],
                                  stderr=subprocess.PIPE, text=True)
        for line in server.stderr:
            if '"port"' in line:
                yield json.loads(line)["port"]
                break
        server.terminate()
        server.wait()


def main():
    program, verdicts = sys.argv[1], sys.argv[2]
    n = int(sys.argv[3]) if len(sys.argv) > 3 else 1_000_000
    with tempfile.TemporaryDirectory(dir=sys.argv[4] if len(sys.argv) > 4 else None) as folder:
        path = os.path.join(folder, "run.jsonl")
        write(path, templates(verdicts), n)
        size = os.path.getsize(path)
        print(f"{n:,} verdicts, {size / 1e9:.2f} GB")
        took, memory, text = timed(program, "report", path, "--format", "json", "--quiet")
        summary = json.loads(text)
        index = os.path.getsize(path + ".index")
        print(f"indexed in {took:.1f} s: {n / took:,.0f} verdicts/s, {size / took / 1e6:.0f} MB/s; index "
              f"{index / 1e6:.0f} MB, {index / n:.0f} bytes a verdict; "
              f"memory {memory:.0f} MB")
        took, memory, _ = timed(program, "report", path, "--format", "json", "--quiet")
        print(f"opened with it in {took:.3f} s, memory {memory:.0f} MB")
        took, memory, _ = timed(program, "report", path, "--html", os.path.join(folder, "run.html"), "--quiet")
        print(f"page written in {took:.3f} s, {os.path.getsize(os.path.join(folder, 'run.html')) / 1e6:.1f} MB, memory "
              f"{memory:.0f} MB")
        for port in serve(program, folder):
            took, data = ask(port, "/v1/runs/run.jsonl")
            while "summary" not in data:
                time.sleep(0.05)
                more, data = ask(port, "/v1/runs/run.jsonl")
                took += more
            print(f"over HTTP: summary in {took:.3f} s")
            for query in FILTERS:
                query = query % urllib.parse.quote(summary["databases"][0]["db"]) if "%s" in query else query
                took, page = ask(port, f"/v1/runs/run.jsonl/verdicts?{query}&limit=50&sql=1")
                print(f"  {took:6.3f} s  {page['total']:>9,}  {query}")


if __name__ == "__main__":
    main()
