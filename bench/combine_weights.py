#!/usr/bin/env python3
"""Chooses `combine`, `unfamiliar` and `margin` of models/decision.json: how the two judges are combined, how much P is
reduced, and by how much another candidate must exceed the first one that executes.

    combine_weights.py --assay build/release/cli/assay --logs LOGS --db-root DATABASES --models models --work DIR
                       [--generated LOG] [--share 0.25]

Uses training logs only. Their databases are halved by a hash of the name. Models are trained on one half. On the other
half, gold queries, their mutants and the parser's beams are each judged alone. They are then dealt into lists, as three
kinds of generator would return them:

  ranked    guesses of one system: the right one first in 75 % of all cases, later in a third of the rest
  samples   five of one system that is right with a probability drawn for each question from a beta distribution (mean
  0.7,
            weight 1.2, so that most questions are easy or hopeless); what is wrong comes from three likely candidates
  systems   five named systems: the same, mean 0.6, weight 3, so that their errors meet less

Each list is judged with the order that its user would give (options.order): ranked for the first kind, sampled for the
others. Each is dealt once for each of four *worlds*. In `known`, the judges have seen such errors in training (mutants
and generated questions). In `new`, they have not (they were trained on beams and other questions' gold). In both, the
errors are either *near* the gold query as a text, or *look* right to the other verifier.

The first table shows EX of `rerank` for each share of the signals in the log-odds. The rule takes the best mean over
all worlds and kinds. For comparison the table follows with the label model instead of the classifier, and then with
other weights of votes and positions. The next table is on P(correct) of the first candidate, shrunk: logit P = c0 +
scale * (shares and log-odds as above). The rule takes, among the choices within 0.002 of the least mean log loss, the
least calibration error in the worst list. The next table is on the margin in that P: EX, and fixed / broken in
comparison with the first candidate that executes. The rule for each order takes the least margin with fixed >= 2 x
broken in the worst world. If there is none, it takes the margin whose worst world has the highest ratio of fixed to
broken. Another table has ranked lists alone: mean EX (and the ratio in the worst world) for each weight of the first
position. The last table compares this P with the labels of candidates and answers, for each list. Steps whose file
exists in DIR are not repeated.
"""
import argparse, difflib, json, math, os, random, re, shutil, subprocess, sys, zlib

from calibration import calibration_error, over

LOGS = ("gold", "picard")
WORLDS = [(verifier, errors) for verifier in ("known", "new") for errors in ("near", "look")]
FIRSTS = (0.7, 1.4, 2.1, 2.8, 3.5)
UNLINKED, MUTANTS, SUBSET = 1e6, 10, 700
DEALS = 4  # lists of each question, so that chance has little effect on fixed and broken
KINDS = ("ranked", "samples", "systems")
HABITS = {"ranked": (0.25, 2.1), "samples": (0.25, 0.0), "systems": (1.0, 0.0)}  # vote, first: see verifier_context.c
ORDERS = {"ranked": ("ranked",), "sampled": ("samples", "systems")}  # options.order, and the lists to which it applies
MARGINS, ENOUGH = (0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5), 2
NONE, TEMPERATURE = 0.7, 0.8
SHARES = (0.0, 0.25, 0.5, 0.75)
VOTES = (0.5, 0.75, 1.0, 1.5)
SCALES, OFFSETS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5), (0.0, -0.2, -0.4, -0.6, -0.8)


# --- models and what they say of each candidate ---

def write_lines(path, lines):
    with open(path, "w", encoding="utf-8") as out: out.writelines(json.dumps(d) + "\n" for d in lines)


