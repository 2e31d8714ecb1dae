"""The detector: an encoder, two graph attention networks of three layers, and a feed-forward network of two layers.

As in the paper (section 3.3), a leaf of the two graphs begins as the mean of the encoder's outputs for its tokens.
Other nodes begin as a vector of their type. Each graph has its own GATv2, and its nodes are averaged. A feed-forward
network scores both averages together. Without graphs it scores the first token. `links` is our addition: before the
graph networks, each linked node of the query and its word of the question attend to each other once.
"""
import json
import os

import torch
from torch import nn

import encoder as encoders

DEFAULTS = {"graph_dim": 128, "heads": 4, "layers": 3, "dropout": 0.1, "sql_graph": True, "question_graph": True,
            "links": False, "original": False, "longest": 192, "parser": "auto"}


class GATv2(nn.Module):
    """One layer of graph attention (Brody et al., 2022): the score of an edge is a . LeakyReLU(W [target; source])."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.source, self.target = nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.score = nn.Parameter(torch.empty(heads, dim // heads))
        nn.init.xavier_uniform_(self.score)

    def forward(self, x, edges):
        n, d = x.shape
        source, target = edges
        values = self.source(x).view(n, self.heads, -1)
        both = values[source] + self.target(x).view(n, self.heads, -1)[target]
        score = (nn.functional.leaky_relu(both, 0.2) * self.score).sum(-1)
        where = target[:, None].expand_as(score)
        most = torch.full((n, self.heads), -1e9, device=x.device, dtype=x.dtype)
        most = most.scatter_reduce(0, where, score.detach(), "amax")
        weight = (score - most[target]).exp()
        total = torch.zeros_like(most).index_add_(0, target, weight)
        weight = weight / total[target].clamp(min=1e-9)
        out = torch.zeros_like(values).index_add_(0, target, weight[..., None] * values[source])
        return out.reshape(n, d)


class GraphEncoder(nn.Module):
    def __init__(self, types, dim, c):
        super().__init__()
        d = c["graph_dim"]
        self.types = nn.Embedding(len(types) + 1, d) # the last is for types not seen in training
        self.project = nn.Linear(dim, d)
        self.layers = nn.ModuleList(GATv2(d, c["heads"]) for _ in range(c["layers"]))
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in range(c["layers"]))
        self.drop = nn.Dropout(c["dropout"])

    def begin(self, batch, states):
        """Returns the nodes before the layers; a leaf is the mean of its tokens."""
        x = self.types(batch["types"])
        flat = states.reshape(-1, states.shape[-1])
        if len(batch["piece"]):
            share = batch["share"][:, None]
            x = x.index_add(0, batch["piece_node"], self.project(flat[batch["piece"]]) * share)
        return x

    def forward(self, x, batch):
        for layer, norm in zip(self.layers, self.norms):
            x = norm(x + self.drop(nn.functional.elu(layer(x, batch["edges"]))))
        total = torch.zeros(batch["n"], x.shape[1], device=x.device).index_add_(0, batch["owner"], x)
        return total / batch["size"][:, None]


class Links(nn.Module):
    def __init__(self, c):
        super().__init__()
        d = c["graph_dim"]
        self.kind = nn.Embedding(3, d)
        self.to_sql, self.to_question = nn.Linear(d, d), nn.Linear(d, d)
        self.lone = nn.Parameter(torch.zeros(2, d))

    def side(self, x, other, at, there, kind, map_to, lone):
        count = torch.zeros(len(x), device=x.device).index_add_(0, at, torch.ones(len(at), device=x.device))
        said = torch.zeros_like(x).index_add_(0, at, map_to(other[there]) + self.kind(kind))
        none = (count == 0).to(x.dtype)[:, None]
        return x + said / count.clamp(min=1)[:, None] + none * lone

    def forward(self, sql, question, links):
        node, word, kind = links
        return (self.side(sql, question, node, word, kind, self.to_sql, self.lone[0]),
                self.side(question, sql, word, node, kind, self.to_question, self.lone[1]))


class Detector(nn.Module):
    def __init__(self, config, encoder):
        super().__init__()
        self.config = {**DEFAULTS, **config}
        c, dim = self.config, encoder.dim
        self.encoder = encoder
        self.number = {side: {t: i for i, t in enumerate(c["types"][side])} for side in ("sql", "question")}
        self.graphs = nn.ModuleDict({side: GraphEncoder(c["types"][side], dim, c)
                                     for side in ("sql", "question") if c[side + "_graph"]})
        self.links = Links(c) if c["links"] else None
        width = c["graph_dim"] * len(self.graphs) or dim
        # Not in the paper: beside graphs, the encoding of the text is scored too.
        self.text = nn.Linear(dim, c["graph_dim"]) if self.graphs else None
        width += c["graph_dim"] if self.text else 0
        self.score = nn.Sequential(nn.Dropout(c["dropout"]), nn.Linear(width, c["graph_dim"]), nn.Tanh(),
                                   nn.Linear(c["graph_dim"], 1))

    def encode(self, batch):
        return self.encoder(batch["ids"], batch["id_types"], batch["mask"])

    def forward(self, batch, states=None):
        states = self.encode(batch) if states is None else states
        mask = batch["mask"][..., None].to(states.dtype)
        text = (states * mask).sum(1) / mask.sum(1) if self.config.get("mean") else states[:, 0]
        if not self.graphs:
            return self.score(text)[:, 0]
        x = {side: graph.begin(batch[side], states) for side, graph in self.graphs.items()}
        if self.links is not None and len(batch["links"][0]):
            x["sql"], x["question"] = self.links(x["sql"], x["question"], batch["links"])
        parts = [graph(x[side], batch[side]) for side, graph in self.graphs.items()] + [self.text(text)]
        return self.score(torch.cat(parts, 1))[:, 0]

    def collate(self, samples):
        """Combines samples into one batch: texts are padded, and graphs are placed side by side."""
        longest = max(len(s["ids"]) for s in samples)
        pad = lambda key: torch.tensor([s[key] + [0] * (longest - len(s[key])) for s in samples])
        lengths = torch.tensor([len(s["ids"]) for s in samples])
        batch = {"ids": pad("ids"), "id_types": pad("types"), "mask": torch.arange(longest)[None] < lengths[:, None]}
        starts = {}
        for side in self.graphs:
            batch[side], starts[side] = self.join(samples, side, longest)
        links = [(starts["sql"][i] + a, starts["question"][i] + b, kind)
                 for i, s in enumerate(samples) for a, b, kind in s["links"]] if self.links is not None else []
        batch["links"] = torch.tensor(links, dtype=torch.long).reshape(-1, 3).T
        return batch

    def join(self, samples, side, longest):
        types, owner, piece, piece_node, share, edges, starts = [], [], [], [], [], [], []
        unknown = len(self.number[side])
        for row, sample in enumerate(samples):
            names, pieces, own = sample[side]
            first = len(types)
            starts.append(first)
            types += [self.number[side].get(t, unknown) for t in names]
            owner += [row] * len(names)
            edges += [(first + a, first + b) for a, b in own] + [(first + b, first + a) for a, b in own]
            edges += [(first + i, first + i) for i in range(len(names))]
            for node, tokens in enumerate(pieces):
                piece += [row * longest + t for t in tokens]
                piece_node += [first + node] * len(tokens)
                share += [1.0 / max(1, len(tokens))] * len(tokens)
        whole = lambda values: torch.tensor(values, dtype=torch.long)
        owner = whole(owner)
        return {"types": whole(types), "owner": owner, "n": len(samples), "piece": whole(piece),
                "piece_node": whole(piece_node), "share": torch.tensor(share), "edges": whole(edges).T,
                "size": torch.bincount(owner, minlength=len(samples)).clamp(min=1).float()}, starts


def to_device(batch, device):
    return {k: to_device(v, device) if isinstance(v, dict) else v.to(device) if torch.is_tensor(v) else v
            for k, v in batch.items()}


# --- a directory that holds a trained detector ---


def save(model, directory, encoder_directory):
    os.makedirs(directory, exist_ok=True)
    for name in ("config.json", "tokenizer.json"):
        with open(os.path.join(encoder_directory, name), "rb") as file, \
                open(os.path.join(directory, name), "wb") as copy:
            copy.write(file.read())
    with open(os.path.join(directory, "detector.json"), "w", encoding="utf-8") as file:
        json.dump(model.config, file, indent=1)
    arrays = {k: v.detach().cpu().float().numpy() for k, v in model.state_dict().items()}
    encoders.write_safetensors(os.path.join(directory, "detector.safetensors"), arrays)


def load(directory):
    with open(os.path.join(directory, "detector.json"), encoding="utf-8") as file:
        config = json.load(file)
    model = Detector(config, encoders.load(directory, weights=False))
    model.load_state_dict(encoders.read_safetensors(os.path.join(directory, "detector.safetensors")))
    return model.eval()
