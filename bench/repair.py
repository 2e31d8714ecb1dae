#!/usr/bin/env python3
"""What `assay fix` mends and breaks on the first candidates of a log with gold, by margin.

  repair.py --assay build/release/cli/assay --log NAME=LOG=DATABASES ... [--limit N] [--jobs 2]

The first candidate of each question stands alone, as in a system that gives one. `assay fix --margin 0` proposes; both queries
are labelled by execution (`assay eval --labels`). For each margin: answers changed, fixed, broken, and EX before and after; in
brackets those of old queries that did not execute.
"""
import argparse, concurrent.futures, json, os, subprocess, tempfile, time

MARGINS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)


def read(path):
    with open(path, encoding="utf-8") as file: return [json.loads(line) for line in file if line.strip()]


def sql_of(candidate):
    return candidate["sql"] if isinstance(candidate, dict) else candidate


def fix(assay, root, line):
    """The JSON of `assay fix`, with its time in ms; None: nothing could be proposed."""
    command = [assay, "fix", "--db", os.path.join(root, line["db"], line["db"] + ".sqlite"), "--question", line["question"],
               "--format", "json", "--margin", "0", sql_of(line["candidates"][0])]
    if line.get("evidence"): command[2:2] = ["--evidence", line["evidence"]]
    start = time.monotonic()
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode > 1 or not run.stdout.strip(): return None
    return {**json.loads(run.stdout), "ms": 1000 * (time.monotonic() - start)}


def labels(assay, root, lines, fixes):
    """For each line whether the old query is right, and whether the proposal is."""
    with tempfile.TemporaryDirectory() as work:
        log, out = os.path.join(work, "log.jsonl"), os.path.join(work, "labels.json")
        with open(log, "w", encoding="utf-8") as file:
            for line, found in zip(lines, fixes):
                proposal = (found or {}).get("proposal") or sql_of(line["candidates"][0])
                file.write(json.dumps({**line, "candidates": [{"sql": sql_of(line["candidates"][0])}, {"sql": proposal}]}) + "\n")
        subprocess.run([assay, "eval", log, "--db-root", root, "--labels", out, "--explain=no", "--bootstrap", "0"], check=True,
                       stdout=subprocess.DEVNULL)
        with open(out, encoding="utf-8") as file: return [[label == "ok" for label in row] for row in json.load(file)]


def report(name, lines, fixes, right):
    n, first = len(lines), sum(old for old, _ in right)
    for margin in MARGINS:
        changed = fixed = broken = dead = 0
        for found, (old, new) in zip(fixes, right):
            if not found or not found.get("proposal") or (found["p_after"] or 0) < 0.5: continue
            if found["p_before"] is not None and found["p_after"] - found["p_before"] < margin: continue
            changed += 1
            fixed += new and not old
            broken += old and not new
            dead += new and not old and not found["p_before"]
        print(f"| {name} | {margin} | {changed} | {fixed} ({dead}) / {broken} | {100 * first / n:.1f} → {100 * (first + fixed - broken) / n:.1f} |")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--assay", required=True)
    p.add_argument("--log", required=True, action="append", metavar="NAME=LOG=DATABASES")
    p.add_argument("--limit", type=int, default=10**9, help="the first so many questions")
    p.add_argument("--jobs", type=int, default=2)
    o = p.parse_args()
    print("| log | margin | changed | fixed (of those that did not execute) / broken | EX |\n| --- | --- | --- | --- | --- |")
    for name, log, root in (entry.split("=") for entry in o.log):
        lines = [line for line in read(log) if line.get("candidates")][:o.limit]
        with concurrent.futures.ThreadPoolExecutor(o.jobs) as pool:
            fixes = list(pool.map(lambda line: fix(o.assay, root, line), lines))
        report(name, lines, fixes, labels(o.assay, root, lines, fixes))


if __name__ == "__main__": main()
