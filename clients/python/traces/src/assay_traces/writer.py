"""Traces as files: NAME.jsonl, a line a generation, and NAME.safetensors, their hidden states one after the other."""

import json

import torch
from safetensors.torch import save_file

FORMAT = "assay-traces/1"


class Writer:
    """Collects traces and writes both files at the end; nothing is written when the `with` block fails."""

    def __init__(self, path, model=""):
        self.path, self.model, self.lines, self.states = str(path), model, [], {}

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is None: self.close()

    def write(self, trace):
        if self.lines and sorted(trace.states) != sorted(self.states):
            raise ValueError(f"layers {sorted(trace.states)}, but {sorted(self.states)} before")
        for layer, rows in trace.states.items():
            if rows.shape[0] != len(trace.line["tokens"]):
                raise ValueError(f"layer {layer} has {rows.shape[0]} rows for {len(trace.line['tokens'])} tokens")
            self.states.setdefault(layer, []).append(rows)
        self.lines.append({"format": FORMAT, **trace.line})

    def close(self):
        with open(self.path + ".jsonl", "w", encoding="utf-8") as out:
            for line in self.lines: out.write(json.dumps(line, ensure_ascii=False) + "\n")
        tensors = {f"layer_{k}": torch.cat(rows).contiguous() for k, rows in self.states.items()}
        save_file(tensors, self.path + ".safetensors", {"format": FORMAT, "model": self.model})
