#!/usr/bin/env python3
"""Makes lists of candidates from mutants. P is fitted on them if no generator's log may be used (docs/schema-only.md).

    assay mutate LOG --db-root DATABASES --count 6 > M.jsonl
    bench/mutant_lists.py M.jsonl > LISTS.jsonl

Draws N requests (2,500) at random. Each list has four mutants of the gold query. The gold query is first in 68 % of the
lists, later in 20 %, and absent from the others. These are the shares of a good generator.
"""
import json
import random
import sys

MUTANTS, FIRST, BEHIND = 4, 0.68, 0.20


def deal(request, draw):
    """Returns the request with a list of candidates; None if it has no mutants."""
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
