#!/usr/bin/env python3
"""Each path, function, and name with an underscore in a comment or document must exist.

A comment of a C source names a path (one with a folder, or a bare file name), a function (`name()`, or `name(` at the
start of backticks) or an identifier (words_with_underscores). The path must exist: from the root, from the comment's
own folder, or, for a bare name, in any folder. The function must be called or defined, and the identifier must occur,
somewhere outside of comments. Text in double quotes is an example and is not checked.

In a document (*.md) the paths in backticks and the targets of links must exist.
"""
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LEFT_OUT = {"build", "shared", "__pycache__"}  # at any depth, and every name that begins with a dot
C_SOURCE = re.compile(r"\.(c|h|y|re)$")
PIECE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
# A path has no placeholder (<name>, *, $HOME) in it and does not begin at the root of the file system.
PATH = re.compile(r"(?<![\w./<>*$~{}-])((?:[\w.-]+/)*[\w.-]*\w/?)(?![\w<>*{}$=-]|/[\w<*$])")
PLACEHOLDER = re.compile(r"(^|/)[A-Z_]+/")  # DIR/<name> and the like
BARE = re.compile(r"^[\w-]+\.(c|h|re|md|py|sh)$")
WITH_FOLDER = re.compile(r"^[\w./-]+/[\w.-]+\.(c|h|y|re|md|py|sh|awk|cmake|json|yaml|sql|case|txt|lua)$")
FUNCTION = re.compile(r"(?<![\w.])([A-Za-z_]\w+)\(\)|`([A-Za-z_]\w+)\(")
NAME = re.compile(r"(?<![\w$/.<-])([a-z][a-z0-9]+(?:_[a-z0-9]+)+)(?!\w|\*|\.\w|-\w)")
# Names of other projects, which the code does not use.
ELSEWHERE = {
    "STATISTICS.md", "kafka-topics.sh", "curl_easy_perform", "find_expr_references_walker", "g_once",
    "rd_kafka_consume_batch_queue", "sqlite_source_id",
}


def split(text):
    """Returns the comments of a C source as (line, text), and the rest of the text."""
    comments = [(text.count("\n", 0, m.start()) + 1, m[0]) for m in PIECE.finditer(text) if m[0].startswith("/")]
    return comments, PIECE.sub(lambda m: " " if m[0].startswith("/") else m[0], text)


class Tree:
    """The existing files, and the words and calls outside of their comments. Both include ELSEWHERE."""

    def __init__(self, root):
        self.files, self.folders, self.words, self.calls = {}, set(), set(ELSEWHERE), set(ELSEWHERE)
        for folder, inner, names in os.walk(root):
            inner[:] = [name for name in inner if name not in LEFT_OUT and not name.startswith(".")]
            here = os.path.relpath(folder, root)
            self.folders.add(here)
            for name in filter(lambda name: Path(folder, name).is_file(), names):
                self.add(os.path.normpath(os.path.join(here, name)), Path(folder, name).read_text("utf-8", "replace"))
        self.names = {os.path.basename(path) for path in self.files}
        self.top = {folder.split("/")[0] for folder in self.folders} - {"."}

    def add(self, path, text):
        self.files[path] = text
        if path.endswith(".md") or path == os.path.relpath(__file__, ROOT):
            return
        code = split(text)[1] if C_SOURCE.search(path) else text
        self.words.update(re.findall(r"\w+", code))
        self.calls.update(re.findall(r"(\w+)\s*\(", code))

    def has(self, path, origin):
        from_origin = os.path.normpath(os.path.join(os.path.dirname(origin), path))
        return any(p in self.files or p in self.folders for p in (os.path.normpath(path), from_origin))

    def dead_path(self, path, origin):
        if path in ELSEWHERE or PLACEHOLDER.search(path) or self.has(path, origin):
            return False
        if BARE.match(path):
            return path not in self.names
        return bool(WITH_FOLDER.match(path)) or ("/" in path and path.split("/")[0] in self.top - {"build"})


def in_comment(tree, origin, comment):
    """Yields the names in a comment that do not exist."""
    comment = re.sub(r"\n\s*\*", "\n", re.sub(r'"[^"\n]*"', '""', comment))
    for m in PATH.finditer(comment):
        if tree.dead_path(m[1], origin):
            yield f"no such path: {m[1]}"
    for m in FUNCTION.finditer(comment):
        if (m[1] or m[2]) not in tree.calls:
            yield f"no such function: {m[1] or m[2]}()"
    for m in NAME.finditer(comment):
        if m[1] not in tree.words:
            yield f"no such name: {m[1]}"


def in_document(tree, origin, text):
    """Yields the dead paths of a document."""
    for m in re.finditer(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)):
        for path in PATH.finditer(m[1]):
            if tree.dead_path(path[1], origin):
                yield f"no such path: {path[1]}"
    for m in re.finditer(r"\]\(([^)#:\s]+)(#[^)]*)?\)", text):
        if not tree.has(m[1], origin):
            yield f"a link to nothing: {m[1]}"


def dead(tree):
    for path, text in sorted(tree.files.items()):
        if C_SOURCE.search(path):
            for line, comment in split(text)[0]:
                yield from (f"{path}:{line}: {what}" for what in in_comment(tree, path, comment))
        elif path.endswith(".md"):
            yield from (f"{path}: {what}" for what in in_document(tree, path, text))


def self_check(tree):
    """Texts that must give findings, and texts that must give none: (finder, text, number)."""
    own = os.path.relpath(__file__, ROOT)
    alive, gone = os.path.basename(own), "gone_" + "for_good"
    cases = [
        (in_comment, f"/* (no/such/{gone}.h says when) */", 1),
        (in_comment, f"/* See {gone}.md,\n * \"signals\". */", 1),
        (in_comment, f"/* Ends when {gone}() says so. */", 2),  # neither a function nor a name
        (in_comment, f"/* `{gone}(x)`, then\n * wait */", 2),
        (in_comment, f"/* {gone} before each call, then {gone}. */", 2),
        (in_comment, f"// {own.split('/')[0]}/{gone}/ has the cases", 1),
        (in_comment, f"/* {own}, {alive}; \"{gone}\", <{gone}>/x.c, /srv/{gone}/x.h, and a/b */", 0),
        (in_document, f"Run `tests/{gone}.sh --all`.", 1),
        (in_document, f"[this](no/{gone}.md#part)", 1),
        (in_document, f"`{own}`, [it](../../../{own}), `/srv/{gone}.sh`, and {gone}.md", 0),
    ]
    for finder, text, times in cases:
        found = list(finder(tree, own, text))
        yield len(found) == times, f"self-check: {text!r}: {times} expected, found {found}"


def main():
    tree = Tree(ROOT)
    wrong, checks = list(dead(tree)), list(self_check(tree))
    failed = [text for good, text in checks if not good]
    for one in wrong + failed:
        print(f"[FAIL] {one}")
    tested = 1 + len(checks)
    print(f"Synthesis: Tested: {tested} | Passing: {tested - len(failed) - bool(wrong)}")
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main())
