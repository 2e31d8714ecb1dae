#!/usr/bin/env python3
"""Trains the small schema linker: an encoder-decoder that writes the tables, and their columns, that a question needs.

  assay link export LOG... --db-root DATABASES --out lines.jsonl
  train.py lines.jsonl --out DIR [--epochs 24]

Databases of the last three of ten folds (features.py) are excluded, because the predictors of its errors are trained on
them. The same arguments give the same weights on the same machine. DIR is a Hugging Face directory: weights in half
precision, configuration, and the known words.
"""

import argparse, collections, copy, json, math, os, random, sys, time

import torch
from torch.nn import functional

from features import (LINKER_FOLDS, PAD, SPECIAL_WORDS, STAGES, UNKNOWN, batch, fold_of, is_number, read, shuffled,
                      thinned)
from model import BEGIN, END, FIRST, LinkerConfig, SchemaLinker

POSITIONS_A_BATCH = 1600
MIN_DATABASES = 3
MOST_HIDDEN = 0.6    # maximum share of hidden words of a sample
MOST_THINNED = 0.5   # maximum share of removed tables and columns, of those not used


def read_lines(paths):
    for path in paths:
        with open(path, encoding="utf-8") as f:
            for text in f: yield json.loads(text)


def find_words(lines):
    """Returns the words that MIN_DATABASES share. A word of a single database would be memorised."""
    databases = collections.defaultdict(set)
    for line in lines:
        names = (x for t in line["tables"] for x in [t, *t["columns"]])
        for word in [*line["words"], *(w for x in names for w in x["words"])]:
            if not is_number(word): databases[word].add(line["db"])
    shared = sorted(w for w, where in databases.items() if len(where) >= MIN_DATABASES)
    return {word: i for i, word in enumerate([*SPECIAL_WORDS, *shared])}


def samples(lines, words):
    for line in lines:
        for stage in STAGES:
            sample = read(line, stage, words, line["gold"]["tables"])
            if sample and sample.gold: yield sample


def varied(sample, rng):
    """Returns the sample thinned in half of the cases, and shuffled in half of the cases. So schemas vary more than the
    hundred databases of the training data."""
    if rng.random() < 0.5: sample = thinned(sample, rng, rng.random() * MOST_THINNED)
    return shuffled(sample, rng) if rng.random() < 0.5 else sample


def batches(every, rng):
    """Returns batches of samples of similar length, in random order."""
    every = sorted((varied(s, rng) for s in every), key=lambda s: (len(s.kinds), rng.random()))
    out, part = [], []
    for sample in every:
        if part and (len(part) + 1) * len(sample.kinds) > POSITIONS_A_BATCH:
            out.append(part)
            part = []
        part.append(sample)
    out.append(part)
    rng.shuffle(out)
    return out


def targets(part):
    """Returns the input and the expected output of the decoder. END is index 0 among the choices, candidate i is index
    i + 1, and -100 follows the end."""
    steps = max(len(s.gold) for s in part) + 1
    fed, wanted = torch.full((len(part), steps), BEGIN), torch.full((len(part), steps), -100)
    for i, s in enumerate(part):
        for k, g in enumerate(s.gold): fed[i, k + 1], wanted[i, k] = FIRST + g, g + 1
        wanted[i, len(s.gold)] = END - 1
    return fed, wanted


def needed(part, n):
    """Returns 1 or 0 for each position that is a candidate, by whether it is right; NaN for other positions."""
    out = torch.full((len(part), n), float("nan"))
    for i, s in enumerate(part):
        out[i, s.candidates] = 0.0
        out[i, [s.candidates[g] for g in s.gold]] = 1.0
    return out


def hide_words(ids, n_words):
    """Replaces some words of a sample, at all their occurrences, by the unknown word, as in a database not seen in
    training."""
    share = torch.rand(len(ids), 1) ** 2 * MOST_HIDDEN
    hidden = (torch.rand(len(ids), n_words) < share).gather(1, ids.flatten(1)).view_as(ids)
    return ids.masked_fill(hidden & (ids > UNKNOWN), UNKNOWN)


def loss_of(model, part):
    inputs, (fed, wanted) = batch(part), targets(part)
    if model.training:
        inputs["input_ids"] = hide_words(inputs["input_ids"], model.config.words)
    out = model(**inputs, decoder_input_ids=fed)
    right = needed(part, inputs["kinds"].shape[1])
    is_item = ~right.isnan()
    item_loss = functional.binary_cross_entropy_with_logits(out.item_scores[is_item], right[is_item])
    choose = lambda scores: functional.cross_entropy(scores.flatten(0, 1), wanted.flatten())
    return choose(out.scores), choose(out.first), item_loss


def train(model, words, lines, args):
    rng = random.Random(args.seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.rate, weight_decay=0.02, betas=(0.9, 0.98))
    every = list(samples(lines, words))
    steps, total, began = 0, None, time.time()
    for epoch in range(args.epochs):
        todo, sums = batches(every, rng), torch.zeros(3)
        total = total or len(todo) * args.epochs
        model.train()
        for part in todo:
            rate = args.rate * min(1, (steps + 1) / 400) * (0.02 + 0.98
                                                            * (0.5 + 0.5 * math.cos(math.pi * min(1, steps / total))))
            for group in optimizer.param_groups: group["lr"] = rate
            losses = torch.stack(loss_of(model, part))
            optimizer.zero_grad()
            (losses * torch.tensor([1.0, 0.5, 1.0])).sum().backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            steps += 1
            sums += losses.detach()
        told = " ".join(f"{x:.4f}" for x in (sums / len(todo)).tolist())
        print(f"epoch {epoch + 1}: losses {told}, {time.time() - began:.0f} s", file=sys.stderr, flush=True)
        if (epoch + 1) % 5 == 0 or epoch + 1 == args.epochs: save(model, words, args.out)


def save(model, words, path):
    copy.deepcopy(model).half().save_pretrained(path, safe_serialization=True)
    with open(os.path.join(path, "words.json"), "w", encoding="utf-8") as out: json.dump(list(words), out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="+")
    parser.add_argument("--out", required=True)
    parser.add_argument("--epochs", type=int, default=24)
    parser.add_argument("--width", type=int, default=128)
    parser.add_argument("--rate", type=float, default=7e-4)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    lines = [line for line in read_lines(args.lines) if "gold" in line and fold_of(line["db"]) < LINKER_FOLDS]
    words = find_words(lines)
    model = SchemaLinker(LinkerConfig(words=len(words), width=args.width))
    print(f"{len(lines)} questions, {len(words)} words, {sum(p.numel() for p in model.parameters())} weights",
          file=sys.stderr, flush=True)
    train(model, words, lines, args)


if __name__ == "__main__":
    main()
