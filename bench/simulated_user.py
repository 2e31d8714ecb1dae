#!/usr/bin/env python3
"""Measures the value of clarification questions (policy ask) with a simulated user. No person was asked.

  simulated_user.py --assay build/release/cli/assay --log NAME=LOG=DATABASES[=ORDER] ... [--gain 0.05 ...] [--rounds 3]
  [--seeds 3]
                    [--questions FILE] [--csv FILE]

The simulated user knows the right result (by execution of the gold query). It picks the choice with this result,
otherwise "none of these". A second user picks another choice in one of ten cases, at random with each of the seeds.
Each log is replayed with `--policy ask`, and the answers are added to the requests. This repeats until there are no
more questions, or the rounds are over. Then all requests are replayed with `--policy best_effort`. The columns are:
questions for each request, EX without and with answers, fixed / broken, and the share of (oracle - EX without) that is
closed. --questions writes the questions to a file, for inspection.
"""
import argparse, json, os, random, subprocess, tempfile

import results
from repair import read, run, write


def labels_of(o, log, root, order, work):
    out = os.path.join(work, "labels.json")
    run(o.assay, "eval", log, "--db-root", root, "--order", order, "--labels", out, "--explain=no", "--bootstrap", "0")
    with open(out, encoding="utf-8") as file: return [[label == "ok" for label in row] for row in json.load(file)]


def replay(o, lines, root, order, policy, gain, work):
    log, out = os.path.join(work, "log.jsonl"), os.path.join(work, "verdicts.jsonl")
    write(log, lines)
    run(o.assay, "replay", log, "--db-root", root, "--order", order, "--policy", policy, "--ask-gain", str(gain),
        "--out", out, "--force",
        *(["--models", o.models] if o.models else []))
    return {verdict["id"]: verdict for verdict in read(out)}


def pick(question, right, error, seed):
    ids = [choice["id"] for choice in question["choices"]]
    meant = next((c["id"] for c in question["choices"] if "candidate" in c and right[c["candidate"]]), "none")
    draw = random.Random(f"{seed} {question['id']}")
    return draw.choice([i for i in ids if i != meant]) if draw.random() < error else meant


def dialogue(o, lines, right, root, order, gain, error, seed, work):
    """Returns the lines with their answers, and the questions."""
    open_lines, done, asked = list(lines), [], []
    for _ in range(o.rounds):
        verdicts = replay(o, open_lines, root, order, "ask", gain, work)
        answered = []
        for line in open_lines:
            question = verdicts[line["id"]].get("clarification")
            if not question:
                done.append(line)
                continue
            choice = pick(question, right[line["id"]], error, seed)
            asked.append({"db": line["db"], "user": line["question"], "choice": choice, **question})
            answered.append({**line, "answers": line.get("answers", [])
                             + [{"question": question["id"], "choice": choice}]})
        open_lines = answered
        if not open_lines: break
    return done + open_lines, asked


def chosen_right(verdicts, right):
    return {i: v["chosen"] is not None and right[i][v["chosen"]] for i, v in verdicts.items()}


def report(o, name, path, root, order, work, rows):
    lines = [{**line, "id": f"{name}-{i}"} for i, line in enumerate(read(path))]
    log = os.path.join(work, "all.jsonl")
    write(log, lines)
    right = dict(zip((line["id"] for line in lines), labels_of(o, log, root, order, work)))
    n, oracle = len(lines), sum(map(any, right.values()))
    before = chosen_right(replay(o, lines, root, order, "best_effort", 0.05, work), right)
    base = sum(before.values())
    for gain in o.gain:
        for error, seeds in ((0, 1), (0.1, o.seeds)):
            total, asks, fixed, broken = 0, 0, 0, 0
            for seed in range(seeds):
                answered, asked = dialogue(o, lines, right, root, order, gain, error, seed, work)
                after = chosen_right(replay(o, answered, root, order, "best_effort", gain, work), right)
                total += sum(after.values()) / seeds
                asks += len(asked) / seeds
                fixed += sum(after[i] and not before[i] for i in after) / seeds
                broken += sum(before[i] and not after[i] for i in after) / seeds
                if o.questions and not error: write(o.questions, asked)
            rows.append({"log": name, "oracle_pct": 100 * oracle / n, "ex_before_pct": 100 * base / n,
                         "least_gain": gain, "person": "errs in 10 %" if error else "never errs",
                         "questions_per_request": asks / n,
                         "ex_pct": 100 * total / n, "fixed": fixed, "broken": broken,
                         "gap_closed_pct": 100 * (total - base) / max(1, oracle - base)})
            print(f"| {name} | {gain} | {'errs in 10 %' if error else 'never errs'} | {asks / n:.3f} | "
                  f"{100 * base / n:.1f} | {100 * total / n:.1f} | "
                  f"{fixed:.0f} / {broken:.0f} | {100 * (total - base) / max(1, oracle - base):.0f} % |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", required=True)
    parser.add_argument("--models")
    parser.add_argument("--log", action="append", required=True)
    parser.add_argument("--gain", type=float, nargs="*", default=[0.05])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--questions")
    results.add_option(parser)
    o = parser.parse_args()
    print("| log | least gain | the person | questions a request | EX before | EX with answers | fixed / broken | of "
          "the way to the oracle |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    rows = []
    for entry in o.log:
        name, path, root, *order = entry.split("=")
        with tempfile.TemporaryDirectory() as work: report(o, name, path, root, (order or ["unknown"])[0], work, rows)
    results.save(o.csv, rows)


if __name__ == "__main__":
    main()
