"""Converts a line of `assay link export` to the input of the small schema linker.

There is one position for each word of the question, each table and each column. Each pair of positions has a relation,
such as: the word names the column exactly, the table owns the column, the columns join (after Wang et al. 2020,
RAT-SQL). The linker may write the tables, or the columns of the tables that were linked, in their order.
"""

import zlib
from dataclasses import dataclass, replace

import torch

STAGES = ("tables", "columns")
LINKER_FOLDS = 7    # folds of ten, by database
LONGEST = 400       # maximum positions of a sample
TEXT = 6            # maximum words of a name
PAD, UNKNOWN, NUMBER = 0, 1, 2
SPECIAL_WORDS = ["<pad>", "<unknown>", "<number>"]
NEAR = 2            # distance up to which words of the question have relations of their own
MATCHES = ["exactly", "partly", "weakly", "holds"]
RELATIONS = (["none", "self"] + [f"word{d:+d}" for d in range(-NEAR, NEAR + 1)] +
             [f"{way} {match}" for match in MATCHES for way in ("word table", "table word", "word column",
                                                                "column word")] +
             ["word table none", "table word none", "word column none", "column word none",
              "table table", "table joins", "table joined", "owns", "owns key", "owned", "key of", "table column",
              "column table",
              "same table", "column joins", "column joined", "column column"])
RELATION = {name: i for i, name in enumerate(RELATIONS)}
KINDS = ["word", "table", "column", "key", "number", "key number"]


def fold_of(db):
    """Returns a fold from 0 to 9, by the name of the database. Folds 0 to 6 train the linker, 7 trains the predictors,
    8 and 9 calibrate them."""
    return zlib.crc32(db.encode()) % 10


def is_number(word):
    return any(c.isdigit() for c in word)


@dataclass
class Sample:
    """A sample of n positions:

    - texts: n x TEXT word ids
    - kinds: the kind of each position
    - marks: n x 2 x len(MATCHES), the matches of the position itself, and for a table those of its columns
    - relations: n x n
    - items: (table, column or -1) of each position; None for a word
    - candidates: their positions, in order; names: their names
    - gold: indexes of the right candidates
    - used: items that the gold query uses
    """
    texts: torch.Tensor
    kinds: torch.Tensor
    marks: torch.Tensor
    relations: torch.Tensor
    items: list
    candidates: list
    names: list
    gold: list
    used: set


def matches(line):
    """Yields (match, first word, words, table, column or -1). The most certain match is last, because the last one
    counts."""
    for match, mentions in (("weakly", line["names_weakly"]), ("holds", line["holds"])):
        for first, n, table, column, *_ in mentions: yield match, first, n, table, column
    for first, n, table, column, score in sorted(line["names"], key=lambda m: m[4]):
        yield ("exactly" if score >= 0.99 else "partly"), first, n, table, column


def word_ids(words, vocabulary):
    ids = [NUMBER if is_number(w) else vocabulary.get(w, UNKNOWN) for w in words[:TEXT]]
    return ids + [PAD] * (TEXT - len(ids))


def item_text(line, item):
    table = line["tables"][item[0]]
    return (table if item[1] < 0 else table["columns"][item[1]])["words"]


def kind_of(line, item):
    if item[1] < 0: return "table"
    column = line["tables"][item[0]]["columns"][item[1]]
    return (("key number" if column["number"] else "key") if column["key"] else "number" if column["number"]
            else "column")


def schema_relations(line, items):
    joins = {(tuple(a), tuple(b)) for a, b in line["joins"]}
    between = {(a[0], b[0]) for a, b in joins}
    key = {(t, c) for t, table in enumerate(line["tables"]) for c, column in enumerate(table["columns"])
           if column["key"]}
    def of(a, b):
        if a == b: return "self"
        if a[1] < 0 and b[1] < 0:
            return ("table joins" if (a[0], b[0]) in between else "table joined" if (b[0], a[0]) in between
                    else "table table")
        if a[1] < 0: return ("owns key" if b in key else "owns") if a[0] == b[0] else "table column"
        if b[1] < 0: return ("key of" if a in key else "owned") if a[0] == b[0] else "column table"
        if (a, b) in joins: return "column joins"
        if (b, a) in joins: return "column joined"
        return "same table" if a[0] == b[0] else "column column"
    return [[RELATION[of(a, b)] for b in items] for a in items]