class Work:
    def __init__(self, options):
        self.o = options
        os.makedirs(options.work, exist_ok=True)

    def path(self, name):
        return os.path.join(self.o.work, name)

    def make(self, name, step):
        """Makes the file with step(path), unless it exists."""
        if not os.path.exists(self.path(name)):
            step(self.path(name) + ".part")
            os.rename(self.path(name) + ".part", self.path(name))
        return self.path(name)

    def assay(self, *words, out=None):
        command = [self.o.assay, *words, "--db-root", self.o.db_root]
        print("+", " ".join(command), file=sys.stderr, flush=True)
        with open(out or os.devnull, "w", encoding="utf-8") as file:
            done = subprocess.run(command, stdout=file, check=False)
        if done.returncode not in (0, 1):  # 1: done, but a line was omitted (gold that does not run) or not validated
            raise subprocess.CalledProcessError(done.returncode, command)

    def logs(self):
        logs = {name: os.path.join(self.o.logs, f"train.{name}.jsonl") for name in LOGS}
        return logs | ({"generated": self.o.generated} if self.o.generated else {})

    def lines(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]


def asked(line):
    return line["db"], line["question"]


def half_of(line):
    return "AB"[zlib.crc32(line["db"].encode()) >> 7 & 1]


def is_kept(line, share):
    """True if the question is in the sample, which is the same for all logs in any order."""
    return zlib.crc32("\n".join(asked(line)).encode()) % 1000 < 1000 * share


def halve(work):
    for name, log in work.logs().items():
        with open(log, encoding="utf-8") as file: lines = [json.loads(line) for line in file]
        for half in "AB":
            mine = [d for d in lines if half_of(d) == half and is_kept(d, work.o.share)]
            work.make(f"{name}.{half}.jsonl", lambda path, mine=mine: write_lines(path, mine))


def train(work):
    """Trains models: `known` on mutants and generated questions, if there are any; `new` on neither."""
    gold, picard = work.path("gold.A.jsonl"), work.path("picard.A.jsonl")
    made = [work.path("generated.A.jsonl")] if work.o.generated else []
    work.make("known.json", lambda out: work.assay("train", "verifier", gold, *made, "--recipe",
                                                   "{mutants: 6, doubles: 2, siblings: 3, rounds: 250}", "--out", out))
    work.make("new.json", lambda out: work.assay("train", "verifier", gold, picard,
                                                 "--recipe", "{mutants: 0, doubles: 0, siblings: 8, rounds: 200}",
                                                 "--out", out))
    for world, mutants in (("known", 4), ("new", 0)):  # views see all candidates, not the list
        work.make(f"label_model.{world}.json", lambda out: work.assay(
            "train", "label-model", picard, "--recipe", f"{{views: no, trust: 10, mutants: {mutants}}}", "--out", out))
    limit = str(max(int(1700 * work.o.share), 1))
    for world, logs in (("known", (picard, gold, "--limit", limit)), ("new", (picard,))):
        work.make(f"classifier.{world}.json", lambda out: work.assay("train", "classifier", *logs, "--kind=trees",
                                                                     "--recipe", "{views: no, target_prior: 0.75}",
                                                                     "--out", out))


def choose_questions(work):
    """Returns all questions that have beams, and some of the others."""
    beams = {asked(d) for d in work.lines("picard.B.jsonl")}
    gold = work.lines("gold.B.jsonl")
    rest = [d for d in gold if asked(d) not in beams]
    random.Random(3).shuffle(rest)
    chosen = [d for d in gold if asked(d) in beams] + rest[:int(SUBSET * work.o.share)]
    work.make("sub.B.jsonl", lambda path: write_lines(path, chosen))


def pool(work):
    """Writes gold, mutants and beams of a question as one line; meta has the origin of each."""
    choose_questions(work)
    work.make("mut.B.jsonl", lambda out: work.assay("mutate", work.path("sub.B.jsonl"), "-n", str(MUTANTS), "--seed",
                                                    "77", out=out))
    beams = {(d["db"], d["question"]): d["candidates"] for d in work.lines("picard.B.jsonl")}
    def write(path):
        with open(path, "w", encoding="utf-8") as out:
            for d in work.lines("mut.B.jsonl"):
                entries = [("gold", d["gold"])] + [("mutant", c["sql"]) for c in d["candidates"]]
                entries += [("beam", c["sql"]) for c in beams.get((d["db"], d["question"]), [])]
                d["candidates"] = [{"sql": sql} for _, sql in entries]
                d["meta"] = {"origin": [origin for origin, _ in entries]}
                out.write(json.dumps(d) + "\n")
    work.make("pool.B.jsonl", write)


