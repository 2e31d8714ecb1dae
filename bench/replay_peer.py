#!/usr/bin/env python3
"""The peer of bench/replay.py. It only parses each candidate of a log with sqlglot and executes it, in two processes.

  replay_peer.py LOG --db-root DIR

Prints one JSON object: candidates, seconds, cpu_seconds, peak_mb, sqlglot. It judges nothing: it has no index, signals,
model or verdict. Each process keeps its connections open, and stops a statement after three seconds, as Assay does.
"""
import argparse
import json
import multiprocessing
import os
import resource
import sqlite3
import time

import sqlglot

ROOT = None
CONNECTIONS = {}


def connection(db):
    if db not in CONNECTIONS:
        path = os.path.join(ROOT, db, db + ".sqlite")
        opened = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        opened.text_factory = lambda raw: raw.decode(errors="ignore")
        CONNECTIONS[db] = opened
    return CONNECTIONS[db]


def work(line):
    request = json.loads(line)
    for candidate in request.get("candidates", []):
        sql = candidate if isinstance(candidate, str) else candidate["sql"]
        try:
            sqlglot.parse_one(sql, read="sqlite")
        except sqlglot.errors.SqlglotError:
            pass
        try:
            opened, end = connection(request["db"]), time.monotonic() + 3
            opened.set_progress_handler(lambda: time.monotonic() > end, 10000)
            opened.execute(sql).fetchall()
        except (sqlite3.Error, sqlite3.Warning):
            pass
    return len(request.get("candidates", []))


def start(root):
    global ROOT
    ROOT = root


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("log")
    parser.add_argument("--db-root", required=True)
    args = parser.parse_args()
    lines = open(args.log, encoding="utf-8").readlines()
    began = time.monotonic()
    with multiprocessing.Pool(2, start, (args.db_root,)) as pool:
        candidates = sum(pool.imap_unordered(work, lines, chunksize=8))
        pool.close()
        pool.join()
    seconds = time.monotonic() - began
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    print(json.dumps({
        "candidates": candidates, "seconds": seconds,
        "cpu_seconds": own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime,
        "peak_mb": (own.ru_maxrss + 2 * children.ru_maxrss) / 1024, "sqlglot": sqlglot.__version__}))


if __name__ == "__main__":
    main()
