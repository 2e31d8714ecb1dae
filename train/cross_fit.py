#!/usr/bin/env python3
"""Judges whole logs by models that have not seen their databases: label model, classifier and verifier.

  cross_fit.py --assay build/release/cli/assay --models models --logs LOGS --db-root DATABASES --work DIR --out
  VERDICTS.jsonl
               [--made DIR] [--folds 5] LOG.jsonl ... [-- REPLAY-OPTION ...]

Verdicts on the logs that a model was trained on are too good, so no choice can be based on them. The script therefore
splits the databases into folds and does this for each fold:

1. It retrains each model of --models on the logs without the databases of the fold. The command is that in the model
   file. LOGS and DATABASES stand for the two folders; other logs (generated.jsonl) are in --made. A file without a
   training command (decision.json) is copied.
2. It judges the lines of the fold with these models (`assay replay`).

The verdicts are written in the order of the logs, one on each line, each with its "fold" and "log".

Files that exist in DIR are reused, so an interrupted run can be continued. Another recipe needs another DIR.
"""
import argparse, glob, json, os, shlex, shutil, subprocess, sys, zlib


def read(path):
    with open(path, encoding="utf-8") as file: return [line for line in file if line.strip()]


def deal(paths, folds):
    """Returns database → fold. Folds are assigned in turn, in order of a hash of the names, so the order of the logs
    does not matter."""
    names = {json.loads(line)["db"] for path in paths for line in read(path)}
    return {name: i % folds for i, name in enumerate(sorted(names, key=lambda n: (zlib.crc32(n.encode()), n)))}


def commands(models):
    """Returns model file → arguments of the command that makes it; None if the file is not trained."""
    out = {}
    for path in sorted(glob.glob(os.path.join(models, "*.json"))):
        words = shlex.split(json.load(open(path, encoding="utf-8")).get("command", ""))
        out[os.path.basename(path)] = words[1:] if words[:2] == ["assay", "train"] else None
    return out


def logs_of(words, o):
    """Returns word of the command → path of the log that it names. The log is in --logs or in --made."""
    logs = [word for word in words or [] if word.endswith(".jsonl")]
    return {word: os.path.join(o.logs, word[len("LOGS/"):]) if word.startswith("LOGS/") else os.path.join(o.made, word)
            for word in logs}


def keep(lines, fold_of, fold, inside):
    return [line for line in lines if (fold_of[json.loads(line)["db"]] == fold) == inside]


def write(path, lines):
    with open(path + ".part", "w", encoding="utf-8") as file: file.writelines(lines)
    os.replace(path + ".part", path)
    return path


def train(o, work, name, words, fold_of, fold):
    target = os.path.join(work, "models", name)
    if os.path.exists(target): return
    if words is None:
        shutil.copy(os.path.join(o.models, name), target)
        return
    logs = logs_of(words, o)
    parts = {word: write(os.path.join(work, os.path.basename(path)), keep(read(path), fold_of, fold, False))
             for word, path in logs.items()}
    said = [parts.get(word, word.replace("DATABASES", o.db_root)) for word in words]
    subprocess.run([o.assay, *said, "--out", target + ".part"], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    os.replace(target + ".part", target)


def judge(o, work, number, log, fold_of, fold):
    out = os.path.join(work, f"verdicts-{number}.jsonl")
    lines = keep(read(log), fold_of, fold, True)
    if not os.path.exists(out) and lines:
        part = write(os.path.join(work, f"judged-{number}.jsonl"), lines)
        subprocess.run([o.assay, "replay", part, "--db-root", o.db_root, "--models", os.path.join(work, "models"),
                        "--out", out + ".part",
                        "--quiet", *o.more], check=True)
        os.replace(out + ".part", out)
    return [json.loads(line) | {"fold": fold, "log": os.path.basename(log)} for line in read(out)] if lines else []


def merge(log, fold_of, verdicts):
    """Merges the verdicts of the folds into the order of the log's lines."""
    queues, out = {fold: iter(v) for fold, v in verdicts.items()}, []
    for line in read(log):
        out.append(json.dumps(next(queues[fold_of[json.loads(line)["db"]]]), ensure_ascii=False) + "\n")
    return out


def main():
    argv, more = sys.argv[1:], []
    if "--" in argv: argv, more = argv[:argv.index("--")], argv[argv.index("--") + 1:]
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("assay", "models", "logs", "db-root", "work", "out"): p.add_argument("--" + name, required=True)
    p.add_argument("--made", default=".", help="folder of the logs that were made of others (models/README.md)")
    p.add_argument("--folds", type=int, default=5)
    p.add_argument("log", nargs="+")
    o = p.parse_args(argv)
    o.more = more
    recipes = commands(o.models)
    trained_on = sorted({path for words in recipes.values() for path in logs_of(words, o).values()})
    fold_of = deal(trained_on + o.log, o.folds)
    if len(fold_of) < o.folds: sys.exit(f"{o.folds} folds need at least as many databases")
    verdicts = [{} for _ in o.log]
    for fold in range(o.folds):
        work = os.path.join(o.work, str(fold))
        os.makedirs(os.path.join(work, "models"), exist_ok=True)
        for name, words in recipes.items(): train(o, work, name, words, fold_of, fold)
        for number, log in enumerate(o.log): verdicts[number][fold] = judge(o, work, number, log, fold_of, fold)
        print(f"fold {fold + 1} of {o.folds}: {sum(len(v[fold]) for v in verdicts)} verdicts", file=sys.stderr)
    write(o.out, [line for number, log in enumerate(o.log) for line in merge(log, fold_of, verdicts[number])])


if __name__ == "__main__":
    main()
