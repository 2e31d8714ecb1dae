#!/usr/bin/env python3
"""Let the small schema linker link, and record it at work.

  assay link export LOG --db-root DATABASES --out lines.jsonl
  link.py lines.jsonl --model DIR --out RECORDING [--folds 7] [--layers 1,2,3]

Writes RECORDING.jsonl and RECORDING.safetensors (docs/traces.md): for each question its tables, then the columns of the tables that are
right, or without gold of those that it linked. --folds keeps to some tenths of the databases (prompt.py).
"""

import argparse, sys

import torch
from transformers import MBartForConditionalGeneration, PreTrainedTokenizerFast

from assay_traces import Names, Writer, record
from prompt import column_prompt, fold_of, table_prompt
from train import LONGEST, read_lines


class Linker:
    def __init__(self, path, layers=None):
        self.tokenizer = PreTrainedTokenizerFast.from_pretrained(path)
        self.model = MBartForConditionalGeneration.from_pretrained(path).float().eval()
        self.layers = layers

    def record(self, prompt, line, stage):
        """None where the prompt is longer than what the linker was made for."""
        inputs = self.tokenizer(prompt.text, return_tensors="pt", return_token_type_ids=False)
        if inputs["input_ids"].shape[1] > LONGEST: return None
        slots = self.tokenizer.convert_tokens_to_ids(prompt.slots)
        names = Names({name: [slot] for name, slot in zip(prompt.names, slots)}, end=self.tokenizer.eos_token_id)
        gold = [prompt.names[i] for i in prompt.gold] if "gold" in line else None
        return record(self.model, inputs, names, gold=gold, layers=self.layers, id=line.get("id", ""), database=line["db"],
                      question=line["question"], stage=stage)

    def both(self, line):
        """The traces of a question: tables, columns."""
        prompt = table_prompt(line)
        tables = self.record(prompt, line, "tables") if prompt else None
        if not tables: return
        yield tables
        if "gold" in line:
            linked = line["gold"]["tables"]
        else:
            ids = self.tokenizer.convert_ids_to_tokens([t["id"] for t in tables.line["tokens"][:-1]])
            linked = [prompt.slots.index(slot) for slot in ids]
        prompt = column_prompt(line, linked)
        columns = self.record(prompt, line, "columns") if prompt else None
        if columns: yield columns


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", nargs="+")
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--folds", default="0,1,2,3,4,5,6,7,8,9")
    parser.add_argument("--layers")
    args = parser.parse_args()
    torch.manual_seed(0)
    folds = {int(f) for f in args.folds.split(",")}
    linker = Linker(args.model, [int(k) for k in args.layers.split(",")] if args.layers else None)
    left_out = 0
    with Writer(args.out, "assay schema linker") as out:
        for line in read_lines(args.lines):
            if fold_of(line["db"]) not in folds: continue
            traces = list(linker.both(line))
            left_out += 2 - len(traces)
            for trace in traces: out.write(trace)
    if left_out: print(f"{left_out} prompts were too long for the linker", file=sys.stderr)


if __name__ == "__main__":
    main()
