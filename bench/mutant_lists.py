#!/usr/bin/env python3
"""Lists of candidates out of mutants: what P is held against where no generator's log is to be looked at
(docs/schema-only.md).

    assay mutate LOG --db-root DATABASES --count 6 > M.jsonl
    bench/mutant_lists.py M.jsonl > LISTS.jsonl

Of N requests (2,500), drawn by chance: four mutants of the gold query each, and the gold query itself, first in 68 % of
the lists, behind in 20 %, in none of the others, as samples of a good generator have it.
"""
import json
import random
import sys

MUTANTS, FIRST, BEHIND = 4, 0.68, 0.20


def deal(request, draw):
    """The request with a list of candidates; None: it has no mutants."""
    mutants = [{"sql": candidate["sql"]} for candidate in request["candidates"]]
    draw.shuffle(mutants)
    listed, gold, chance = mutants[:MUTANTS], {"sql": request["gold"]}, draw.random()
    if not listed: return None
    if chance < FIRST: listed.insert(0, gold)
    elif chance < FIRST + BEHIND: listed.insert(draw.randrange(1, len(listed) + 1), gold)
    return {**request, "candidates": listed}


def main():
    path, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 2500
    draw = random.Random(7)
    with open(path, encoding="utf-8") as file: requests = [json.loads(line) for line in file]
    draw.shuffle(requests)
    for request in requests[:n]:
        dealt = deal(request, draw)
        if dealt: print(json.dumps(dealt, ensure_ascii=False))


if __name__ == "__main__": main()