def read(line, stage, vocabulary, linked=None):
    """Returns a Sample, or None if there are no candidates or too many positions. `linked` has the indexes of the
    tables whose columns are candidates."""
    words = line["words"][:80]
    tables = list(range(len(line["tables"]))) if stage == "tables" else sorted(linked)
    items = [(t, -1) for t in tables] + [(t, c) for t in tables for c in range(len(line["tables"][t]["columns"]))]
    n, w = len(words) + len(items), len(words)
    candidates = [w + i for i, item in enumerate(items) if (item[1] < 0) == (stage == "tables")]
    if not candidates or n > LONGEST: return None
    at = {item: w + i for i, item in enumerate(items)}
    relations = torch.zeros(n, n, dtype=torch.uint8)
    for i in range(w):
        for k in range(w): relations[i, k] = RELATION[f"word{max(-NEAR, min(NEAR, k - i)):+d}"]
    t = len(tables)
    relations[:w, w:w + t], relations[w:w + t, :w] = RELATION["word table none"], RELATION["table word none"]
    relations[:w, w + t:], relations[w + t:, :w] = RELATION["word column none"], RELATION["column word none"]
    relations[w:, w:] = torch.tensor(schema_relations(line, items))
    marks = torch.zeros(n, 2, len(MATCHES))
    for match, first, count, table, column in matches(line):
        position = at.get((table, column))
        if position is None: continue
        what, m = "table" if column < 0 else "column", MATCHES.index(match)
        for word in range(first, min(first + count, w)):
            relations[word, position] = RELATION[f"word {what} {match}"]
            relations[position, word] = RELATION[f"{what} word {match}"]
            marks[word, 0, m] = 1
        marks[position, 0, m] = 1
        if column >= 0: marks[at[(table, -1)], 1, m] = 1
    gold = line.get("gold")
    wanted = {(g, -1) for g in gold["tables"]} | {tuple(c) for c in gold["columns"]} if gold else set()
    texts = ([word_ids([word], vocabulary) for word in words] + [word_ids(item_text(line, item), vocabulary)
                                                                 for item in items])
    kinds = [KINDS.index("word")] * w + [KINDS.index(kind_of(line, item)) for item in items]
    def name(item):
        table = line["tables"][item[0]]
        return table["name"] if item[1] < 0 else f"{table['name']}.{table['columns'][item[1]]['name']}"
    return Sample(torch.tensor(texts), torch.tensor(kinds), marks, relations, [None] * w + items, candidates,
                  [name(items[c - w]) for c in candidates],
                  [i for i, c in enumerate(candidates) if items[c - w] in wanted], wanted)


def shuffled(sample, rng):
    """Returns the sample with its candidates in another order. Positions have no order."""
    places, gold = list(range(len(sample.candidates))), set(sample.gold)
    rng.shuffle(places)
    return replace(sample, candidates=[sample.candidates[p] for p in places], names=[sample.names[p] for p in places],
                   gold=[i for i, p in enumerate(places) if p in gold])


def thinned(sample, rng, share):
    """Returns the sample without some tables and columns that the gold query does not use, as another schema."""
    gone = {t for t in {i[0] for i in sample.items if i} - {u[0] for u in sample.used} if rng.random() < share}
    kept = [p for p, item in enumerate(sample.items)
            if not item or item in sample.used or (item[0] not in gone and (item[1] < 0 or rng.random() >= share))]
    at, index = {p: i for i, p in enumerate(kept)}, torch.tensor(kept)
    left = [c for c, p in enumerate(sample.candidates) if p in at]
    gold = set(sample.gold)
    return replace(sample, texts=sample.texts[index], kinds=sample.kinds[index], marks=sample.marks[index],
                   relations=sample.relations[index][:, index], items=[sample.items[p] for p in kept],
                   candidates=[at[sample.candidates[c]] for c in left], names=[sample.names[c] for c in left],
                   gold=[i for i, c in enumerate(left) if c in gold])


def batch(samples):
    """Returns the padded input of the model: `input_ids` (texts), `attention_mask`, kinds, marks, relations, candidates
    (-1 for none)."""
    n, most = max(len(s.kinds) for s in samples), max(len(s.candidates) for s in samples)
    out = {"input_ids": torch.zeros(len(samples), n, TEXT, dtype=torch.long),
           "attention_mask": torch.zeros(len(samples), n, dtype=torch.long),
           "kinds": torch.zeros(len(samples), n, dtype=torch.long),
           "marks": torch.zeros(len(samples), n, 2, len(MATCHES)),
           "relations": torch.zeros(len(samples), n, n, dtype=torch.long),
           "candidates": torch.full((len(samples), most), -1)}
    for i, s in enumerate(samples):
        k = len(s.kinds)
        out["input_ids"][i, :k], out["attention_mask"][i, :k], out["kinds"][i, :k] = s.texts, 1, s.kinds
        out["marks"][i, :k], out["relations"][i, :k, :k] = s.marks, s.relations
        out["candidates"][i, :len(s.candidates)] = torch.tensor(s.candidates)
    return out
