"""Traces as files: NAME.jsonl, a line a generation, and NAME.safetensors, their hidden states one after the other. And
one by one, as messages."""

import json
import urllib.error
import urllib.request

import torch
from safetensors.torch import save, save_file

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


def message(trace, model=""):
    """One trace as bytes: a safetensors file of its own, its line as `trace` of the metadata. For the topic
    assay.traces, or send()."""
    tensors = {f"layer_{k}": rows.contiguous() for k, rows in trace.states.items()}
    return save(tensors, {"format": FORMAT, "model": model,
                          "trace": json.dumps({"format": FORMAT, **trace.line}, ensure_ascii=False)})


class Refused(Exception):
    """`assay serve` does not take the trace; says why."""


def send(url, trace, timeout=10.0):
    """What `assay serve --predictor` at `url` says of a trace: {"id", "linking"}. Refused; OSError where it cannot be
    reached."""
    request = urllib.request.Request(url.rstrip("/") + "/v1/linkings", message(trace),
                                     {"Content-Type": "application/octet-stream"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer: return json.load(answer)
    except urllib.error.HTTPError as error:
        if error.code >= 500: raise
        problem = json.load(error)
        parts = problem.get("detail", error.reason), problem.get("hint")
        raise Refused("; ".join(filter(None, parts))) from error
