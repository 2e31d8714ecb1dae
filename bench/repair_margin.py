#!/usr/bin/env python3
"""Chooses `repair_margin` of models/decision.json: measures what repairs fix and break on training questions, by
margin.

  repair_margin.py --assay build/release/cli/assay --models models --db-root DATABASES --work DIR [--written FILE.jsonl]

DIR is the work folder of bench/combine_weights.py. It has models trained on one half of the training databases
(`known`: on mutants and generated questions; `new`: on beams and other questions' gold). It also has the questions of
the other half, with their judged candidates. Each question gets one query, as from a system that returns one. In 72 %
of the questions it is right. Otherwise it is one of three wrong queries: those most similar to the gold query as a text
(`near`), or those that look right to the other verifier (`look`). --written adds hand-written questions (train/written)
on that half's databases, with their own wrong queries. The rule takes the least margin with fixed >= 5 x (broken + 1)
in each list of `known`. It uses `known`, because the shipped verifier is trained in that way. The 1 allows for the
error of a small count. The script also computes `critical`, the order in which a corrector receives the signals. It
sorts them by the repairs at any margin in those lists: fixed minus broken.
"""
import argparse, difflib, json, os, random, shutil, tempfile

import repair, results

RIGHT, LIKELY, ENOUGH, FEW = 0.72, 3, 5, 10
VERIFIERS = {"known": "new", "new": "known"}  # the other model's errors are those that look right to it


def wrong_one(rng, error, line, labels, other):
    candidates = [i for i, label in enumerate(labels) if label != "ok"]
    if error == "near":
        likely = lambda i: difflib.SequenceMatcher(None, repair.sql_of(line["candidates"][i]), line["gold"]).ratio()
    else:
        likely = lambda i: other["candidates"][i].get("entailment") or 0
    return rng.choice(sorted(candidates, key=likely, reverse=True)[:LIKELY])


def deal(work, error, verifier):
    rng = random.Random(5)
    with open(os.path.join(work, "labels.json"), encoding="utf-8") as file: labels = json.load(file)
    others = repair.read(os.path.join(work, f"verdicts.{VERIFIERS[verifier]}.jsonl"))
    for line, own, other in zip(repair.read(os.path.join(work, "pool.B.jsonl")), labels, others):
        right = [i for i, label in enumerate(own) if label == "ok"]
        if not right or len(right) == len(own): continue
        pick = rng.choice(right) if rng.random() < RIGHT else wrong_one(rng, error, line, own, other)
        yield {**line, "candidates": [line["candidates"][pick]]}


def deal_written(path, databases):
    rng = random.Random(5)
    for q in repair.read(path):
        if q["db"] not in databases: continue
        sql = rng.choice(q["right"]) if rng.random() < RIGHT else rng.choice(q["wrong"])["sql"]
        yield {**{key: q[key] for key in ("id", "db", "question", "evidence") if q.get(key)}, "gold": q["right"][0],
               "candidates": [{"sql": sql}]}


def lists_of(o, verifier):
    for error in ("near", "look"): yield error, list(deal(o.work, error, verifier))
    databases = {line["db"] for line in repair.read(os.path.join(o.work, "pool.B.jsonl"))}
    if o.written: yield "written", list(deal_written(o.written, databases))


def critical(lists):
    """Ranks signals by the repairs of the queries on which they fire: fixed minus broken, divided by all, and shrunk to
    0 if they are few."""
    sums = {}
    for counts in lists:
        for name, row in counts.items(): sums[name] = [a + b for a, b in zip(sums.get(name, (0, 0, 0)), row)]
    return sorted(sums, key=lambda name: -(sums[name][0] - sums[name][1]) / (sums[name][2] + FEW))


def models_of(o, verifier, into):
    for part in ("classifier", "label_model"):
        shutil.copy(os.path.join(o.work, f"{part}.{verifier}.json"), os.path.join(into, f"{part}.json"))
    shutil.copy(os.path.join(o.work, f"{verifier}.json"), os.path.join(into, "verifier.json"))
    shutil.copy(os.path.join(o.models, "decision.json"), into)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("assay", "models", "db-root", "work"): p.add_argument("--" + name, required=True)
    p.add_argument("--written", metavar="FILE.jsonl")
    results.add_option(p)
    o = p.parse_args()
    o.limit, o.first, rows = 10**9, False, []
    print("| list | margin | changed (wrong still) | fixed (of those that did not execute) / broken | EX |\n| --- | "
          "--- | --- | --- | --- |")
    signals_of = []
    worst = dict.fromkeys(repair.MARGINS, float("inf"))
    for verifier in VERIFIERS:
        with tempfile.TemporaryDirectory() as models, tempfile.TemporaryDirectory() as logs:
            models_of(o, verifier, models)
            for error, lines in lists_of(o, verifier):
                log = os.path.join(logs, "log.jsonl")
                repair.write(log, lines)
                given = argparse.Namespace(**{**vars(o), "models": models})
                counts, signals = repair.measure(given, f"{verifier}, {error}", log, o.db_root, "auto", rows)
                if verifier == "known": signals_of.append(signals)
                for margin, (fixed, broken) in counts.items():
                    if verifier == "known": worst[margin] = min(worst[margin], fixed / (broken + 1))
    results.save(o.csv, [{("list" if name == "log" else name): value for name, value in row.items()} for row in rows])
    print('\n"critical": ' + json.dumps(critical(signals_of)))
    good = [margin for margin in repair.MARGINS if worst[margin] >= ENOUGH]
    print(f'\n"repair_margin": {min(good) if good else max(worst, key=worst.get)}')


if __name__ == "__main__": main()
