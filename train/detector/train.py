"""Trains the detector on lines of `assay train export`, and scores held-out folds and other files.

python3 train.py LINES... --encoder DIR --out DIR                      one model of all lines
python3 train.py LINES... --encoder DIR --folds --scores F             five folds by database: each line is scored by a
                                                                       model that has not seen its database
    --test NAME=FILE   files that are only scored, into SCORES.NAME (with --folds by the mean of the five models)

The size of the paper: --epochs 20 --rate 3e-5 --batch 16 --encoder a CodeBERT, on an accelerator (--device cuda).
--freeze leaves the encoder unchanged and keeps its output in memory, so an epoch takes seconds: for trials on a CPU.
"""
import argparse
import json
import os
import random
import sys

import torch
from torch import nn

import encoder as encoders
import graphs
import model as models


def arguments():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("lines", nargs="+")
    a.add_argument("--encoder", required=True)
    a.add_argument("--out")
    a.add_argument("--folds", action="store_true")
    a.add_argument("--only-folds", type=int, default=5, help="train the first N of them")
    a.add_argument("--scores")
    a.add_argument("--test", action="append", default=[])
    a.add_argument("--without", action="append", default=[], choices=["sql_graph", "question_graph"])
    a.add_argument("--links", action="store_true")
    a.add_argument("--original", action="store_true", help="the tree as parsed, not simplified")
    a.add_argument("--parser", default="auto", help="auto, none, or the package that ships its model")
    a.add_argument("--freeze", action="store_true")
    a.add_argument("--cache", help="with --freeze: a file that keeps the encoder's output for the next run")
    a.add_argument("--mean", action="store_true", help="the text as the mean of its tokens, not the first")
    a.add_argument("--epochs", type=int, default=20)
    a.add_argument("--rate", type=float, default=3e-5, help="of the encoder")
    a.add_argument("--head-rate", type=float, default=1e-3, help="of all else")
    a.add_argument("--batch", type=int, default=16)
    a.add_argument("--graph-dim", type=int, default=128)
    a.add_argument("--longest", type=int, default=192)
    a.add_argument("--limit", type=int, default=0)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--threads", type=int, default=0)
    a.add_argument("--device", default="cpu")
    return a.parse_args()


def config_of(args, samples):
    types = {side: sorted({t for s in samples for t in s[side][0]}) for side in ("sql", "question")}
    return {"types": types, "links": args.links, "original": args.original, "longest": args.longest,
            "parser": args.parser, "graph_dim": args.graph_dim, "mean": args.mean,
            **{name: False for name in args.without}}


class Cache:
    """The output of a frozen encoder, by the tokens of a text. It is computed once for all folds, and stored in a file
    for other runs."""

    def __init__(self, encoder, device, path=None):
        self.encoder, self.device, self.path = encoder.eval(), device, path
        self.known = torch.load(path) if path and os.path.exists(path) else {}
        self.at_start = len(self.known)

    def save(self):
        if self.path and len(self.known) > self.at_start:
            torch.save(self.known, self.path)

    def states(self, samples, longest, collate):
        missing = [s for s in samples if tuple(s["ids"]) not in self.known]
        if missing:
            self.encoder.eval()
            with torch.no_grad():
                batch = models.to_device(collate(missing), self.device)
                out = self.encoder(batch["ids"], batch["id_types"], batch["mask"])
            for row, s in zip(out, missing):
                self.known[tuple(s["ids"])] = row[:len(s["ids"])].half().cpu()
        out = torch.zeros(len(samples), longest, self.encoder.dim)
        for i, s in enumerate(samples):
            out[i, :len(s["ids"])] = self.known[tuple(s["ids"])].float()
        return out.to(self.device)


def forward(net, samples, cache, device):
    batch = models.to_device(net.collate(samples), device)
    states = cache.states(samples, batch["ids"].shape[1], net.collate) if cache else None
    return net(batch, states)


def rates(net, args):
    encoder = set(net.encoder.parameters())
    groups = [{"params": [p for p in net.parameters() if p not in encoder], "lr": args.head_rate}]
    if not args.freeze:
        groups.append({"params": list(encoder), "lr": args.rate})
    return torch.optim.AdamW(groups)


