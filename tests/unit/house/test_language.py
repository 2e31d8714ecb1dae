#!/usr/bin/env python3
"""Plain English, held by a ratchet: comments, messages, documents and names.

Kinds of hits, each with its rule in language_rules.py:
  phrase     a banned phrase, or a phrase that docs/glossary.md marks as not used, in a comment, a message or a document
  opening    a header's comment opens with a pronoun, "Of", "And" or a question
  verbless   a return value without a verb ("NULL: it does not")
  sentence   a sentence of a comment or a document has over 30 words
  test_name  the name of a test has over eight words
  prefix     a header declares functions with a prefix of another room
  struct     a struct of this name is defined in another file too
  helper     a static function whose name is one word is defined in another file too
  columns    a line has over 120 columns
  headless   a .c file of over 150 lines has no comment at its head

language.csv has a row for each file that still has hits, sorted by room: the kind and the count. A count may only fall.
A file without a row must have none, so a new file begins without hits, and a renamed file takes its rows along.

  test_language.py            fails if a count is not the one of its row
  test_language.py --lower    writes the rows anew; refuses to raise a count
  test_language.py --list P   prints each hit in the files whose path begins with P
"""
import csv
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

from language_rules import BANNED, C_SOURCE, FINDERS, declared, helpers, line_of, prose, structs
from test_rooms import read_table, room_of

ROOT = Path(__file__).resolve().parents[3]
LEDGER = Path(__file__).with_name("language.csv")
LEFT_OUT = {"build", "shared", "node_modules", "__pycache__"}
TEXT = re.compile(r"\.(c|h|y|re|py|sh|md|cmake|yaml|yml|js|mjs|css|html|sql|awk)$|CMakeLists\.txt$")
PRINTED = {"docs/api.md", "docs/configuration.md"}  # printed by the program; their texts are in its tables
CASES = ("tests/data/", "tests/fuzz/corpus", "deploy/samples/")  # users' SQL and questions, not our own text


def read_tree():
    for path in sorted(ROOT.glob("[!.]*/**/*")) + sorted(ROOT.glob("*.md")):
        name = str(path.relative_to(ROOT))
        if TEXT.search(name) and not LEFT_OUT & set(path.parts) and not name.startswith(CASES) and path.is_file():
            yield name, path.read_text("utf-8", "replace")


def unused_phrases(glossary):
    """Yields the phrases that the glossary marks as not used. A single word may be right elsewhere, so it does not
    count."""
    for row in re.findall(r"not used: ([^|\n]*)", glossary):
        for phrase in (part.strip(" `\"'.") for part in row.split(",")):
            if " " in phrase:
                yield re.compile(rf"\b{re.escape(phrase)}\b", re.I)


def find_unused(path, text, rules):
    if path != "docs/glossary.md":
        yield from ((line, f"'{m[0]}' (see docs/glossary.md)") for line, part in prose(path, text) for rule in rules
                    for m in rule.finditer(part))


def is_product(path):
    return C_SOURCE.search(path) and not path.startswith(("tests/", "bench/", "clients/"))


def shared_prefixes(files, room):
    """Yields declarations whose prefix belongs to another room: the one that declares most functions with it."""
    found = [(path, line, name) for path, text in files if path.endswith(".h") and is_product(path)
             for line, name in declared(text) if "_" in name]
    uses = defaultdict(Counter)
    for path, _, name in found:
        uses[name.split("_")[0]][room(path)] += 1
    owner = {prefix: max(sorted(rooms, key=str), key=rooms.get) for prefix, rooms in uses.items()}
    for path, line, name in found:
        prefix = name.split("_")[0]
        if room(path) != owner[prefix]:
            yield path, line, f"{name}: the prefix {prefix}_ belongs to {owner[prefix]}"


def defined_twice(files, find):
    places = defaultdict(list)
    for path, text in files:
        for line, name in find(text) if is_product(path) else ():
            places[name].append((path, line))
    for name, found in places.items():
        for path, line in found if len({path for path, _ in found}) > 1 else ():
            yield path, line, f"{name} is defined in {len({path for path, _ in found})} files"


def all_hits(files):
    """Yields (path, line, kind, message)."""
    sees, _ = read_table(dict(files)["docs/architecture.md"])
    rules = list(unused_phrases(dict(files).get("docs/glossary.md", "")))
    for path, text in files:
        for kind, find in FINDERS.items() if path not in PRINTED else ():
            yield from ((path, line, kind, what) for line, what in find(path, text))
        yield from ((path, line, "phrase", what) for line, what in find_unused(path, text, rules))
    compared = {"prefix": shared_prefixes(files, lambda path: room_of(sees, path)),
                "struct": defined_twice(files, structs), "helper": defined_twice(files, helpers)}
    for kind, found in compared.items():
        yield from ((path, line, kind, what) for path, line, what in found)


def read_ledger():
    with open(LEDGER, newline="", encoding="utf-8") as file:
        return {(row["file"], row["kind"]): int(row["count"]) for row in csv.DictReader(file)}


