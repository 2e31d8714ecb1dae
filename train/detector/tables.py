"""Prints tables in the form of the paper's tables 2, 3, 4 and 6, from files of scores (train.py, predict.py).

python3 tables.py 2 GENERATOR/MODEL=FILE...              detection, the first candidate of each question
python3 tables.py 3 TARGET/SOURCE/MODEL=FILE...          the same, trained on another generator
python3 tables.py 4 GENERATOR=FILE...                    execution accuracy after re-ranking
python3 tables.py 6 GRAPH/SOURCE/GENERATOR=FILE...       graphs and sources of errors compared
python3 tables.py auc NAME=FILE...                       AUC of beams, of made candidates, and of all
python3 tables.py pairs NAME=FILE...                     right and wrong of minimal pairs, each alone

With --all, tables 2, 3 and 6 count all candidates instead of only the first. As in the paper, the threshold is the one
with the best accuracy on four fifths of the databases. Accuracy, precision and recall are those on the remaining fifth.
"""
import json
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return [s for s in map(json.loads, file) if s["label"] is not None]


def questions(scores):
    out = {}
    for s in scores:
        out.setdefault((s["db"], s["id"]), []).append(s)
    return [sorted(q, key=lambda s: s["place"]) for q in out.values()]


def auc(scores):
    right, wrong = ([s["p"] for s in scores if s["label"] is label] for label in (True, False))
    if not right or not wrong:
        return float("nan")
    won = 0.0
    wrong.sort()
    from bisect import bisect_left, bisect_right

    for p in right:
        won += (bisect_left(wrong, p) + bisect_right(wrong, p)) / 2
    return won / (len(right) * len(wrong))


def best_threshold(scores):
    """Returns the threshold with the best accuracy; among equal ones, the lowest."""
    ordered = sorted(scores, key=lambda s: s["p"])
    good = sum(s["label"] for s in ordered)
    best, at = good, 0.0
    for i, s in enumerate(ordered):
        good += -1 if s["label"] else 1
        last = i + 1 == len(ordered)
        if good > best and (last or ordered[i + 1]["p"] > s["p"]):
            best, at = good, s["p"] + 1e-9 if last else (s["p"] + ordered[i + 1]["p"]) / 2
    return at


def measures(scores):
    """Returns positive P, R, F1; negative P, R, F1; accuracy; AUC. They are in percent, over five folds of databases
    together."""
    said = []
    for fold in sorted({s["fold"] for s in scores}):
        rest = [s for s in scores if s["fold"] != fold]
        threshold = best_threshold(rest) if rest else 0.5
        said += [(s["label"], s["p"] >= threshold) for s in scores if s["fold"] == fold]
    out = []
    for label in (True, False):
        hit = sum(a == b == label for a, b in said)
        precision = hit / max(1, sum(b == label for _, b in said))
        recall = hit / max(1, sum(a == label for a, _ in said))
        out += [precision, recall, 2 * precision * recall / max(1e-9, precision + recall)]
    return [100 * x for x in out + [sum(a == b for a, b in said) / max(1, len(said)), auc(scores)]]


HEAD = ["P+", "R+", "F1+", "P-", "R-", "F1-", "Acc", "AUC"]


def chosen(path, everything):
    scores = read(path)
    return scores if everything else [q[0] for q in questions(scores)]


def show(head, rows):
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for row in rows:
        print("| " + " | ".join(f"{x:.1f}" if isinstance(x, float) else str(x) for x in row) + " |")


def detection(entries, everything, names):
    rows = []
    for name, path in entries:
        scores = chosen(path, everything)
        rows.append(name.split("/") + [len(scores)] + measures(scores))
    show(names + ["n"] + HEAD, rows)


def reranked(q, only_below=None):
    if only_below is not None and q[0]["p"] >= only_below:
        return q[0]
    return max(q, key=lambda s: s["p"])  # among equal ones, the first


def reranking(entries):
    rows = []
    for name, path in entries:
        beams = questions(read(path))
        share = lambda choose: 100 * sum(bool(choose(q)) for q in beams) / max(1, len(beams))
        rows.append([name, len(beams), share(lambda q: q[0]["label"]), share(lambda q: reranked(q)["label"]),
                     share(lambda q: reranked(q, 0.5)["label"]), share(lambda q: any(s["label"] for s in q))])
    show(["generator", "questions", "N/A", "RR", "ED + RR", "beam hit"], rows)


def ablation(entries, everything):
    rows = []
    for name, path in entries:
        scores = chosen(path, everything)
        beams = questions(read(path))
        rank = 100 * sum(reranked(q)["label"] for q in beams) / max(1, len(beams))
        rows.append(name.split("/") + measures(scores)[-2:] + [rank])
    show(["graph", "source", "generator", "Acc", "AUC", "RR"], rows)


def by_origin(entries):
    rows = []
    for name, path in entries:
        scores = read(path)
        parts = [[s for s in scores if s["origin"] == origin] for origin in ("beam", "made")]
        rows.append([name] + [100 * auc(part) for part in parts + [scores]])
    show(["detector", "beams", "made", "all"], rows)


def minimal_pairs(entries):
    rows = []
    for name, path in entries:
        beams = [q for q in questions(read(path)) if {s["label"] for s in q} == {True, False}]
        won = [sum((r["p"] > w["p"]) + (r["p"] == w["p"]) / 2 for r in q for w in q if r["label"] and not w["label"]) /
               sum(r["label"] and not w["label"] for r in q for w in q) for q in beams]
        rows.append([name, len(beams), 100 * sum(won) / max(1, len(beams)), 100 * auc([s for q in beams for s in q])])
    show(["detector", "pairs", "right preferred", "AUC alone"], rows)


def main():
    everything = "--all" in sys.argv
    words = [a for a in sys.argv[1:] if a != "--all"]
    if len(words) < 2 or any("=" not in w for w in words[1:]):
        sys.exit(__doc__)
    entries = [w.split("=", 1) for w in words[1:]]
    tables = {
        "2": lambda: detection(entries, everything, ["generator", "model"]),
        "3": lambda: detection(entries, everything, ["target", "source", "model"]),
        "4": lambda: reranking(entries),
        "6": lambda: ablation(entries, everything),
        "auc": lambda: by_origin(entries),
        "pairs": lambda: minimal_pairs(entries),
    }
    if words[0] not in tables:
        sys.exit(__doc__)
    tables[words[0]]()


if __name__ == "__main__":
    main()
