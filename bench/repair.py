#!/usr/bin/env python3
"""Measures what repairs fix and break on logs with gold, by margin.

  repair.py --assay build/release/cli/assay --log NAME=LOG=DATABASES[=ORDER] ... [--first] [--models DIR] [--examples
  LOG|own]
            [--csv FILE]

Each log is replayed with `--repair propose` and almost no margin. `assay eval --labels` labels the answer and its
proposed repair by execution. For each margin the table has the changed, fixed and broken answers, and EX before and
after. Changed answers that were and stay wrong are listed apart. In brackets are the fixed ones whose old query did not
execute. --first keeps only the first candidate of each question, as from a system that returns one. With --examples,
repairs try the edits in a store. It holds the wrong candidates of LOG, or those of the log itself on other databases:
each half of the databases has a store of the other half. The last line has the time of a judgement with and without
repairs, and the number of questions for which a repair was searched.
"""
import argparse, json, os, subprocess, tempfile, zlib

import results

MARGINS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)


def read(path):
    with open(path, encoding="utf-8") as file: return [json.loads(line) for line in file if line.strip()]


def write(path, rows):
    with open(path, "w", encoding="utf-8") as file: file.writelines(json.dumps(row) + "\n" for row in rows)


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def sql_of(candidate):
    return candidate["sql"] if isinstance(candidate, dict) else candidate


def replay(o, log, root, order, repair, work, *more):
    out = os.path.join(work, f"verdicts.{repair}.jsonl")
    run(o.assay, "replay", log, "--db-root", root, "--order", order, "--repair", repair, "--repair-margin", "0.001",
        "--out", out,
        "--force", *(["--models", o.models] if o.models else []), *more)
    return read(out)


def half_of(line):
    return zlib.crc32(line["db"].encode()) % 2


def store(o, root, lines, half, work):
    """Makes a store of the examples on the databases of the other half."""
    log, out = os.path.join(work, "examples.jsonl"), os.path.join(work, f"examples.{half}.db")
    write(log, (line for line in lines if half_of(line) != half))
    run(o.assay, "examples", "build", log, "--db-root", root, "--out", out)
    return out


def replay_with_examples(o, log, root, order, repair, work):
    lines = read(log)
    examples = lines if o.examples == "own" else read(o.examples)
    verdicts = {}
    for half in (0, 1):
        part = os.path.join(work, "half.jsonl")
        write(part, (line for line in lines if half_of(line) == half))
        of_others = store(o, root, examples, half, work)
        verdicts.update((v["id"], v) for v in replay(o, part, root, order, repair, work, "--examples", of_others))
    return [verdicts[line["id"]] for line in lines]


def labels(o, root, lines, pairs, work):
    """Returns, for each line, whether the answer is right and whether the repair is."""
    log, out = os.path.join(work, "pairs.jsonl"), os.path.join(work, "labels.json")
    write(log, ({**line, "candidates": [{"sql": sql} for sql in pair]} for line, pair in zip(lines, pairs)))
    run(o.assay, "eval", log, "--db-root", root, "--labels", out, "--explain=no", "--bootstrap", "0")
    with open(out, encoding="utf-8") as file: return [[label == "ok" for label in row] for row in json.load(file)]


def report(name, repairs, right, rows):
    """Prints a row for each margin and adds it to `rows`. Returns how many answers it fixes and breaks."""
    counts = {}
    n, first = len(right), sum(old for old, _ in right)
    for margin in MARGINS:
        changed = fixed = broken = dead = still = 0
        for repair, (old, new) in zip(repairs, right):
            if not repair or repair["p_correct"] < 0.5: continue
            if repair["p_old"] is not None and repair["p_correct"] - repair["p_old"] < margin: continue
            changed += 1
            fixed += new and not old
            broken += old and not new
            still += not old and not new
            dead += new and not old and repair["p_old"] is None
        counts[margin] = fixed, broken
        rows.append({"log": name, "margin": margin, "ex_before_pct": 100 * first / n, "changed": changed,
                     "still_wrong": still, "fixed": fixed, "fixed_not_executing": dead, "broken": broken,
                     "ex_pct": 100 * (first + fixed - broken) / n})
        print(f"| {name} | {margin} | {changed} ({still}) | {fixed} ({dead}) / {broken} | {100 * first / n:.1f} → "
              f"{100 * (first + fixed - broken) / n:.1f} |", flush=True)
    return counts


def by_signal(verdicts, right):
    """Prints, for each signal on the old query, how many repairs at any margin fix and break, and their number."""
    counts = {}
    for verdict, (old, new) in zip(verdicts, right):
        if not verdict.get("repair"): continue
        states = verdict["candidates"][verdict["repair"]["of"]]["signals"]
        for name in (name for name, state in states.items() if state == "fired"):
            fixed, broken, n = counts.get(name, (0, 0, 0))
            counts[name] = fixed + (new and not old), broken + (old and not new), n + 1
    return counts


def middle(values):
    return sorted(values)[len(values) // 2] if values else 0


def measure(o, name, log, root, order, rows):
    with tempfile.TemporaryDirectory() as work:
        lines = [line for line in read(log) if line.get("candidates")][:o.limit]
        if o.first: lines = [{**line, "candidates": line["candidates"][:1]} for line in lines]
        lines = [{**line, "id": str(i)} for i, line in enumerate(lines)]
        cut = os.path.join(work, "log.jsonl")
        write(cut, lines)
        without = replay(o, cut, root, order, "off", work)
        verdicts = (replay_with_examples if o.examples else replay)(o, cut, root, order, "propose", work)
        repairs = [verdict.get("repair") for verdict in verdicts]
        answers = [verdict.get("sql") or sql_of(line["candidates"][0]) for line, verdict in zip(lines, verdicts)]
        pairs = [(old, repair["sql"] if repair else old) for old, repair in zip(answers, repairs)]
        right = labels(o, root, lines, pairs, work)
        counts = report(name, repairs, right, rows)
        own = [v["timings"]["worker_ms"] - w["timings"]["worker_ms"] for v, w in zip(verdicts, without)
               if v.get("repair")]
        print(f"{name}: {len(own)} of {len(lines)} questions have a nearer query; workers' time for it "
              f"{middle(own):.1f} ms in the median")
        return counts, by_signal(verdicts, right)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--assay", required=True)
    p.add_argument("--log", required=True, action="append", metavar="NAME=LOG=DATABASES[=ORDER]")
    p.add_argument("--first", action="store_true")
    p.add_argument("--models", metavar="DIR")
    p.add_argument("--examples", metavar="LOG", help="with gold; `own`: each log's own")
    p.add_argument("--limit", type=int, default=10**9, help="the first so many questions")
    results.add_option(p)
    o = p.parse_args()
    rows = []
    print("| log | margin | changed (wrong still) | fixed (of those that did not execute) / broken | EX |\n| --- | --- "
          "| --- | --- | --- |")
    for name, log, root, order in ((entry.split("=") + ["auto"])[:4] for entry in o.log):
        measure(o, name, log, root, order, rows)
    given = {"candidates": "first" if o.first else "all", "examples": os.path.basename(o.examples or "none")}
    results.save(o.csv, [{**row, **given} for row in rows])


if __name__ == "__main__": main()
