#!/usr/bin/env python3
"""Compares the strategies on logs with gold queries: selection.csv and selection_order.csv of bench/results.

  strategy_report.py --assay build/release/cli/assay --log NAME=LOG.jsonl=DB_ROOT[=ORDER] ... [--strategy NAME ...]
  [--trust]
                     [--csv FILE] [-- OPTION...]

Runs `assay eval --strategy` for each log and strategy, and prints Markdown. The columns are: execution accuracy with
its interval; the gain over the first executable candidate (paired interval, fixed / broken); the share of the gap to
the oracle that is closed; exact match; detection AUC; questions answered at 95 % precision; calibration error;
candidates tried. The levels of difficulty follow. Arguments after -- are passed to `assay eval` (with --trust also to
`assay replay`). ORDER is the order of the log's candidates (--order).

--trust prints another table instead. Each log is judged under rerank with its ORDER, without an order, and with the
wrong order. The table has selection as above. It has F1 of finding the wrong ones, at P < 0.5, among the first
candidates that run. It has the calibration of P for the first candidate that runs and for the answer. Calibration has
the error in ten bins of equal mass. In brackets is the error below which a perfectly calibrated judge stays in 95 % of
all cases (by simulation). It also has mean P minus the share that is right.
"""
import argparse, json, os, subprocess, sys, tempfile

import results
from calibration import calibration_error, f1, honest_bound, over

STRATEGIES = ["cyclesql", "first_valid", "detect_then_rerank", "rerank"]
COLUMNS = ["log", "strategy", "EX", "against first executable", "fixed / broken", "gap closed", "exact match", "AUC",
           "answered at 95 %", "calibration error", "tried"]


TRUST = ["log", "said", "EX", "fixed / broken", "AUC", "answered at 95 %", "F1 at 0.5",
         "first that runs: ECE (honest), P less right",
         "answers: ECE (honest), P less right"]
WRONG_WORD = {"ranked": "sampled", "sampled": "ranked"}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode: raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def measure(assay, spec, strategy, more):
    name, log, root, *order = spec.split("=")
    said = ["--order", order[0]] if order else []
    return (name, json.loads(run([assay, "eval", log, "--db-root", root, "--format", "json", "--strategy", strategy,
                                  *said, *more])))


def words_of(order):
    """Returns the right order, none, and the wrong order; None means that no order is given."""
    return [order, None, WRONG_WORD[order]] if order in WRONG_WORD else [order]


def pair_of(verdict, labels, index):
    """Returns (P, right) of a candidate; None if there is none, or it was not judged."""
    p = None if index is None else verdict["candidates"][index].get("p_correct")
    return None if p is None else (p, labels[index] == "ok")


def pairs_of(verdicts, labels):
    """Returns (P, right) of the first candidate of each line that runs, and of each answer."""
    first = [pair_of(v, of, next((i for i, label in enumerate(of) if not label.startswith("err")), None))
             for v, of in zip(verdicts, labels)]
    answers = [pair_of(v, of, v.get("chosen")) for v, of in zip(verdicts, labels) if of]
    return [p for p in first if p], [p for p in answers if p]


def measure_trust(assay, log, root, word, more):
    """Returns the report of `assay eval`, and pairs_of."""
    common = ["--db-root", root, "--strategy", "rerank", *(["--order", word] if word else []), *more]
    with tempfile.TemporaryDirectory() as folder:
        labels, verdicts = os.path.join(folder, "labels.json"), os.path.join(folder, "verdicts.jsonl")
        report = json.loads(run([assay, "eval", log, "--format", "json", "--labels", labels, "--bootstrap", "0",
                                 *common]))
        done = subprocess.run([assay, "replay", log, "--out", verdicts, "--quiet", *common], check=False)
        if done.returncode not in (0, 1): raise SystemExit(f"assay replay {log}: ended with {done.returncode}")
        with open(verdicts, encoding="utf-8") as file: judged = [json.loads(line) for line in file]
        with open(labels, encoding="utf-8") as file: return report, pairs_of(judged, json.load(file))


def trust_row(name, word, report, first, answers):
    s, d = report["selection"], report["detection"]
    cells = [name, word or "nothing", f"{s['assay']:.1f}", f"{s['fixed']} / {s['broken']}",
             "" if d["auc"] is None else f"{d['auc']:.1f}",
             f"{report['answered_at_95']} of {report['questions']}", f"{f1(first):.1f}"]
    cells += [f"{calibration_error(pairs):.3f} ({honest_bound([p for p, _ in pairs]):.3f}), {over(pairs):+.3f}"
              for pairs in (first, answers)]
    return "| " + " | ".join(cells) + " |"


