"""What the small schema linker reads and writes.

A line of `assay link export` becomes one text a stage. The tables of the schema, or the columns of the tables that were linked, stand in
it behind slots, <s0> to <s127>, and the linker writes the slots of those that the question needs, in their order, and ends. Where words of
the question name a table or column, or a column holds their value, the slot stands behind these words too, with a mark for how surely.

Words are kept that several databases share: "how", "many", "name", "year". The others say what one database is about, which a linker
of this size would learn by heart, and err on every other: of names that it never saw the marks tell it all it can use. In
training tables and columns are shuffled half of the time, so that little is learned from their place.
"""

import random, zlib

SLOTS = 128
MARKS = ["<tables>", "<columns>", "<schema>", "<exact>", "<partly>", "<weakly>", "<holds>", "<column>", "<table>", "<key>",
         "<number>", "<joins>", "<column-exact>", "<column-partly>", "<column-weakly>", "<column-holds>"]
SPECIAL = ["<pad>", "</s>", "<unk>"] + MARKS + [f"<s{i}>" for i in range(SLOTS)]

SPAN_SLOTS = 4        # slots behind the same words
STAGES = ("tables", "columns")
LINKER_FOLDS = 7      # of ten, by database


def fold_of(db):
    """0 to 9, by the database's name: 0 to 6 train the linker, 7 the predictors, 8 and 9 calibrate them."""
    return zlib.crc32(db.encode()) % 10


class Prompt:
    """text: what is read. slots: of the candidates, in their order. names: theirs. gold: numbers of the candidates that are right."""

    def __init__(self, text, slots, names, gold):
        self.text, self.slots, self.names, self.gold = text, slots, names, gold

    def target(self):
        return " ".join(self.slots[i] for i in self.gold)


def deal(n):
    return [f"<s{i}>" for i in range(n)]


def order(n, rng):
    out = list(range(n))
    if rng and rng.random() < 0.5: rng.shuffle(out)
    return out


def marks_of(line):
    """(mark, first word, words, table, column or -1, score) of all that the question's words name or hold, the surest first."""
    for mark, mentions in (("", line["names"]), ("weakly", line["names_weakly"]), ("holds", line["holds"])):
        for first, n, table, column, *score in sorted(mentions, key=lambda m: -m[4] if len(m) > 4 else 0):
            yield mark or ("exact" if score[0] >= 0.99 else "partly"), first, n, table, column


def marked_question(line, slot_of, by_column):
    """The question with marks and slots behind the words that name something. slot_of(table, column): its slot, or None. by_column: a column's
    slot is its table's, and its mark says so."""
    behind = {}
    for mark, first, n, table, column in marks_of(line):
        slot = slot_of(table, column)
        at = behind.setdefault(first + n - 1, [])
        if not slot or slot in [s for _, s in at] or len(at) >= SPAN_SLOTS: continue
        at.append((f"<column-{mark}>" if by_column and column >= 0 else f"<{mark}>", slot))
    out = []
    for i, word in enumerate(line["words"]):
        out.append(word)
        for how, slot in behind.get(i, []): out += [how, slot]
    return " ".join(out)


def table_prompt(line, rng=None):
    tables = line["tables"]
    if len(tables) > SLOTS: return None
    places, slots = order(len(tables), rng), deal(len(tables))
    slot = dict(zip(places, slots))
    schema = []
    for t in places:
        marks = {f"<column-{mark}>" if c >= 0 else f"<{mark}>" for mark, _, _, table, c in marks_of(line) if table == t}
        schema += [slot[t], *tables[t]["words"], *sorted(marks)]
        partners = {a[0] if b[0] == t else b[0] for a, b in line["joins"] if t in (a[0], b[0])} - {t}
        if partners: schema += ["<joins>"] + [slot[p] for p in sorted(partners, key=places.index)]
    text = f"<tables> {marked_question(line, lambda t, c: slot[t], True)} <schema> {' '.join(schema)}"
    gold = sorted(places.index(t) for t in line["gold"]["tables"]) if "gold" in line else []
    return Prompt(text, slots, [tables[t]["name"] for t in places], gold)


def column_prompt(line, linked, rng=None):
    """`linked`: numbers of the tables whose columns are candidates."""
    tables = line["tables"]
    linked = sorted(linked)
    columns = [(t, c) for t in (linked[i] for i in order(len(linked), rng)) for c in range(len(tables[t]["columns"]))]
    if not columns or len(columns) > SLOTS: return None
    slots = deal(len(columns))
    slot, schema, last = dict(zip(columns, slots)), [], None
    for t, c in columns:
        if t != last: schema += ["<table>", *tables[t]["words"]]
        last, column = t, tables[t]["columns"][c]
        schema += [slot[t, c], *column["words"], *sorted({f"<{mark}>" for mark, _, _, a, b in marks_of(line) if (a, b) == (t, c)})]
        if column["key"]: schema.append("<key>")
        if column["number"]: schema.append("<number>")
        partners = [tuple(a if tuple(b) == (t, c) else b) for a, b in line["joins"] if (t, c) in (tuple(a), tuple(b))]
        partners = [slot[p] for p in partners if p in slot]
        if partners: schema += ["<joins>", *partners[:2]]
    text = f"<columns> {marked_question(line, lambda t, c: slot.get((t, c)), False)} <schema> {' '.join(schema)}"
    gold = sorted(columns.index(tuple(c)) for c in line["gold"]["columns"] if tuple(c) in slot) if "gold" in line else []
    names = [f"{tables[t]['name']}.{tables[t]['columns'][c]['name']}" for t, c in columns]
    return Prompt(text, slots, names, gold)