def write_ledger(counts):
    with open(LEDGER, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("file", "kind", "count"))
        out.writerows((path, kind, n) for (path, kind), n in sorted(counts.items()))


def compare(counts, allowed):
    """Yields (is it a rise, message) for each count that differs from its row."""
    for key in sorted(counts.keys() | allowed.keys()):
        now, most = counts.get(key, 0), allowed.get(key, 0)
        if now != most:
            yield now > most, f"{key[0]}: {key[1]}: {now} hits, {most} in language.csv"


def self_check():
    """(kind, path, text, hits): texts that must give hits, and texts that must give none."""
    cases = (
        ("phrase", "lib/x.c", "/* Keeps what came of it. */", 1), ("phrase", "lib/x.c", "/* Nobody reads it. */", 1),
        ("phrase", "docs/x.md", "It was put\naside.\n", 1), ("phrase", "docs/x.md", "```\nput aside\n```\n", 0),
        ("phrase", "lib/x.c", 'err_set(err, ERR_IO,\n "nobody reads %s", "x");', 1),
        ("opening", "lib/x.h", "/* Of it too. */", 1), ("opening", "lib/x.h", "/* Is it open? */", 1),
        ("opening", "lib/x.h", "/* Returns the size. */", 0), ("opening", "lib/x.c", "/* Of it too. */", 0),
        ("verbless", "lib/x.c", "/* NULL: it does not. */", 1), ("verbless", "lib/x.c", "/* NULL if missing. */", 0),
        ("sentence", "docs/x.md", "A" + " word" * 30 + ".\n", 1),
        ("sentence", "docs/x.md", "A" + " word" * 29 + ".", 0),
        ("sentence", "lib/x.c", "/* A" + " word" * 20 + ".\n * B" + " word" * 20 + ". */", 0),
        ("sentence", "lib/x.c", "/* A" + " word" * 20 + "\n * and" + " word" * 20 + ". */", 1),
        ("test_name", "tests/x.c", "Test(a, b_c_d_e_f_g_h_i_j)\n{", 1), ("test_name", "tests/x.c", "Test(a, b_c)", 0),
        ("test_name", "tests/x.py", "def test_b_c_d_e_f_g_h_i_j():", 1),
        ("columns", "lib/x.c", "x" * 121, 1), ("columns", "lib/x.c", "x" * 120, 0),
        ("columns", "docs/x.md", "| " + "x" * 120, 0), ("columns", "README.md", "| " + "x" * 120, 1),
        ("headless", "lib/x.c", "int a;\n" * 151, 1), ("headless", "lib/x.c", "/* A. */\n" + "int a;\n" * 151, 0),
    )
    for kind, path, text, hits in cases:
        found = list(FINDERS[kind](path, text))
        yield len(found) == hits, f"{kind} in {text[:40]!r}: {hits} expected, found {found}"
    pair = [("lib/a/x.c", "struct s {\n};\nstatic int run(void)\n{\n}\n"),
            ("lib/b/y.c", "struct s {\n};\nstatic void run(int a)\n{\n}\nstatic void run_it(int a)\n{\n}\n")]
    yield len(list(defined_twice(pair, structs))) == 2, "struct"
    yield len(list(defined_twice(pair, helpers))) == 2, "helper"
    headers = [("lib/a/x.h", "int x_a(void);\nint x_b(void);\n"), ("lib/b/y.h", "/* x_c(1) */\nint x_d(void);\n")]
    yield len(list(shared_prefixes(headers, lambda path: path[:5]))) == 1, "prefix"
    yield [rule.pattern
           for rule in unused_phrases("| a | b | not used: kept, put aside |")] == [r"\bput\ aside\b"], "glossary"
    yield [rise for rise, _ in compare({("a", "k"): 2}, {("a", "k"): 1, ("b", "k"): 1})] == [True, False], "compare"


def main(arguments):
    files = list(read_tree())
    hits = sorted(set(all_hits(files)))
    if arguments[:1] == ["--list"]:
        prefix = tuple(arguments[1:]) or ("",)
        print("\n".join(f"{path}:{line}: {kind}: {what}" for path, line, kind, what in hits if path.startswith(prefix)))
        return 0
    counts = Counter((path, kind) for path, _, kind, _ in hits)
    wrong = [f"self-check: {what}" for good, what in self_check() if not good]
    changed = list(compare(counts, read_ledger() if LEDGER.exists() else counts))
    if arguments[:1] == ["--lower"]:
        wrong += [what for rise, what in changed if rise]
        if not wrong:
            write_ledger(counts)
    else:
        wrong += [what + ("" if rise else "; run test_language.py --lower") for rise, what in changed]
    totals = Counter(kind for _, _, kind, _ in hits)
    print("\n".join(f"[FAIL] {one}" for one in wrong))
    print(", ".join(f"{kind} {totals[kind]}" for kind in sorted(totals)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
