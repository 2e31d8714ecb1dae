"""The patterns of the language test: the kinds of hits, and the division of a file's text into parts.

A finder takes a path and the text of a file and yields (line, message). FINDERS holds the finders that need a single
file; test_language.py adds those that compare files.
"""
import re

from test_references import C_SOURCE, PIECE, split

MOST_WORDS, MOST_NAME_WORDS, MOST_COLUMNS, MOST_HEADLESS_LINES = 30, 8, 120, 150

PRONOUN = re.compile(r"(Of|And|Or|But|Also|That|Those|It|They|Its|Their|Whose|Whom|Who)\b(?! (is|are|was) the)")
QUESTION = re.compile(r"(Is|Are|Does|Do|Has|Have|May|Can|Was|Were|Will|Whether|What|Which|Why|How|Who|Where|When)\b"
                      r"[^.]*\?")
VERBLESS = re.compile(r"\b(NULL|[Ff]alse|[Tt]rue|0|-1): (it|they|none|no|of|that|nothing|there)\b")
BANNED = [re.compile(pattern, re.I) for pattern in (
    r"\bwhat (is|are|was|came|comes|became|it|they|has|does)\b(?![^.]*\?)",  # a clause as a noun
    r"\b(whoever|nobody|somebody|anybody)\b",
    r"\b(who|that) waits?\b",
    r"\bstands?\b(?! (alone|for)\b)",
    r"\bput aside\b|\bcalled off\b|\bleft alone\b|\bmemory of results\b",
    r"\bthe same moment\b|\buntil when\b|\bby the way it came\b|\bat the end of its time\b",
    r"\bwhat for\b|\bnothing comes of\b|\bas far as (it|they) go(es)?\b",
)]
STRING = re.compile(r'(?:\b(?:err_set|complain|log_event|log_error)\([^;]*?)"(?:\\.|[^"\\\n])*"[^;]*;', re.S)
FENCE = re.compile(r"^```.*?^```[^\n]*$", re.S | re.M)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def plain(comment):
    """Returns the text of a C comment without its stars; list items and indented lines begin paragraphs."""
    body = re.sub(r"^/[*/]+|\*/$", "", comment)
    return "\n".join(re.sub(r"^\s*\* ?", "", row) for row in body.split("\n"))


def paragraphs(text):
    """Yields (line offset, text), divided at blank lines, list items, table rows and indented lines."""
    piece, start = [], 0
    for number, row in enumerate(text.split("\n")):
        fresh = not row.strip() or re.match(r"\s*([-*|>#]|\d+\.) ?|\s{3,}\S", row) is not None
        if fresh and piece:
            yield start, " ".join(piece)
            piece = []
        if row.strip() and not re.match(r"\s*[|#]", row):
            start = start if piece else number
            piece.append(row.strip())
    if piece:
        yield start, " ".join(piece)


def prose(path, text):
    """Yields (line, paragraph) of the comments of a C source, or of a document without code and tables."""
    if C_SOURCE.search(path):
        for line, comment in split(text)[0]:
            yield from ((line + offset, part) for offset, part in paragraphs(plain(comment)))
    elif path.endswith(".md"):
        blank = FENCE.sub(lambda m: "\n" * m[0].count("\n"), text)
        yield from ((1 + offset, part) for offset, part in paragraphs(blank))


def find_phrases(path, text):
    yield from ((line, f"'{m[0]}'") for line, part in prose(path, text) for rule in BANNED for m in rule.finditer(part))
    if C_SOURCE.search(path) and not path.startswith(("tests/", "bench/")):
        yield from ((line_of(text, call.start()), f"'{m[0]}' in a message") for call in STRING.finditer(text)
                    for literal in re.findall(r'"((?:\\.|[^"\\\n])*)"', call[0]) for rule in BANNED
                    for m in rule.finditer(literal))


def find_openings(path, text):
    for line, comment in split(text)[0] if path.endswith(".h") else ():
        opening = " ".join(plain(comment).split())
        if PRONOUN.match(opening) or QUESTION.match(opening):
            yield line, f"the comment opens with '{' '.join(opening.split()[:5])}'"


def find_verbless(path, text):
    for line, comment in split(text)[0] if C_SOURCE.search(path) else ():
        yield from ((line + comment.count("\n", 0, m.start()), f"no verb: '{m[0]}'")
                    for m in VERBLESS.finditer(comment))


def find_long_sentences(path, text):
    for line, part in prose(path, text):
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z`*\"'(\[])", part):
            if len(sentence.split()) > MOST_WORDS:
                yield line, f"{len(sentence.split())} words: '{' '.join(sentence.split()[:6])} ...'"


def find_test_names(path, text):
    pattern = r"^Test\(\w+, (\w+)" if path.endswith(".c") else r"^ *(?:async )?def test_(\w+)"
    for m in re.finditer(pattern, text, re.M) if path.startswith(("tests/", "clients/")) else ():
        if m[1].count("_") + 1 > MOST_NAME_WORDS:
            yield line_of(text, m.start()), f"{m[1]}: {m[1].count('_') + 1} words"


def find_wide_lines(path, text):
    """A row of a table cannot be broken, so it may be wider, except in the README, which has none that need it."""
    table = path.endswith(".md") and path != "README.md"
    for number, row in enumerate(text.split("\n"), 1):
        if len(row) > MOST_COLUMNS and not re.search(r"https?://\S{60}", row) and not (table and row.startswith("| ")):
            yield number, f"{len(row)} columns"


def find_headless(path, text):
    if path.endswith(".c") and text.count("\n") > MOST_HEADLESS_LINES and not text.lstrip().startswith("/*"):
        yield 1, f"{text.count(chr(10))} lines without a comment that says what the file is for"


FINDERS = {
    "phrase": find_phrases, "opening": find_openings, "verbless": find_verbless, "sentence": find_long_sentences,
    "test_name": find_test_names, "columns": find_wide_lines, "headless": find_headless,
}


def declared(text):
    """Yields (line, name) of the functions that a header declares."""
    code = PIECE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    for m in re.finditer(r"^(?!static|typedef|#|extern|\s|return)[\w* ]+?\b\*?(\w+)\(", code, re.M):
        yield line_of(code, m.start()), m[1]


def structs(text):
    code = PIECE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    yield from ((line_of(code, m.start()), m[1]) for m in re.finditer(r"^struct (\w+) \{", code, re.M))


def helpers(text):
    """Yields (line, name) of the static functions whose name is one word."""
    code = PIECE.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    yield from ((line_of(code, m.start()), m[1])
                for m in re.finditer(r"^static [\w* ]*?\b\*?([a-z]+)\([^;]*?\)\s*\{", code, re.M))