def model_dir(work, verifier):
    """Makes the models. P(correct) is that of the classifier; the entailment is the content's log-odds minus log
    UNLINKED, whatever the other candidates are."""
    folder = work.path(f"models.{verifier}")
    os.makedirs(folder, exist_ok=True)
    for name in ("label_model", "classifier"):
        shutil.copy(work.path(f"{name}.{verifier}.json"), os.path.join(folder, f"{name}.json"))
    with open(work.path(f"{verifier}.json"), encoding="utf-8") as file: model = json.load(file)
    model["generators"] = {"": {"vote": 0, "first": 0, "none": UNLINKED, "temperature": 1}}
    with open(os.path.join(folder, "verifier.json"), "w", encoding="utf-8") as file: json.dump(model, file)
    with open(os.path.join(work.o.models, "decision.json"), encoding="utf-8") as file: decision = json.load(file)
    decision["combine"], decision["unfamiliar"] = [0, 1, 0], [0, 1]
    with open(os.path.join(folder, "decision.json"), "w", encoding="utf-8") as file: json.dump(decision, file)
    return folder


def judge(work):
    lines = work.path("pool.B.jsonl")
    for verifier in ("known", "new"):
        work.make(f"verdicts.{verifier}.jsonl", lambda out: work.assay(
            "replay", lines, "--strategy", "rerank", "--deadline-ms", "-1", "--models", model_dir(work, verifier),
            out=out))
    work.make("labels.json", lambda out: work.assay("eval", lines, "--explain=no", "--strategy", "rerank",
                                                    "--bootstrap", "0",
                                                    "--models", work.o.models, "--format", "json", "--labels", out))


# --- candidates ---

def logit(p):
    p = min(max(p, 1e-6), 1 - 1e-6)
    return math.log(p / (1 - p))


def label_word(candidate):
    """Returns the label model's log-odds; 0 if the verdict has none."""
    p = candidate.get("label_model_p")
    return 0.0 if p is None else logit(p)


def words(sql):
    return re.findall(r"\w+|[<>=!*]+", sql.lower())


def read(work):
    """Returns questions, each with a list of candidates: right, result, content by both verifiers, signals, similarity
    to gold."""
    with open(work.path("labels.json"), encoding="utf-8") as file: labels = json.load(file)
    questions = []
    for known, new, asked, right in zip(*(work.lines(n) for n in ("verdicts.known.jsonl", "verdicts.new.jsonl",
                                                                  "pool.B.jsonl")), labels):
        gold, candidates = words(asked["gold"]), []
        for a, b, label, origin in zip(known["candidates"], new["candidates"], right, asked["meta"]["origin"]):
            if label.startswith("err") or not a.get("entailment") or not b.get("entailment"): continue
            candidates.append({
                "right": label == "ok", "result": a["execution"]["digest"], "rows": a["execution"]["rows"],
                "origin": origin,
                "signals": {n: logit(c["p_correct"]) for n, c in (("known", a), ("new", b))},
                "labels": {n: label_word(c) for n, c in (("known", a), ("new", b))},
                "content": {n: math.log(c["entailment"] / (1 - c["entailment"]) * UNLINKED)
                            for n, c in (("known", a), ("new", b))},
                "near": difflib.SequenceMatcher(None, gold, words(a["sql"]), autojunk=False).ratio()})
        questions.append(candidates)
    return questions


def split(candidates):
    """Returns the right candidates, and one wrong candidate for each result. A beam is preferred to a mutant, then the
    one most similar to gold."""
    wrong = {}
    for c in candidates:
        key = (c["origin"] == "beam", c["near"])
        if not c["right"] and (c["result"] not in wrong or key > wrong[c["result"]][0]): wrong[c["result"]] = (key, c)
    return [c for c in candidates if c["right"]], [c for _, c in wrong.values()]


