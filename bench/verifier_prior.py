#!/usr/bin/env python3
"""Chooses the weights of votes and positions without feedback (scoring/verifier_context.h), on simulated lists.

    assay train verifier TRAIN.jsonl... --db-root DIR --cross --scores scores.tsv
    bench/verifier_prior.py scores.tsv

Uses constructed candidates of training questions, with scores by models that have not seen their database. They are
dealt into lists as two kinds of generator would return them. *ranked* lists have the right one first in 75 % of all
cases, and later in a third of the rest. *samples* are five votes of a generator that is right with a probability drawn
for each question from a beta distribution of mean 0.7. Each list is judged with the order that its user would give
(options.order): the first position counts in ranked lists only. Wrong candidates are drawn with a weight by how right
they look, because the errors of a generator are plausible. Each choice of the numbers is measured on both kinds. The
rule takes the least loss among the choices within 0.2 points of the best mean of both.
"""
import math
import random
import sys
from collections import defaultdict

FIRST_RIGHT, MENDED, VOTES, ACCURACY, SPREAD, QUESTIONS = 0.75, 1 / 3, 5, 0.7, 1.2, 1600
FIRST_COUNTS = {"ranked": 1, "samples": 0}  # by order; see scoring/verifier.c


def logit(p):
    p = min(max(p, 1e-4), 1 - 1e-4)
    return math.log(p / (1 - p))


def read(path):
    questions = defaultdict(list)
    with open(path, encoding="utf-8") as file:
        next(file)
        for line in file:
            question, origin, right, rows, digest, p = line.split("\t")
            if origin != "beam":
                questions[question].append((right == "1", int(rows), digest, logit(float(p))))
    return list(questions.values())


def pools(candidates):
    wrong = {}
    for c in candidates:
        if not c[0] and (c[2] not in wrong or c[3] > wrong[c[2]][3]):
            wrong[c[2]] = c
    return [c for c in candidates if c[0]], list(wrong.values())


def draw(rng, wrong, n):
    """Draws n wrong candidates without repetition; those that look more right are more likely."""
    keyed = sorted(wrong, key=lambda c: math.log(max(rng.random(), 1e-12)) / math.exp(c[3]), reverse=True)
    return keyed[:n]


def ranked(rng, right, wrong):
    n, u = rng.randint(3, 6), rng.random()
    entries = draw(rng, wrong, n)
    if u < FIRST_RIGHT:
        entries = [right[0]] + entries[: n - 1]
    elif u < FIRST_RIGHT + (1 - FIRST_RIGHT) * MENDED:
        entries.insert(min(1 + int(rng.expovariate(1)), len(entries)), right[0])
    return [(c, 1) for c in entries]


def samples(rng, right, wrong):
    p = rng.betavariate(ACCURACY * SPREAD, (1 - ACCURACY) * SPREAD)
    likely = draw(rng, wrong, 3)
    weights = [rng.expovariate(1) for _ in likely]
    votes = {}
    for _ in range(VOTES):
        c = rng.choice(right) if rng.random() < p else rng.choices(likely, weights)[0]
        votes[c] = votes.get(c, 0) + 1
    return list(votes.items())


def choose(entries, vote, first, none, temperature):
    """Returns (whether the choice was right, mean log loss), as verifier_context.c computes it."""
    answers = {}
    keys = []
    for i, (c, n) in enumerate(entries):
        key = (c[2], c[1]) if c[1] else ("empty", i)
        keys.append(key)
        answers.setdefault(key, [0, i])[0] += n
    differ = (len(answers) - 1) / (len(entries) - 1) if len(entries) > 1 else 0
    weight = {k: math.exp(vote * v + (first * differ if at == 0 else 0)) for k, (v, at) in answers.items()}
    all_weight = sum(weight.values()) + none
    z = [temperature * c[3] + math.log(weight[k] / (all_weight - weight[k])) for (c, _), k in zip(entries, keys)]
    loss = sum(math.log1p(math.exp(-s if c[0] else s)) for s, (c, _) in zip(z, entries)) / len(z)
    return entries[z.index(max(z))][0][0], loss


def main():
    rng = random.Random(1)
    lists = {"ranked": [], "samples": []}
    for candidates in read(sys.argv[1])[: QUESTIONS * 2]:
        right, wrong = pools(candidates)
        if right and len(wrong) >= 4 and len(lists["ranked"]) < QUESTIONS:
            lists["ranked"].append(ranked(rng, right, wrong))
            lists["samples"].append(samples(rng, right, wrong))
    for kind, all_lists in lists.items():
        print(f"{kind}: first {100 * sum(l[0][0][0] for l in all_lists) / len(all_lists):.1f} of {len(all_lists)}")
    print("temperature vote first | ranked EX, loss | samples EX, loss | mean EX")
    for temperature in (0.8, 1.0):
        for vote in (0.15, 0.25, 0.5, 1.0):
            for first in (0, 0.7, 0.9, 1.1, 1.4, 2.2):
                cells = {}
                for kind, all_lists in lists.items():
                    got = [choose(l, vote, FIRST_COUNTS[kind] * first, 0.7, temperature) for l in all_lists]
                    cells[kind] = (100 * sum(g[0] for g in got) / len(got), sum(g[1] for g in got) / len(got))
                mean = (cells["ranked"][0] + cells["samples"][0]) / 2
                print(f"{temperature:.1f} {vote:.2f} {first:.1f} | " +
                      " | ".join(f"{cells[k][0]:.1f} {cells[k][1]:.3f}" for k in ("ranked", "samples"))
                      + f" | {mean:.2f}")


if __name__ == "__main__":
    main()
