#!/usr/bin/env python3
"""Are promises kept, and how much is answered under them? On logs with gold, by random splits.

  guarantee.py --assay build/release/cli/assay --log NAME=LOG=DATABASES[=ORDER] ... [--alpha 0.05] [--delta 0.1] [--splits 1000]

`assay calibrate` gives each question's P, whether its answer is right, and its database. Half of the questions (`question`) or of the
databases (`database`) makes the promise, the other half tells whether it is kept: it counts as broken where an exact test rejects
"at most alpha are wrong" at 5 %. Rows: the promise as it is made; the same with databases counted as clusters (Kish's design
effect); a threshold of 1 - alpha. `across`: made of the whole first log and used on each of the others, in a random order; with when
drift is noticed. This file has its own implementation of lib/learn/risk.c, to tell on it too.
"""
import argparse, bisect, functools, json, math, os, random, subprocess, tempfile

FIRST, STEP, LEVEL, JUMP = 0.25, 0.05, 0.01, 0.01


@functools.lru_cache(None)
def tail(n, wrong, alpha):
    if wrong >= n: return 1.0
    log = lambda k: math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(alpha) + (n - k) * math.log1p(-alpha)
    return min(1.0, sum(math.exp(log(k)) for k in range(wrong + 1)))


def threshold_of(records, alpha, delta, effect=1.0):
    """The least P from which on the promise holds; None."""
    records, found, done, wrong = sorted(records, key=lambda r: -r[0]), None, 0, 0
    n, least = len(records), math.ceil(math.ceil(math.log(delta) / math.log1p(-alpha)) * effect)
    share = FIRST
    while share < 1 and math.ceil(share * n) < least: share += STEP
    size = min(math.ceil(share * n), n)
    while done < size:
        while size < n and records[size][0] == records[size - 1][0]: size += 1
        if size < least: break
        wrong += sum(not right for _, right, _ in records[done:size])
        done = size
        if tail(math.floor(size / effect), math.ceil(wrong / effect), alpha) > delta: break
        found, size = records[size - 1][0], min(size + math.ceil(STEP * n), n)
    return found


def design_effect(records):
    share = sum(not r[1] for r in records) / len(records)
    if share in (0, 1): return 1.0
    excess = {}
    for _, right, cluster in records: excess[cluster] = excess.get(cluster, 0) + (not right) - share
    return max(1.0, sum(e * e for e in excess.values()) / (len(records) * share * (1 - share)))


def split(rng, records, by):
    if by == "question":
        mixed = rng.sample(records, len(records))
        return mixed[:len(mixed) // 2], mixed[len(mixed) // 2:]
    clusters = sorted({r[2] for r in records})
    mine = set(rng.sample(clusters, len(clusters) // 2))
    return [r for r in records if r[2] in mine], [r for r in records if r[2] not in mine]


def is_broken(given, alpha):
    wrong = sum(not r[1] for r in given)
    return bool(wrong) and 1 - tail(len(given), wrong - 1, alpha) <= 0.05


METHODS = {
    "promise": lambda half, o: threshold_of(half, o.alpha, o.delta),
    "promise, databases as clusters": lambda half, o: threshold_of(half, o.alpha, o.delta, design_effect(half)),
    "threshold 1 - alpha": lambda half, o: 1 - o.alpha,
}


def measure(name, records, by, o):
    for method, choose in METHODS.items():
        rng, answered, none, broken, risks = random.Random(3), 0, 0, 0, []
        for _ in range(o.splits):
            known, new = split(rng, records, by)
            threshold = choose(known, o)
            given = [] if threshold is None else [r for r in new if r[0] >= threshold]
            none += threshold is None
            answered += len(given) / len(new)
            broken += is_broken(given, o.alpha)
            if given: risks.append(sum(not r[1] for r in given) / len(given))
        print(f"| {name} | {by} | {method} | {100 * answered / o.splits:.1f} | {100 * none / o.splits:.1f} | {100 * broken / o.splits:.1f} "
              f"| {100 * sum(risks) / len(risks) if risks else 0:.1f} |", flush=True)


def drift(known, new, rng):
    """After how many answers the martingale has reached 1 / LEVEL; None."""
    seen, capital = sorted(r[0] for r in known), [1 / 3] * 3
    for n, (p, _, _) in enumerate(rng.sample(new, len(new)), 1):
        low, high = bisect.bisect_left(seen, p), bisect.bisect_right(seen, p)
        rank, total = (low + rng.random() * (high - low + 1)) / (len(seen) + 1), sum(capital)
        capital = [((1 - JUMP) * c + JUMP / 3 * total) * (1 + bet * (rank - 0.5)) for bet, c in zip((-1, 0, 1), capital)]
        bisect.insort(seen, p)
        if sum(capital) >= 1 / LEVEL: return n
    return None


def across(name, known, other, new, o):
    threshold = threshold_of(known, o.alpha, o.delta)
    given = [r for r in new if threshold is not None and r[0] >= threshold]
    wrong = 100 * sum(not r[1] for r in given) / len(given) if given else 0
    noticed = sorted(drift(known, new, random.Random(seed)) or 10**9 for seed in range(21))[10]
    print(f"| {name} | {other} | {100 * len(given) / len(new):.1f} | {wrong:.1f} | {'never' if noticed == 10**9 else noticed} |", flush=True)


def records_of(o, log, root, order):
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "calibration.json")
        subprocess.run([o.assay, "calibrate", log, "--db-root", root, "--order", order, "--out", out], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        with open(out, encoding="utf-8") as file: return [r for group in json.load(file)["groups"].values() for r in group]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--assay", required=True)
    p.add_argument("--log", required=True, action="append", metavar="NAME=LOG=DATABASES[=ORDER]")
    p.add_argument("--alpha", type=float, default=0.05)
    p.add_argument("--delta", type=float, default=0.1)
    p.add_argument("--splits", type=int, default=1000)
    o = p.parse_args()
    logs = {name: records_of(o, log, root, order) for name, log, root, order in ((entry.split("=") + ["auto"])[:4] for entry in o.log)}
    print(f"alpha {o.alpha}, delta {o.delta}\n\n| log | split by | | answered % | no promise % | broken % | wrong % |\n| --- | --- | --- | --- | --- | --- | --- |")
    for name, records in logs.items():
        for by in ("question", "database"):
            if by == "question" or len({r[2] for r in records}) > 1: measure(name, records, by, o)
    print("\n| made of | used on | answered % | wrong % | drift noticed after |\n| --- | --- | --- | --- | --- |")
    for name, known in logs.items():
        for other, new in logs.items(): across(name, known, other, new, o)


if __name__ == "__main__": main()