# --- lists ---

def likeliness(errors, verifier):
    if errors == "near": return lambda c: math.exp(8 * c["near"]) * (3 if c["origin"] == "beam" else 1)
    other = {"known": "new", "new": "known"}[verifier]
    return lambda c: math.exp(c["content"][other])


def draw(rng, wrong, n, likely):
    """Draws n candidates without repetition; more likely ones tend to come first."""
    return sorted(wrong, key=lambda c: math.log(max(rng.random(), 1e-12)) / likely(c), reverse=True)[:n]


def ranked(rng, right, wrong, likely):
    n, u = rng.randint(3, 6), rng.random()
    entries = draw(rng, wrong, n, likely)
    if u < 0.75: entries = [rng.choice(right)] + entries[:n - 1]
    elif u < 0.75 + 0.25 / 3: entries.insert(min(1 + int(rng.expovariate(1)), len(entries)), rng.choice(right))
    return [(c, 1) for c in entries]


def votes(mean, weight):
    def deal(rng, right, wrong, likely):
        p, few, counted = rng.betavariate(mean * weight, (1 - mean) * weight), draw(rng, wrong, 3, likely), {}
        weights = [rng.expovariate(1) for _ in few]
        for _ in range(5):
            c = rng.choice(right) if rng.random() < p else rng.choices(few, weights)[0]
            counted[id(c)] = (c, counted.get(id(c), (c, 0))[1] + 1)
        return list(counted.values())
    return deal


DEALERS = {"ranked": ranked, "samples": votes(0.7, 1.2), "systems": votes(0.6, 3)}


def contexts(entries, vote, first):
    """Returns the log-odds of each entry by votes and positions, as verifier_context.c computes them."""
    answers, keys = {}, []
    for i, (c, n) in enumerate(entries):
        keys.append(c["result"] if c["rows"] else i)
        answers.setdefault(keys[-1], [0, i])[0] += n
    differ = (len(answers) - 1) / (len(entries) - 1) if len(entries) > 1 else 0
    weight = {k: math.exp(vote * n + (first * differ if at == 0 else 0)) for k, (n, at) in answers.items()}
    total = sum(weight.values()) + NONE
    return [math.log(weight[k] / (total - weight[k])) for k in keys]


def deal(questions, kind, verifier, errors, habit=None):
    """Returns lists of (right, signals, content, context, label model)."""
    rng, lists, likely = random.Random(1), [], likeliness(errors, verifier)
    usable = [(right, wrong) for right, wrong in map(split, questions) if right and len(wrong) >= 4]
    for right, wrong in usable * DEALS:
        entries = DEALERS[kind](rng, right, wrong, likely)
        lists.append([(c["right"], c["signals"][verifier], TEMPERATURE * c["content"][verifier], x,
                       c["labels"][verifier])
                      for (c, _), x in zip(entries, contexts(entries, *(habit or HABITS[kind])))])
    return lists


# --- what comes of it ---

def accuracy(lists, share, votes=None, labels=False):
    """Returns EX. `votes`: weight of the log-odds of votes and positions; None: that of the verifier. `labels`: uses
    the label model instead of the classifier."""
    right, votes = 0, 1 - share if votes is None else votes
    for entries in lists:
        scores = [share * (l if labels else s) + (1 - share) * c + votes * x for _, s, c, x, l in entries]
        right += entries[scores.index(max(scores))][0]
    return 100 * right / len(lists)


def p_correct(entry, share, scale, offset):
    _, signals, content, context, _ = entry
    return 1 / (1 + math.exp(-(offset + scale * (share * signals + (1 - share) * (content + context)))))


def answer(scores, margin):
    """Chooses the answer as decide.c does. The first of the list is the first that executes."""
    best = scores.index(max(scores))
    return best if scores[best] - scores[0] > margin else 0


