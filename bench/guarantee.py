#!/usr/bin/env python3
"""Measures whether guarantees hold, and the coverage under them, on logs with gold, by random splits.

  guarantee.py --assay build/release/cli/assay --log NAME=LOG=DATABASES[=ORDER] ... [--alpha 0.05] [--delta 0.1]
  [--splits 1000]
               [--csv FILE]

`assay calibrate` gives each question's P, whether its answer is right, and its database. Half of the questions
(`question`) or of the databases (`database`) makes the guarantee, and the other half tests it. It counts as broken if
an exact test rejects "at most alpha are wrong" at 5 %. The rows are: the guarantee as Assay makes it; the same with
databases as clusters (Kish's design effect); a threshold of 1 - alpha. `across` makes the guarantee on the first log
and uses it on each of the others, in random order. It also measures when drift is noticed. `single` has P-values of
single answers, plain and weighted by similarity to the labelled ones. At most a tenth of the wrong answers may have a
P-value of 0.1 or less. `--hour N` simulates an hour of N requests from the first log's second half. From minute 20 on,
more and more of them come from another log. It measures how many of these pass before `assay replay` withdraws the
guarantee. This file has its own implementation of lib/learn/risk.c, as a check on it.
"""
import argparse, bisect, functools, json, math, os, random, statistics, subprocess, tempfile

import results

FIRST, STEP, LEVEL, JUMP, STAKE = 0.25, 0.05, 0.01, 0.01, 100


@functools.lru_cache(None)
def tail(n, wrong, alpha):
    if wrong >= n: return 1.0
    log = lambda k: math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(alpha) + (
        n - k) * math.log1p(-alpha)
    return min(1.0, sum(math.exp(log(k)) for k in range(wrong + 1)))


def threshold_of(records, alpha, delta, effect=1.0):
    """Returns the least threshold at which the guarantee holds; None if there is none."""
    records, found, done, wrong = sorted(records, key=lambda r: -r[0]), None, 0, 0
    n, least = len(records), math.ceil(math.ceil(math.log(delta) / math.log1p(-alpha)) * effect)
    share = FIRST
    while share < 1 and math.ceil(share * n) < least: share += STEP
    size = min(math.ceil(share * n), n)
    while done < size:
        while size < n and records[size][0] == records[size - 1][0]: size += 1
        if size < least: break
        wrong += sum(not right for _, right, *_ in records[done:size])
        done = size
        if tail(math.floor(size / effect), math.ceil(wrong / effect), alpha) > delta: break
        found, size = records[size - 1][0], min(size + math.ceil(STEP * n), n)
    return found


def design_effect(records):
    share = sum(not r[1] for r in records) / len(records)
    if share in (0, 1): return 1.0
    excess = {}
    for _, right, cluster, *_ in records: excess[cluster] = excess.get(cluster, 0) + (not right) - share
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


def measure(name, records, by, o, rows):
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
        rows.append({"log": name, "alpha": o.alpha, "split_by": by, "method": method,
                     "answered_pct": 100 * answered / o.splits,
                     "no_guarantee_pct": 100 * none / o.splits, "broken_pct": 100 * broken / o.splits,
                     "wrong_pct": 100 * sum(risks) / len(risks) if risks else 0})
        print(f"| {name} | {by} | {method} | {100 * answered / o.splits:.1f} | {100 * none / o.splits:.1f} | "
              f"{100 * broken / o.splits:.1f} "
              f"| {100 * sum(risks) / len(risks) if risks else 0:.1f} |", flush=True)


class Martingale:
    def __init__(self, known): self.seen, self.capital, self.reserve, self.n = sorted(known), [0.0] * 3, 1.0, 0

    def bet(self, value, rng):
        if self.n % STAKE == 0:
            k = self.n // STAKE + 1
            self.reserve, self.capital = (self.reserve - 1 / (k * (k + 1)),
                                          [c + 1 / (3 * k * (k + 1)) for c in self.capital])
        self.n += 1
        low, high = bisect.bisect_left(self.seen, value), bisect.bisect_right(self.seen, value)
        rank, total = (low + rng.random() * (high - low + 1)) / (len(self.seen) + 1), sum(self.capital)
        self.capital = [((1 - JUMP) * c + JUMP / 3 * total) * (1 + bet * (rank - 0.5))
                        for bet, c in zip((-1, 0, 1), self.capital)]
        bisect.insort(self.seen, value)
        return self.reserve + sum(self.capital)


