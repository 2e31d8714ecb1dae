#!/usr/bin/env python3
"""Measures whether Assay prefers the right one of two queries.

  pairs.py --assay build/release/cli/assay --db-root DATABASES PAIRS.jsonl [PAIRS.jsonl ...] [--by-kind] [--wrong N]
  pairs.py --assay build/release/cli/assay --schemas tests/data/analytic tests/data/analytic/tune.jsonl
  with [--csv FILE] [-- OPTION...]

A pair is a question with a right query and a plausible wrong one of similar form and length (tests/data/pairs has a
README). `assay replay` judges each pair four times: both queries in both orders, without an order option, and each
query alone. Prints Markdown:

  preferred      trials over both orders in which the right query is the answer
  both orders    pairs in which it is in both
  wrong alone    wrong queries that are validated when they are the only candidate; right alone: likewise
  AUC alone      of P(correct): how often a right query that stands alone has more than a wrong one of any pair

Arguments after -- are passed to `assay replay`. --wrong N lists N pairs in which the wrong query wins.
"""
import argparse, collections, contextlib, json, os, sqlite3, subprocess, sys, tempfile

import results

TRIALS = {"right first": ("right", "wrong"), "wrong first": ("wrong", "right"), "right alone": ("right",),
          "wrong alone": ("wrong",)}
KINDS = """and_or boundary compound_concept contradicted_value count_distinct count_vs_sum date_part demonym_adjective duplicates
evidence_formula extra_condition fan_out_aggregate group_key having_vs_where left_vs_inner limit_n missing_condition negation_scope
never_vs_not_all null_extreme order_direction percentage_integer_division ratio_inverted self_join_relation set_both
superlative_on_wrong_column synonym text_number top_per_group units value_in_other_column wrong_entity wrong_join_path
wrong_projection""".split()


def read(paths):
    out = []
    for path in paths:
        with open(path, encoding="utf-8") as f: out += [json.loads(line) for line in f if line.strip()]
    return out


@contextlib.contextmanager
def build_databases(folder):
    """Builds a folder with a database for each NAME.sql of `folder`, in the layout of --db-root."""
    with tempfile.TemporaryDirectory() as root:
        for file in sorted(os.listdir(folder)):
            name, suffix = os.path.splitext(file)
            if suffix != ".sql": continue
            os.mkdir(os.path.join(root, name))
            db = sqlite3.connect(os.path.join(root, name, name + ".sqlite"))
            with open(os.path.join(folder, file), encoding="utf-8") as script: db.executescript(script.read())
            db.close()
        yield root


def request(pair, number, trial):
    out = {"id": f"{number}/{trial}", "db": pair["db"], "question": pair["question"],
           "candidates": [pair[side] for side in TRIALS[trial]]}
    if pair.get("evidence"): out["evidence"] = pair["evidence"]
    return out


def judge(assay, root, pairs, more):
    with tempfile.TemporaryDirectory() as work:
        log, out = os.path.join(work, "pairs.jsonl"), os.path.join(work, "verdicts.jsonl")
        with open(log, "w", encoding="utf-8") as f:
            for number, pair in enumerate(pairs):
                for trial in TRIALS: f.write(json.dumps(request(pair, number, trial)) + "\n")
        subprocess.run([assay, "replay", log, "--db-root", root, "--out", out, "--quiet", *more], check=True)
        with open(out, encoding="utf-8") as f: return {v["id"]: v for v in map(json.loads, f)}


def auc(right, wrong):
    wins = sum((r > w) + (r == w) / 2 for r in right for w in wrong)
    return wins / max(1, len(right) * len(wrong))


def outcome(verdicts, number):
    """Returns, for one pair, the trials that the right query wins, what is validated alone, and P alone."""
    of = {trial: verdicts[f"{number}/{trial}"] for trial in TRIALS}
    wins = [TRIALS[t][of[t]["chosen"]] == "right" if of[t].get("chosen") is not None else False
            for t in ("right first", "wrong first")]
    valid = {side: of[f"{side} alone"]["status"] == "validated" for side in ("right", "wrong")}
    p = {side: of[f"{side} alone"]["candidates"][0].get("p_correct") or 0.0 for side in ("right", "wrong")}
    return {"wins": wins, "valid": valid, "p": p}


def row(name, outcomes):
    n = len(outcomes)
    percent = lambda count, of=n: f"{100 * count / of:.1f}"
    return {"kind": name, "pairs": str(n),
            "preferred_pct": percent(sum(sum(o["wins"]) for o in outcomes), 2 * n),
            "both_orders_pct": percent(sum(all(o["wins"]) for o in outcomes)),
            "wrong_validated_pct": percent(sum(o["valid"]["wrong"] for o in outcomes)),
            "right_validated_pct": percent(sum(o["valid"]["right"] for o in outcomes)),
            "auc_alone": f"{auc([o['p']['right'] for o in outcomes], [o['p']['wrong'] for o in outcomes]):.3f}"}


def print_rows(rows):
    print("| kind | pairs | preferred % | both orders % | wrong alone validated % | right alone validated % | AUC "
          "alone |")
    print("|" + " --- |" * 7)
    for each in rows: print("| " + " | ".join(each.values()) + " |")


def main():
    options, more = sys.argv[1:], []
    if "--" in options:
        at = options.index("--")
        options, more = options[:at], options[at + 1:]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--assay", required=True)
    where = p.add_mutually_exclusive_group(required=True)
    where.add_argument("--db-root")
    where.add_argument("--schemas", metavar="DIR", help="build the databases from the scripts of this folder")
    p.add_argument("--by-kind", action="store_true")
    p.add_argument("--wrong", type=int, default=0)
    p.add_argument("pairs", nargs="+")
    results.add_option(p)
    a = p.parse_args(options)
    pairs = read(a.pairs)
    with build_databases(a.schemas) if a.schemas else contextlib.nullcontext(a.db_root) as root:
        verdicts = judge(a.assay, root, pairs, more)
    outcomes = [outcome(verdicts, number) for number in range(len(pairs))]
    kinds = collections.defaultdict(list)
    for pair, o in zip(pairs, outcomes): kinds[pair["kind"]].append(o)
    worst = sorted(kinds, key=lambda kind: sum(sum(o["wins"]) for o in kinds[kind]) / len(kinds[kind]))
    rows = [*(row(kind, kinds[kind]) for kind in (worst if a.by_kind else ())), row("all", outcomes)]
    print_rows(rows)
    files = " ".join(os.path.basename(path).removesuffix(".jsonl") for path in a.pairs)
    results.save(a.csv, [{"file": files, **each} for each in rows])
    lost = [(pair, o) for pair, o in zip(pairs, outcomes) if not all(o["wins"])]
    for pair, o in lost[:a.wrong]:
        print(f"\n{pair['id']} {pair['kind']} ({pair['db']}), P {o['p']['right']:.3f} right, {o['p']['wrong']:.3f} "
              "wrong\n"
              f"  {pair['question']}\n  right: {pair['right']}\n  wrong: {pair['wrong']}")


if __name__ == "__main__":
    main()
