#!/usr/bin/env python3
"""The table of strategies in docs/results.md, by command.

  strategy_report.py --assay build/release/cli/assay --log NAME=LOG.jsonl=DB_ROOT[=ORDER] ... [--strategy NAME ...] [-- OPTION...]

Runs `assay eval --strategy` for each log and strategy and prints Markdown: execution accuracy with its interval, the gain over
the first executable candidate (paired interval, fixed / broken), the share of the gap to the oracle that it closes, exact match,
detection AUC, questions answered at 95 % precision, calibration error, candidates tried; then the levels of difficulty. What
stands behind -- goes to `assay eval` as it is; ORDER says how the candidates came about (--order).
"""
import argparse, json, subprocess, sys

STRATEGIES = ["cyclesql", "first_valid", "detect_then_rerank", "rerank"]
COLUMNS = ["log", "strategy", "EX", "against first executable", "fixed / broken", "gap closed", "exact match", "AUC",
           "answered at 95 %", "calibration error", "tried"]


def measure(assay, spec, strategy, more):
    name, log, root, *order = spec.split("=")
    said = ["--order", order[0]] if order else []
    command = [assay, "eval", log, "--db-root", root, "--format", "json", "--strategy", strategy, *said, *more]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode: raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return name, json.loads(done.stdout)


def between(interval, sign=""):
    return "" if interval[0] is None else f" ({interval[0]:{sign}.1f} to {interval[1]:{sign}.1f})"


def row(name, strategy, report):
    s, d = report["selection"], report["detection"]
    cells = [name, f"`{strategy}`", f"{s['assay']:.1f}{between(s['intervals']['assay'])}",
             f"{s['gain']:+.1f}{between(s['gain_interval'], '+')}", f"{s['fixed']} / {s['broken']}", f"{s['gap_closed']:.0f} %",
             f"{s['exact_match']['assay']:.1f}", f"{d['auc']:.1f}{between(d['intervals']['auc'])}",
             f"{report['answered_at_95']} of {report['questions']}", f"{d['calibration_error']:.1f}",
             f"{report['candidates_tried']:.2f}"]
    return "| " + " | ".join(cells) + " |"


def levels(name, strategy, report):
    cells = [f"{l['first_executable']:.1f} → {l['assay']:.1f} ({l['questions']})" for l in report["difficulty"]]
    return f"| {name} | `{strategy}` | " + " | ".join(cells) + " |"


def main():
    options, more = sys.argv[1:], []
    if "--" in options:
        at = options.index("--")
        options, more = options[:at], options[at + 1:]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--assay", required=True)
    p.add_argument("--log", action="append", required=True)
    p.add_argument("--strategy", action="append")
    a = p.parse_args(options)
    measured = [(strategy, *measure(a.assay, spec, strategy, more))
                for spec in a.log for strategy in a.strategy or STRATEGIES]
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS))
    for strategy, name, report in measured: print(row(name, strategy, report))
    names = [l["level"] for l in measured[0][2]["difficulty"]]
    print("\n| log | strategy | " + " | ".join(names) + " |\n|" + " --- |" * (len(names) + 2))
    for strategy, name, report in measured: print(levels(name, strategy, report))


if __name__ == "__main__":
    main()