def strangeness(known, scale, answer):
    least = min(sum(((a - b) * by) ** 2 for a, b, by in zip(r[3:], answer[3:], scale)) for r in known
                if r is not answer) / len(scale)
    return least / (1 + least)


def drift(known, new, rng):
    """Returns the number of answers after which the mean of both martingales reaches 1 / LEVEL; None if it never
    does."""
    scale = scale_of(known)
    watched = Martingale(r[0] for r in known), Martingale(strangeness(known, scale, r) for r in known)
    for n, r in enumerate(rng.sample(new, len(new)), 1):
        if sum(m.bet(v, rng) for m, v in zip(watched, (r[0], strangeness(known, scale, r)))) / 2 >= 1 / LEVEL: return n
    return None


def across(name, known, other, new, o):
    threshold = threshold_of(known, o.alpha, o.delta)
    given = [r for r in new if threshold is not None and r[0] >= threshold]
    wrong = 100 * sum(not r[1] for r in given) / len(given) if given else 0
    noticed = sorted(drift(known, new, random.Random(seed)) or 10**9 for seed in range(21))[10]
    print(f"| {name} | {other} | {100 * len(given) / len(new):.1f} | {wrong:.1f} | "
          f"{'never' if noticed == 10**9 else noticed} |", flush=True)


# --- single answers ---

def scale_of(records):
    out = []
    for values in zip(*(r[3:] for r in records)):
        deviation = statistics.pstdev(values)
        out.append(1 / deviation if deviation > 1e-9 else 0)
    return out


def p_value(known_wrong, scale, answer, near):
    total = surer = 1
    for r in known_wrong:
        weight = (math.exp(-sum(((a - b) * by) ** 2 for a, b, by in zip(r[3:], answer[3:], scale)) / len(scale))
                  if near else 1)
        total += weight
        if r[0] >= answer[0]: surer += weight
    return surer / total


def single(name, known, other, new):
    wrong, scale, cells = [r for r in known if not r[1]], scale_of(known), []
    for near in (False, True):
        small = [p_value(wrong, scale, r, near) <= 0.1 for r in new]
        for right in (0, 1):
            cells.append(100 * sum(s for s, r in zip(small, new) if r[1] == right)
                         / max(1, sum(r[1] == right for r in new)))
    print(f"| {name} | {other} | {' | '.join(f'{c:.1f}' for c in cells)} |", flush=True)


# --- an hour ---

MINUTES, QUIET = 60, 20


def hour(o, work, logs, seed):
    """Returns, for each other log, (its requests so far, minute) when the guarantee is first withdrawn, or None. Also
    returns the share of wrong answers until then."""
    rng, entries = (random.Random(seed),
                    {name: [json.loads(line) for line in open(log, encoding="utf-8")] for name, log, *_ in logs})
    first, log, root, order = logs[0]
    mixed = rng.sample(entries[first], len(entries[first]))
    half, calibration = os.path.join(work, "half.jsonl"), os.path.join(work, "calibration.json")
    with open(half, "w", encoding="utf-8") as out: out.writelines(json.dumps(e) + "\n" for e in mixed[::2])
    calibrate(o, half, root, order, calibration)
    for other in [first] + [name for name, *_ in logs[1:]]:
        path, strange, lines = os.path.join(work, "hour.jsonl"), [], []
        for i in range(o.hour):
            share = max(0, i / o.hour * MINUTES - QUIET) / (MINUTES - QUIET)
            strange.append(other != first and rng.random() < share)
            entry = dict(rng.choice(entries[other] if strange[-1] else mixed[1::2]), id=f"hour-{i}", alpha=o.hour_alpha)
            for candidate in entry["candidates"]: candidate.pop("generators", None)
            lines.append(json.dumps(entry) + "\n")
        with open(path, "w", encoding="utf-8") as out: out.writelines(lines)
        roots = list(dict.fromkeys([root, *(r for _, _, r, _ in logs)]))
        command = [o.assay, "replay", path, "--calibration", calibration, "--order", order, "--format", "jsonl",
                   "--workers", "1"]
        for r in roots: command += ["--db-root", r]
        verdicts = [json.loads(v) for v in subprocess.run(command, check=True, stdout=subprocess.PIPE,
                                                          stderr=subprocess.DEVNULL).stdout.splitlines()]
        at = next((i for i, v in enumerate(verdicts) if v.get("guarantee", {}).get("status") == "withdrawn"), None)
        known = sum("guarantee" in v for v in verdicts)
        assert len(
            verdicts) == o.hour and known > o.hour // 2, f"{len(verdicts)} verdicts, {known} with a promise or none"
        with open(path, "w", encoding="utf-8") as out: out.writelines(lines[:at])
        calibrate(o, path, roots, order, os.path.join(work, "truth.json"))
        with open(os.path.join(work, "truth.json"), encoding="utf-8") as file: truth = json.load(file)["groups"][""]
        given = [right for p, right, *_ in truth if p >= verdicts[0]["threshold"]]
        yield (other, None if at is None else (sum(strange[:at]), at * MINUTES / o.hour),
               100 * (1 - sum(given) / len(given)))


