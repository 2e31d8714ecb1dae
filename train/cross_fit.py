#!/usr/bin/env python3
"""Verdicts by models that have not seen the database: of whole logs, through label model, classifier and verifier.

  cross_fit.py --assay build/release/cli/assay --models models --logs LOGS --db-root DATABASES --work DIR --out
  VERDICTS.jsonl
               [--made DIR] [--folds 5] LOG.jsonl ... [-- REPLAY-OPTION ...]

Verdicts on the logs that models were trained on are better than any that will come, and nothing can be chosen by them.
Here the databases are dealt into folds. For each fold every model of --models is trained anew by the command that its
own file holds, with LOGS and DATABASES for the two folders and its other logs (generated.jsonl) from --made, on those
logs without the fold's databases; what has no command that trains (decision.json) is copied. `assay replay` with these
models judges the fold's lines of each LOG, and the verdicts are written in the order of the logs, one a line, each with
its "fold" and "log".

What is in DIR already is used again, so that a run that broke off goes on; another recipe wants another DIR.
"""
import argparse, glob, json, os, shlex, shutil, subprocess, sys, zlib


def read(path):
    with open(path, encoding="utf-8") as file: return [line for line in file if line.strip()]


def deal(paths, folds):
    """Database → fold: in turn, in order of a hash of the names, so that the order of the logs does not matter."""
    names = {json.loads(line)["db"] for path in paths for line in read(path)}
    return {name: i % folds for i, name in enumerate(sorted(names, key=lambda n: (zlib.crc32(n.encode()), n)))}


def commands(models):
    """Model file → the arguments of the command that makes it; None: it is not trained."""
    out = {}
    for path in sorted(glob.glob(os.path.join(models, "*.json"))):
        words = shlex.split(json.load(open(path, encoding="utf-8")).get("command", ""))
        out[os.path.basename(path)] = words[1:] if words[:2] == ["assay", "train"] else None
    return out


def logs_of(words, o):
    """Word of the command → the log that it names: one of --logs, or one made of them, of --made."""
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
    """Verdicts of the folds, each in the order of its lines, in the order of all lines."""
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