def fit(samples, args, cache, say):
    """Trains with linear decay and 10 % warm-up. Samples of a question are in one batch, as in the paper."""
    torch.manual_seed(args.seed)
    draw = random.Random(args.seed)
    own = cache.encoder if cache else encoders.load(args.encoder)
    net = models.Detector(config_of(args, samples), own).to(args.device)
    optimizer = rates(net, args)
    steps = max(1, args.epochs * ((len(samples) + args.batch - 1) // args.batch))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda i: min(1.0, (i + 1) / (0.1 * steps + 1)) * max(0.0, 1 - i / steps))
    beams = {}
    for s in samples:
        beams.setdefault((s["line"]["db"], s["line"]["question"]), []).append(s)
    beams = list(beams.values())
    for epoch in range(args.epochs):
        net.train()
        draw.shuffle(beams)
        order, total = [s for beam in beams for s in beam], 0.0
        for at in range(0, len(order), args.batch):
            part = order[at:at + args.batch]
            wanted = torch.tensor([float(s["label"]) for s in part], device=args.device)
            loss = nn.functional.binary_cross_entropy_with_logits(forward(net, part, cache, args.device), wanted)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item() * len(part)
        say(f"epoch {epoch + 1}: loss {total / max(1, len(order)):.4f}")
    return net.eval()


def score(net, samples, cache, device, batch=64):
    out = []
    with torch.no_grad():
        for at in range(0, len(samples), batch):
            out += torch.sigmoid(forward(net, samples[at:at + batch], cache, device)).tolist()
    return out


KEPT = ("id", "db", "fold", "place", "votes", "origin", "generator", "label")


def write_scores(path, samples, scores):
    with open(path, "w", encoding="utf-8") as file:
        for s, p in zip(samples, scores):
            file.write(json.dumps({**{k: s["line"].get(k) for k in KEPT}, "p": round(p, 6)}) + "\n")


def cross(samples, tests, args, cache, say):
    held, means = {}, {name: [0.0] * len(part) for name, part in tests.items()}
    folds = sorted({s["line"]["fold"] for s in samples})[:args.only_folds]
    for fold in folds:
        say(f"fold {fold}")
        net = fit([s for s in samples if s["line"]["fold"] != fold], args, cache, say)
        out = [s for s in samples if s["line"]["fold"] == fold]
        held.update(zip(map(id, out), score(net, out, cache, args.device)))
        for name, part in tests.items():
            means[name] = [m + p / len(folds) for m, p in zip(means[name], score(net, part, cache, args.device))]
    kept = [s for s in samples if id(s) in held]
    return kept, [held[id(s)] for s in kept], means


def main():
    args = arguments()
    if args.threads:
        torch.set_num_threads(args.threads)
    say = lambda text: print(text, file=sys.stderr, flush=True)
    tokenizer, questions = encoders.load_tokenizer(args.encoder), graphs.Questions(args.parser)
    say("questions: " + ("parsed" if questions.nlp else "a chain of words and phrases, for no parser is at hand"))
    make = lambda line: graphs.make_sample(line, tokenizer, questions, args.longest, args.original)
    known = lambda paths, limit=0: [make(x) for x in graphs.read_lines(paths, limit) if x["label"] is not None]
    samples = known(args.lines, args.limit)
    tests = {t.split("=", 1)[0]: known([t.split("=", 1)[1]]) for t in args.test}
    cache = None
    if args.freeze:
        frozen = encoders.load(args.encoder).to(args.device)
        for p in frozen.parameters():
            p.requires_grad_(False)
        cache = Cache(frozen, args.device, args.cache)
    say(f"{len(samples)} samples, {sum(bool(s['label']) for s in samples)} right")
    if args.folds:
        kept, held, means = cross(samples, tests, args, cache, say)
        write_scores(args.scores, kept, held)
    else:
        net = fit(samples, args, cache, say)
        means = {name: score(net, part, cache, args.device) for name, part in tests.items()}
        if args.out:
            models.save(net, args.out, args.encoder)
    if cache:
        cache.save()
    for name, part in tests.items():
        write_scores(f"{args.scores}.{name}", part, means[name])


if __name__ == "__main__":
    main()