def honesty(lists, share, scale, offset):
    """Returns log loss, calibration error and excess of P, in points, for the first candidates."""
    loss, said, bins = 0, 0, [0] * 10
    for first, *_ in lists:
        right, p = first[0], p_correct(first, share, scale, offset)
        loss -= math.log(p if right else 1 - p)
        bins[min(int(10 * p), 9)] += p - right
        said += p - right
    return loss / len(lists), 100 * sum(map(abs, bins)) / len(lists), 100 * said / len(lists)


def outcome(lists, margin):
    """Returns EX in percent, fixed and broken in comparison with the first that executes, for lists of (right, P)."""
    fixed = broken = right = 0
    for entries in lists:
        first, chosen = entries[0][0], entries[answer([p for _, p in entries], margin)][0]
        fixed, broken, right = fixed + (chosen and not first), broken + (first and not chosen), right + chosen
    return 100 * right / len(lists), fixed, broken


def ratio(fixed, broken):
    """Returns fixed divided by broken; infinite if nothing is broken."""
    return fixed / broken if broken else math.inf


def worst_ratio(worlds):
    return min(ratio(*world) for world in worlds)


def choose_margin(outcomes):
    """Chooses from {margin: [(fixed, broken) of each world]}. Also returns the ratio in the worst world."""
    worst = {m: worst_ratio(worlds) for m, worlds in outcomes.items()}
    good = [m for m, r in worst.items() if r >= ENOUGH]
    margin = min(good) if good else max(worst, key=lambda m: (worst[m], -m))
    return margin, worst[margin]


def table_of(lists, header, measures):
    """Prints EX of each list by each measure, and the means."""
    print("| errors | list | lists | first | " + " | ".join(header) + " |\n|" + " --- |" * (4 + len(header)))
    rows = {key: [measure(l) for measure in measures] for key, l in lists.items()}
    for (verifier, errors, kind), row in rows.items():
        l = lists[verifier, errors, kind]
        print(f"| {verifier}, {errors} | {kind} | {len(l)} | {100 * sum(x[0][0] for x in l) / len(l):.1f} | " +
              " | ".join(f"{x:.1f}" for x in row) + " |")
    means = [sum(row[i] for row in rows.values()) / len(rows) for i in range(len(header))]
    print("| mean | | | | " + " | ".join(f"{m:.2f}" for m in means) + " |\n")
    return means


def choose_trust(lists, share):
    table = []
    for scale in SCALES:
        for offset in OFFSETS:
            loss, error, over = zip(*(honesty(l, share, scale, offset) for l in lists.values()))
            table.append((sum(loss) / len(loss), sum(error) / len(error), max(error), scale, offset, over))
    least = min(table)[0]
    print("| scale | c0 | log loss | calibration error, mean / worst | too much, points, in the order above |\n|"
          + " --- |" * 5)
    for t in sorted(table)[:6] + [t for t in table if t[3:5] == (1.0, 0.0)]:
        print(f"| {t[3]:g} | {t[4]:g} | {t[0]:.4f} | {t[1]:.1f} / {t[2]:.1f} | "
              + " ".join(f"{x:+.0f}" for x in t[5]) + " |")
    return min((t for t in table if t[0] < least + 0.002), key=lambda t: t[2])[3:5]


def margins_of(judged):
    """Prints the table. Returns {order: margin}."""
    print("| order | errors | list | lists | first | " + " | ".join(f"{m:g}" for m in MARGINS) + " |\n|"
          + " --- |" * (5 + len(MARGINS)))
    chosen = {}
    for order, kinds in ORDERS.items():
        outcomes = {m: [] for m in MARGINS}
        for (verifier, errors, kind), l in judged.items():
            if kind not in kinds: continue
            cells = {m: outcome(l, m) for m in MARGINS}
            for m, (_, fixed, broken) in cells.items(): outcomes[m].append((fixed, broken))
            print(f"| {order} | {verifier}, {errors} | {kind} | {len(l)} | "
                  f"{100 * sum(x[0][0] for x in l) / len(l):.1f} | " +
                  " | ".join(f"{ex:.1f} ({fixed} / {broken})" for ex, fixed, broken in cells.values()) + " |")
        worst = {m: worst_ratio(worlds) for m, worlds in outcomes.items()}
        print(f"| {order} | fixed for each broken, worst | | | | " + " | ".join(f"{r:.2f}" for r in worst.values())
              + " |")
        chosen[order] = choose_margin(outcomes)
    print()
    for order, (margin, worst) in chosen.items():
        print(f"{order}: margin {margin:g}, fixed {worst:.2f} x broken in the "
              f"worst{'' if worst >= ENOUGH else ': none reaches 2'}")
    return {order: margin for order, (margin, _) in chosen.items()}


