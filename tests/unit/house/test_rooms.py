#!/usr/bin/env python3
"""The permitted dependencies of rooms: the table in docs/architecture.md against every #include and every room's CMake
list.

A row is a room and the rooms that it may see; "and what they see" adds the rooms that those may see. It names only rows
above it, so there are no cycles. C sources outside of the rooms, and includes that are not written from the root, are
errors too.
"""
import re
import sys
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LEFT_OUT = {"build", "shared"}  # and every name that begins with a dot
ROW = re.compile(r"^\| `([\w/]+)` \|.*\| ([^|]*) \|$", re.M)
SOURCE = re.compile(r"\.(c|h|y|re)$|^CMakeLists\.txt$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)


def read_table(text):
    """Returns the rooms in the order of the table, each with all rooms that it may see, and the errors of the rows."""
    sees, wrong = {}, []
    for room, column in ROW.findall(text):
        below = {name: [r for r in sees if fnmatch(r, name)] for name in re.findall(r"`([^`]+)`", column)}
        wrong += [f"the row {room} names {name}, which is no row above it" for name in below if not below[name]]
        deep = re.search(r"and what (it|they) sees?", column)
        sees[room] = {room}.union(*(sees[r] if deep else {r} for found in below.values() for r in found))
    return sees, wrong


def room_of(sees, path):
    return next((room for room in ("/".join(path.split("/")[:n]) for n in (2, 1)) if room in sees), None)


def wrong_includes(sees, sources):
    for path, text in sources:
        room = room_of(sees, path)
        if not room:
            yield f"{path} is in no room of docs/architecture.md"
        for included in INCLUDE.findall(text) if room else ():
            if "/" in included and room_of(sees, included) not in sees[room]:
                yield f"{path} includes {included}: {room} may not see that"


def wrong_links(sees, lists):
    """Yields libraries that a room's CMake list names and that belong to a room it may not see."""
    home = {name: room_of(sees, path) for path, text in lists for name in re.findall(r"assay_room\((\w+)", text)}
    for path, text in lists:
        room = room_of(sees, path)
        for name in re.findall(r"\bassay_\w+", re.sub(r"#.*", "", text)) if room else ():
            if name in home and home[name] not in sees[room]:
                yield f"{path} names {name}: {room} may not see {home[name]}"


def self_check():
    """Texts that must give findings, and texts that must give none."""
    sees, wrong = read_table("| `lib/a` | x | nothing |\n| `b` | `lib/c` | `lib/*` |\n"
                             "| `d` | y | `b`, `e` and what they see |\n| `e` | z | `b` |")
    yield wrong == ["the row d names e, which is no row above it"] and sees["d"] == {"d", "b", "lib/a"}, "table"
    for path, included, times in (("b/x.c", "lib/a/y.h", 0), ("d/x.h", "lib/a/y.h", 0), ("lib/a/x.c", "x.h", 0),
                                  ("lib/a/x.c", "b/y.h", 1), ("b/z/x.c", "d/y.h", 1), ("e/x.c", "lib/a/y.h", 1),
                                  ("b/x.c", "../d/y.h", 1), ("b/x.c", "lib/c/y.h", 1), ("f/x.c", "f/y.h", 1)):
        found = list(wrong_includes(sees, [(path, f'int x;\n# include "{included}"\n')]))
        yield len(found) == times, f"{path} with {included}: {found}"
    lists = [("lib/a/x", "assay_room(assay_a DEPS assay_b)"), ("b/x", "assay_room(assay_b DEPS assay_a # assay_d")]
    yield len(list(wrong_links(sees, lists))) == 1, "links"


def main():
    paths = [path for path in ROOT.glob("[!.]*/**/*") if SOURCE.search(path.name)]
    files = [(str(path.relative_to(ROOT)), path.read_text("utf-8", "replace")) for path in paths
             if path.relative_to(ROOT).parts[0] not in LEFT_OUT]
    lists = [file for file in files if file[0].endswith(".txt")]
    sees, wrong = read_table((ROOT / "docs/architecture.md").read_text("utf-8"))
    wrong += [*wrong_includes(sees, [file for file in files if file not in lists]), *wrong_links(sees, lists)]
    wrong += [f"self-check: {what}" for good, what in self_check() if not good]
    print("\n".join(f"[FAIL] {one}" for one in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