def trust_values(name, word, report, first, answers):
    s, out = report["selection"], {"log": name, "order_given": word or "nothing"}
    out.update(ex_pct=s["assay"], fixed=s["fixed"], broken=s["broken"], auc_pct=report["detection"]["auc"],
               answered_at_95=report["answered_at_95"], questions=report["questions"], f1_pct=f1(first))
    for part, pairs in (("first", first), ("answer", answers)):
        out.update({f"{part}_ece": calibration_error(pairs), f"{part}_ece_honest": honest_bound([p for p, _ in pairs]),
                    f"{part}_p_excess": over(pairs)})
    return out


def print_trust(a, more):
    rows = []
    print("| " + " | ".join(TRUST) + " |\n|" + " --- |" * len(TRUST))
    for spec in a.log:
        name, log, root, *order = spec.split("=")
        for word in words_of(order[0] if order else None):
            report, pairs = measure_trust(a.assay, log, root, word, more)
            print(trust_row(name, word, report, *pairs), flush=True)
            if a.csv: rows.append(trust_values(name, word, report, *pairs))
    results.save(a.csv, rows)


def between(interval, sign=""):
    return "" if interval[0] is None else f" ({interval[0]:{sign}.1f} to {interval[1]:{sign}.1f})"


def row(name, strategy, report):
    s, d = report["selection"], report["detection"]
    cells = [name, f"`{strategy}`", f"{s['assay']:.1f}{between(s['intervals']['assay'])}",
             f"{s['gain']:+.1f}{between(s['gain_interval'], '+')}", f"{s['fixed']} / {s['broken']}",
             f"{s['gap_closed']:.0f} %",
             f"{s['exact_match']['assay']:.1f}", f"{d['auc']:.1f}{between(d['intervals']['auc'])}",
             f"{report['answered_at_95']} of {report['questions']}", f"{d['calibration_error']:.1f}",
             f"{report['candidates_tried']:.2f}"]
    return "| " + " | ".join(cells) + " |"


def levels(name, strategy, report):
    cells = [f"{l['first_executable']:.1f} → {l['assay']:.1f} ({l['questions']})" for l in report["difficulty"]]
    return f"| {name} | `{strategy}` | " + " | ".join(cells) + " |"


def values(name, strategy, report):
    """Returns a row of selection.csv."""
    s, d = report["selection"], report["detection"]
    low_high = lambda what, unit, interval: dict(zip((f"{what}_low_{unit}", f"{what}_high_{unit}"), interval))
    out = {"log": name, "strategy": strategy, "ex_pct": s["assay"], **low_high("ex", "pct", s["intervals"]["assay"]),
           "gain_points": s["gain"], **low_high("gain", "points", s["gain_interval"]),
           "fixed": s["fixed"], "broken": s["broken"], "gap_closed_pct": s["gap_closed"],
           "exact_match_pct": s["exact_match"]["assay"], "auc_pct": d["auc"],
           **low_high("auc", "pct", d["intervals"]["auc"]),
           "answered_at_95": report["answered_at_95"], "questions": report["questions"],
           "calibration_error_points": d["calibration_error"], "candidates_tried": report["candidates_tried"]}
    for l in report["difficulty"]:
        out.update({f"{l['level']}_first_executable_pct": l["first_executable"], f"{l['level']}_ex_pct": l["assay"],
                    f"{l['level']}_questions": l["questions"]})
    return out


def main():
    options, more = sys.argv[1:], []
    if "--" in options:
        at = options.index("--")
        options, more = options[:at], options[at + 1:]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--assay", required=True)
    p.add_argument("--log", action="append", required=True)
    p.add_argument("--strategy", action="append")
    p.add_argument("--trust", action="store_true")
    results.add_option(p)
    a = p.parse_args(options)
    if a.trust: return print_trust(a, more)
    measured = [(strategy, *measure(a.assay, spec, strategy, more))
                for spec in a.log for strategy in a.strategy or STRATEGIES]
    print("| " + " | ".join(COLUMNS) + " |\n|" + " --- |" * len(COLUMNS))
    for strategy, name, report in measured: print(row(name, strategy, report))
    names = [l["level"] for l in measured[0][2]["difficulty"]]
    print("\n| log | strategy | " + " | ".join(names) + " |\n|" + " --- |" * (len(names) + 2))
    for strategy, name, report in measured: print(levels(name, strategy, report))
    results.save(a.csv, [values(name, strategy, report) for strategy, name, report in measured])


if __name__ == "__main__":
    main()