def judge_lists(lists, share, scale, offset):
    return [[(e[0], p_correct(e, share, scale, offset)) for e in l] for l in lists]


def firsts_of(questions, trust):
    """Prints ranked lists by the weight of the first position in log-odds (verifier_context.c) and by the margin."""
    print("\n| first place of a ranked list | " + " | ".join(f"{m:g}" for m in MARGINS) + " |\n|"
          + " --- |" * (1 + len(MARGINS)))
    vote = HABITS["ranked"][0]
    for first in FIRSTS:
        worlds = [judge_lists(deal(questions, "ranked", *world, (vote, first)), *trust) for world in WORLDS]
        cells = [[outcome(lists, m) for lists in worlds] for m in MARGINS]
        print(f"| {first:g} | " + " | ".join(f"{sum(c[0] for c in row) / len(row):.1f} "
                                             f"({worst_ratio([c[1:] for c in row]):.2f})"
                                             for row in cells) + " |")


def calibration_of(judged, margins):
    print("\n| errors | list | candidates: calibration error, too much | answers: calibration error, too much |\n|"
          + " --- |" * 4)
    order_of = {kind: order for order, kinds in ORDERS.items() for kind in kinds}
    for (verifier, errors, kind), lists in judged.items():
        answers = [l[answer([p for _, p in l], margins[order_of[kind]])] for l in lists]
        cells = [[(p, right) for right, p in some] for some in ([e for l in lists for e in l], answers)]
        print(f"| {verifier}, {errors} | {kind} | " + " | ".join(f"{calibration_error(c):.3f}, {over(c):+.3f}"
                                                                 for c in cells) + " |")


def report(questions):
    lists = {(*world, kind): deal(questions, kind, *world) for world in WORLDS for kind in KINDS}
    header = [f"{s:g} / {1 - s:g}" for s in SHARES]
    means = table_of(lists, header, [lambda l, s=s: accuracy(l, s) for s in SHARES])
    share = SHARES[means.index(max(means))]
    print(f"share of the signals: {share:g}; with the label model in the classifier's place:\n")
    table_of(lists, header, [lambda l, s=s: accuracy(l, s, labels=True) for s in SHARES])
    table_of(lists, [f"votes {v:g}" for v in VOTES], [lambda l, v=v: accuracy(l, share, v) for v in VOTES])
    scale, offset = choose_trust(lists, share)
    print()
    judged = {key: judge_lists(some, share, scale, offset) for key, some in lists.items()}
    margins = margins_of(judged)
    firsts_of(questions, (share, scale, offset))
    calibration_of(judged, margins)
    print(f'\n"margin": {json.dumps(margins)}, "combine": [0, {share:g}, {1 - share:g}], "unfamiliar": [{offset:g}, '
          f'{scale:g}]')


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("assay", "logs", "db-root", "models", "work"): p.add_argument("--" + name, required=True)
    p.add_argument("--generated", help="more to train on: a log of train/generate_questions.py")
    p.add_argument("--share", type=float, default=1, help="of the questions, for a quick look; another share wants "
                   "another DIR")
    work = Work(p.parse_args())
    halve(work)
    train(work)
    pool(work)
    judge(work)
    report(read(work))


if __name__ == "__main__":
    main()
