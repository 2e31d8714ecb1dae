#!/usr/bin/env python3
"""Measures each signal: fired, right, precision, lift over the base rate, recall.

  signal_table.py FIRES.jsonl --labels LABELS.json [--log LOG.jsonl] [--all]     candidates against execution labels
  signal_table.py GOLD_FIRES.jsonl                                              how often each fires on gold

FIRES is the output of bench_signals --out. LABELS is a list with one entry for each line of the log: the labels of its
candidates ("ok", "wrong", "err:..."). The first candidate of each line that executes counts, or with --all every one
that executes. With --log, --skip-empty-gold DB_ROOT leaves out lines whose gold query returns no rows, because a wrong
candidate without rows counts as right there by accident. --show SIGNAL lists the candidates on which it fired, with
their labels.
"""
import argparse, json, os, sqlite3

import results


def wilson(right, n, z=1.96):
    if not n: return 0.0, 1.0
    p = right / n; d = 1 + z * z / n; c = p + z * z / (2 * n); s = z * ((p * (1 - p) + z * z / (4 * n)) / n) ** 0.5
    return (c - s) / d, (c + s) / d


def empty_golds(log, root):
    """Returns the numbers of the lines whose gold query returns no row, or cannot run."""
    handles, known, found = {}, {}, set()
    for i, row in enumerate(log):
        key = row["db"], row["gold"]
        if row["db"] not in handles:
            path = os.path.join(root, row["db"], row["db"] + ".sqlite")
            handles[row["db"]] = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
            handles[row["db"]].text_factory = bytes
        if key not in known:
            try: known[key] = handles[row["db"]].execute(row["gold"]).fetchone() is None
            except sqlite3.Error: known[key] = True
        if known[key]: found.add(i)
    return found


def main():
    p = argparse.ArgumentParser(); p.add_argument("fires"); p.add_argument("--labels"); p.add_argument("--log");
    p.add_argument("--all", action="store_true")
    p.add_argument("--skip-empty-gold", metavar="DB_ROOT"); p.add_argument("--show")
    p.add_argument("--only", choices=["ok", "wrong"])
    results.add_option(p)
    a = p.parse_args()
    rows = [json.loads(l) for l in open(a.fires)]
    labels = json.load(open(a.labels)) if a.labels else None
    log = [json.loads(l) for l in open(a.log)] if a.log else None
    skip = empty_golds(log, a.skip_empty_gold) if log and a.skip_empty_gold else set()
    seen, kept = set(), []
    for r in rows:
        if r["line"] in skip: continue
        label = labels[r["line"]][r["candidate"]] if labels else "gold"
        if label.startswith("err") or not r["valid"]: continue
        if r["line"] in seen and not a.all: continue
        seen.add(r["line"]); kept.append((r, label))
    n = len(kept); wrong = sum(l == "wrong" for _, l in kept); base = wrong / n if n else 0
    names = list(dict.fromkeys(s for r, _ in kept for s in r["signals"]))
    print(f"{n} candidates, {wrong} wrong ({100 * base:.1f} %)")
    head = f"{'signal':26s} {'fired':>6} {'share':>7} {'note':>6} {'unav.':>6}"
    print(head + (f" {'right':>6} {'prec.':>6} {'95 %':>13} {'lift':>5} {'recall':>7}" if labels else ""))
    measured = []
    for s in names:
        states = [(r["signals"].get(s, ["", "", 0]), l, r) for r, l in kept]
        fired = [(l, r) for st, l, r in states if st[0] == "fired"]
        note = sum(st[0] == "silent" and st[2] > 0 for st, _, _ in states);
        un = sum(st[0] == "unavailable" for st, _, _ in states)
        line = f"{s:26s} {len(fired):6d} {100 * len(fired) / max(n, 1):6.2f}% {note:6d} {un:6d}"
        if labels:
            right = sum(l == "wrong" for l, _ in fired); lo, hi = wilson(right, len(fired));
            pr = (right / len(fired) if fired else 0)
            line += f" {right:6d} {100 * pr:5.1f}% {100 * lo:5.1f}-{100 * hi:5.1f}% {pr / base if base else 0:5.2f} {100 * right / max(wrong, 1):6.1f}%"
        print(line)
        measured.append({"signal": s, "candidates": n, "wrong": wrong, "fired": len(fired), "notes": note,
                         "unavailable": un, **({"right": right, "precision_pct": 100 * pr} if labels else {})})
        if a.show == s and log:
            for l, r in fired:
                if a.only and l != a.only: continue
                row = log[r["line"]]; c = (row["candidates"][r["candidate"]] if "candidates" in row
                                           and labels else row["gold"])
                print(f"  [{l}] {row['db']} | {row['question']}\n      {c if isinstance(c, str) else c['sql']}\n      "
                      f"gold: {row['gold']}")
    results.save(a.csv, measured)


if __name__ == "__main__":
    main()
