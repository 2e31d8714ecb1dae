#!/usr/bin/env python3
"""Measures each signal on logs with gold queries: signals.csv of bench/results.

  signal_report.py --assay build/release/cli/assay --log NAME=LOG.jsonl=DB_ROOT ... --gold NAME=LOG.jsonl=DB_ROOT ...
                   [--csv FILE]

Runs `assay eval` on each log and `assay eval --gold` on each gold log, and prints Markdown. For each log it has fired /
right on the first executable candidates. For all logs together it has precision and lift with 95 % intervals (Wilson),
and recall. Lift divides the right votes by those that as many votes would have at each log's share of wrong SQL. A
signal whose interval over all logs includes 1 should be off by default, and is marked; below five votes it is called
thin. A gold rate above 2 % is also marked. --on SIGNAL (repeatable) judges a signal that is off by default.
"""
import argparse, json, os, subprocess, tempfile

import results
from signal_table import wilson

GOLD_LIMIT = 2.0
THIN = 5


def measure(assay, spec, on, *more):
    name, log, root = spec.split("=")
    with tempfile.TemporaryDirectory() as home:
        config = os.path.join(home, "config.yaml")
        with open(config, "w") as out:
            out.write("signals:\n" + "".join(f"  {s}:\n    enabled: 1\n" for s in on) if on else "")
        command = [assay, "eval", log, "--db-root", root, "--format", "json", *more]
        if on: command += ["--config", config]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode: raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return name, json.loads(done.stdout)


def mean(right, n):
    return f"{100 * right / n:.0f} %" if n else "-"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--assay", required=True); p.add_argument("--log", action="append", required=True)
    p.add_argument("--gold", action="append", default=[]); p.add_argument("--on", action="append", default=[])
    results.add_option(p)
    a = p.parse_args()
    logs = [measure(a.assay, s, a.on, "--bootstrap", "0") for s in a.log]
    golds = [measure(a.assay, s, a.on, "--gold") for s in a.gold]
    head = ["signal", *(n for n, _ in logs), "pooled", "precision", "lift", "recall", *(f"{n} gold" for n, _ in golds)]
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    wrong = sum(d["detection"]["wrong"] for _, d in logs)
    measured = []
    for i, first in enumerate(logs[0][1]["signals"]):
        rows = [d["signals"][i] for _, d in logs]
        fired, right = sum(r["fired"] for r in rows), sum(r["right"] for r in rows)
        expected = sum(r["fired"] * d["detection"]["wrong"] / d["detection"]["n"] for r, (_, d) in zip(rows, logs))
        values = {"signal": first["name"]}
        for (name, _), r in zip(logs, rows): values.update({f"{name}_fired": r["fired"], f"{name}_right": r["right"]})
        values.update(pooled_fired=fired, pooled_right=right)
        cells = [first["name"], *(f"{r['fired']} / {r['right']}" if r["fired"] else "0" for r in rows)]
        if fired:
            low, high = wilson(right, fired); base = expected / fired
            mark = " thin" if fired < THIN else "" if low / base > 1 else " (includes 1)"
            cells += [f"{fired} / {right}", f"{mean(right, fired)} ({100 * low:.0f}-{100 * high:.0f})",
                      f"{right / expected:.2f} ({low / base:.2f}-{high / base:.2f}){mark}",
                      f"{100 * right / wrong:.1f} %"]
            values.update(precision_pct=100 * right / fired, precision_low_pct=100 * low, precision_high_pct=100 * high,
                          lift=right / expected, lift_low=low / base, lift_high=high / base, mark=mark.strip(" ()"))
        else:
            cells += ["0", "-", "-", "0 %"]
        values["recall_pct"] = 100 * right / wrong
        for name, d in golds:
            rate = d["signals"][i]["gold_fire_rate"]
            values[f"{name}_gold_pct"] = rate
            cells.append(f"{rate:.2f} %" + (" (above)" if rate > GOLD_LIMIT else ""))
        print("| " + " | ".join(cells) + " |")
        measured.append(values)
    results.save(a.csv, measured)
    for name, d in logs:
        l = d["localisation"]
        print(f"\n{name}: {d['detection']['wrong']} of {d['detection']['n']} wrong; localised {l['share']:.1f} % "
              f"({l['hits']} of {l['wrong']}), of those with a finding {l['share_with_finding']:.1f} %, by chance "
              f"{l['by_chance']:.1f} %")


if __name__ == "__main__":
    main()
