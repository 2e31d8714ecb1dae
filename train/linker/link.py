#!/usr/bin/env python3
"""Runs the small schema linker and records its runs.

  assay link export LOG --db-root DATABASES --out lines.jsonl
  link.py lines.jsonl --model DIR --out RECORDING [--folds 7] [--layers 1,2,3] [--varied 4]

Writes RECORDING.jsonl and RECORDING.safetensors (docs/traces.md). For each question they have its tables, then the
columns of the right tables, or without gold those of the linked tables. --folds selects tenths of the databases
(features.py). --varied records each question that many additional times, with schema and words varied as in training.
This gives more errors to learn from if there are few questions.
"""

import argparse, json, os, random, sys

import torch

from assay_traces import Names, Writer, record
from features import STAGES, batch, fold_of, read
from model import END, FIRST, SchemaLinker
from train import hide_words, read_lines, varied


class Linker:
    def __init__(self, path, layers=None):
        self.model, self.layers = SchemaLinker.from_pretrained(path).float().eval(), layers
        with open(os.path.join(path, "words.json"), encoding="utf-8") as f:
            self.words = {w: i for i, w in enumerate(json.load(f))}

    def record(self, line, stage, linked=None, rng=None):
        """Returns a trace. Returns None if the schema is too large for the linker, or there are no candidates. With
        `rng` the sample is varied at random."""
        sample = read(line, stage, self.words, linked)
        if not sample: return None
        if rng: sample = varied(sample, rng)
        inputs = batch([sample])
        if rng: inputs["input_ids"] = hide_words(inputs["input_ids"], len(self.words))
        names = Names({name: [FIRST + i] for i, name in enumerate(sample.names)}, end=END)
        gold = [sample.names[i] for i in sample.gold] if "gold" in line else None
        return record(self.model, inputs, names, gold=gold, layers=self.layers, id=line.get("id", ""),
                      database=line["db"],
                      question=line["question"], stage=stage)

    def both(self, line, rng=None):
        """Yields the traces of a question: tables, then columns."""
        tables = self.record(line, "tables", rng=rng)
        if not tables: return
        yield tables
        names = [t["name"] for t in line["tables"]]
        written = [names.index(tables.line["candidates"][t["id"] - FIRST]["name"]) for t in tables.line["tokens"]
                   if t["id"] != END]
        columns = self.record(line, "columns", line["gold"]["tables"] if "gold" in line else written, rng)
        if columns: yield columns


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="+")
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--folds", default="0,1,2,3,4,5,6,7,8,9")
    parser.add_argument("--layers")
    parser.add_argument("--varied", type=int, default=0)
    args = parser.parse_args()
    torch.manual_seed(0)
    folds = {int(f) for f in args.folds.split(",")}
    linker = Linker(args.model, [int(k) for k in args.layers.split(",")] if args.layers else None)
    left_out = 0
    with Writer(args.out, "assay schema linker") as out:
        for line in read_lines(args.lines):
            if fold_of(line["db"]) not in folds: continue
            for rng in [None] + [random.Random(seed) for seed in range(args.varied)]:
                traces = list(linker.both(line, rng))
                left_out += len(STAGES) - len(traces)
                for trace in traces: out.write(trace)
    if left_out: print(f"{left_out} lists were left out: the schema is too large for the linker", file=sys.stderr)


if __name__ == "__main__":
    main()