def print_hour(o, logs):
    found = {}
    with tempfile.TemporaryDirectory() as work:
        for seed in range(o.hours):
            for other, at, wrong in hour(o, work, logs, seed): found.setdefault(other, []).append((at, wrong))
    print(f"\n{o.hours} hours of {o.hour} requests\n\n| mixed in from minute {QUIET} on | withdrawn | requests of it "
          "by then, median | minute, median | wrong of those given until then, median % |\n| --- | --- | --- | --- "
          "| --- |")
    for other, all_of in found.items():
        seen = [at for at, _ in all_of if at]
        middle = [f"{statistics.median(s[k] for s in seen):.0f}" if seen else "" for k in (0, 1)]
        print(f"| {other if other != logs[0][0] else 'nothing'} | {len(seen)} of {len(all_of)} | {middle[0]} | "
              f"{middle[1]} | {statistics.median(w for _, w in all_of):.1f} |", flush=True)


def calibrate(o, log, root, order, out):
    command = [o.assay, "calibrate", log, "--order", order, "--out", out]
    for r in [root] if isinstance(root, str) else root: command += ["--db-root", r]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def records_of(o, log, root, order):
    with tempfile.TemporaryDirectory() as work:
        out = os.path.join(work, "calibration.json")
        calibrate(o, log, root, order, out)
        with open(out, encoding="utf-8") as file:
            return [r for group in json.load(file)["groups"].values() for r in group]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--assay", required=True)
    p.add_argument("--log", required=True, action="append", metavar="NAME=LOG=DATABASES[=ORDER]")
    p.add_argument("--alpha", type=float, default=0.05)
    p.add_argument("--delta", type=float, default=0.1)
    p.add_argument("--splits", type=int, default=1000)
    p.add_argument("--hour", type=int, metavar="N")
    p.add_argument("--hour-alpha", type=float, default=0.1)
    p.add_argument("--hours", type=int, default=5)
    results.add_option(p)
    o = p.parse_args()
    given = [(entry.split("=") + ["auto"])[:4] for entry in o.log]
    if o.hour: return print_hour(o, given)
    logs = {name: records_of(o, log, root, order) for name, log, root, order in given}
    print(f"alpha {o.alpha}, delta {o.delta}\n\n| log | split by | | answered % | no promise % | broken % | wrong % "
          "|\n| --- | --- | --- | --- | --- | --- | --- |")
    rows = []
    for name, records in logs.items():
        for by in ("question", "database"):
            if by == "question" or len({r[2] for r in records}) > 1: measure(name, records, by, o, rows)
    results.save(o.csv, rows)
    print("\n| made of | used on | answered % | wrong % | drift noticed after |\n| --- | --- | --- | --- | --- |")
    for name, known in logs.items():
        for other, new in logs.items(): across(name, known, other, new, o)
    print("\n| made of | used on | small of wrong % | of right % | by likeness: of wrong % | of right % |\n| --- | --- "
          "| --- | --- | --- | --- |")
    for name, known in logs.items():
        half, rest = split(random.Random(5), known, "question")
        single(name + ", half", half, "the other half", rest)
        for other, new in logs.items():
            if other != name: single(name, known, other, new)


if __name__ == "__main__": main()
