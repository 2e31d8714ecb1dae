#!/usr/bin/env python3
"""Measures whether the nearest example has the needed edit, for each key. The databases of the questions are not in the
store.

  examples_retrieval.py --assay build/release/cli/assay --db-root DATABASES --store LOG [--store LOG] --ask NAME=LOG ...

A store is built from the --store logs. The script searches it for each wrong first candidate of an --ask log that
differs from gold. The search uses the error that the store would have for this candidate. It checks whether the nearest
example, or one of the nearest three, changes the same clauses (`same`), or at least one of them (`one`). The figures
for a random example are printed for comparison. If an --ask log is also a --store log, questions on one half of the
databases search a store of the other half.
"""
import argparse, json, os, random, subprocess, tempfile

import results

KEYS = ("error", "question", "sql", "question_sql", "all", "hybrid")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read(path):
    with open(path, encoding="utf-8") as file: return [json.loads(line) for line in file if line.strip()]


def store_of(o, lines, path):
    log = path + ".jsonl"
    with open(log, "w", encoding="utf-8") as file: file.writelines(json.dumps(line) + "\n" for line in lines)
    run(o.assay, "examples", "build", log, "--db-root", o.db_root, "--out", path)
    return json.loads(run(o.assay, "examples", "show", path, "--format", "json"))


def first_only(line):
    return {**line, "candidates": line["candidates"][:1]}


COLUMNS = ("same_first_pct", "one_first_pct", "same_of_three_pct", "one_of_three_pct")


def measure(o, name, store, asked, everything, measured):
    rng, n = random.Random(3), len(asked)
    sets = [set(e["kind"].split(", ")) for e in everything]
    def hits(found, kind):
        return [f(k) for k in (1, 3)
                for f in (lambda k: kind in found[:k], lambda k: any(kind & other for other in found[:k]))]
    rows = {key: [0] * 4 for key in (*KEYS, "at random")}
    for example in asked:
        kind = set(example["kind"].split(", "))
        for key in rows:
            if key == "at random":
                found = rng.sample(sets, 3)
            else:
                out = run(o.assay, "examples", "search", store, "--question", example["question"], "--sql",
                          example["wrong"], "--error", example["error"],
                          "--key", key, "-k", "3", "--format", "json")
                found = [set(e["kind"].split(", ")) for e in json.loads(out)]
            for i, hit in enumerate(hits(found, kind)): rows[key][i] += hit
    for key, row in rows.items():
        measured.append({"log": name, "wrong_candidates": n, "key": key,
                         **{c: 100 * v / n for c, v in zip(COLUMNS, row)}})
        print(f"| {name} | {n} | {key} | " + " | ".join(f"{100 * v / n:.1f}" for v in row) + " |", flush=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--assay", required=True)
    p.add_argument("--db-root", required=True)
    p.add_argument("--store", required=True, action="append", metavar="LOG")
    p.add_argument("--ask", required=True, action="append", metavar="NAME=LOG")
    results.add_option(p)
    o = p.parse_args()
    measured = []
    known = [line for log in o.store for line in read(log) if line.get("gold") and line.get("candidates")]
    half = set(random.Random(3).sample(sorted({line["db"] for line in known}),
                                       len({line["db"] for line in known}) // 2))
    print("| asked | | key | same, first | one, first | same, of three | one, of three |\n| --- | --- | --- | --- | "
          "--- | --- | --- |")
    with tempfile.TemporaryDirectory() as work:
        whole, part = os.path.join(work, "whole.db"), os.path.join(work, "part.db")
        all_examples = store_of(o, known, whole)
        part_examples = store_of(o, [line for line in known if line["db"] not in half], part)
        for name, log in (entry.split("=") for entry in o.ask):
            own = log in o.store
            lines = [first_only(line) for line in read(log) if line.get("candidates")
                     and (not own or line["db"] in half)]
            asked = store_of(o, lines, os.path.join(work, "asked.db"))
            measure(o, name, part if own else whole, asked, part_examples if own else all_examples, measured)
        results.save(o.csv, measured)


if __name__ == "__main__": main()
