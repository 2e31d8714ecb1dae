#!/usr/bin/env python3
"""Measures the value of feedback on one generator: verifier_per_generator.csv of bench/results.

  generator_folds.py --assay build/release/cli/assay --models models --db-root DATABASES --work DIR LOG

The log's databases are dealt into five folds, in order of a hash of their names. `assay train calibration` completes
the verifier on four folds, and `assay eval --strategy rerank` measures it on the fifth. EX is counted over all
questions. AUC and calibration error are means over the folds, weighted by questions. The neutral default is measured on
the same folds.
"""
import argparse, json, os, shutil, subprocess, zlib

FOLDS = 5


def deal(path):
    with open(path, encoding="utf-8") as file: lines = list(file)
    names = sorted({json.loads(line)["db"] for line in lines}, key=lambda name: zlib.crc32(name.encode()))
    folds = [[] for _ in range(FOLDS)]
    for line in lines: folds[names.index(json.loads(line)["db"]) % FOLDS].append(line)
    return folds


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file: file.writelines(lines)
    return path


def measure(o, log, models):
    done = subprocess.run([o.assay, "eval", log, "--db-root", o.db_root, "--strategy", "rerank", "--models", models,
                           "--bootstrap", "0",
                           "--format", "json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def total(name, reports):
    n = sum(r["questions"] for r in reports)
    right = sum(round(r["selection"]["assay"] * r["questions"] / 100) for r in reports)
    mean = lambda key: sum(r["detection"][key] * r["questions"] for r in reports) / n
    print(f"{name}: EX {100 * right / n:.1f} ({right} of {n}), calibration error within folds "
          f"{mean('calibration_error'):.1f} points, "
          f"AUC {mean('auc'):.1f}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("assay", "models", "db-root", "work"): p.add_argument("--" + name, required=True)
    p.add_argument("log")
    o = p.parse_args()
    models = shutil.copytree(o.models, os.path.join(o.work, "models"), dirs_exist_ok=True)
    folds, neutral, fitted = deal(o.log), [], []
    for k, fold in enumerate(folds):
        rest = write(os.path.join(o.work, "rest.jsonl"), [line for i, f in enumerate(folds) if i != k for line in f])
        log = write(os.path.join(o.work, "fold.jsonl"), fold)
        subprocess.run([o.assay, "train", "calibration", rest, "--db-root", o.db_root, "--verifier",
                        os.path.join(o.models, "verifier.json"),
                        "--out", os.path.join(models, "verifier.json")], stdout=subprocess.DEVNULL, check=True)
        neutral.append(measure(o, log, o.models))
        fitted.append(measure(o, log, models))
    total("neutral", neutral)
    total("fitted", fitted)


if __name__ == "__main__":
    main()
