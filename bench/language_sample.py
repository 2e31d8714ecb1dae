#!/usr/bin/env python3
"""Draws texts that users read, for a reader who has not worked on them. The reader marks those that must be read twice.

language_sample.py [--seed N] [--count N] draws messages (errors, logs, findings), sentences of --help, and paragraphs
of the README and of docs/, a quarter of each. The texts are numbered; their places follow at the end.
"""
import argparse
import random
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests/unit/house"))
from language_rules import line_of, prose  # noqa: E402

STRING = r'"(?:\\.|[^"\\\n])*"'
LITERALS = rf"{STRING}(?:\s*(?:ERR_HINT\s*)?{STRING})*"
CALLS = {
    "error or log": rf"\b(?:err_set|complain|log_event|log_error)\((?:[^;\"]*?)({LITERALS})",
    "finding": rf"\bvsig_fire\w*\((?:[^;\"]*?)({LITERALS})",
    "help": rf"\.(?:sentence|description|instruction|example) =\s*({LITERALS})",
}


def joined(literals):
    parts = re.findall(rf"{STRING}|ERR_HINT", literals)
    return "".join("\n    hint: " if part == "ERR_HINT" else part[1:-1].replace('\\"', '"') for part in parts)


def read_texts():
    """Returns {kind: [(place, text)]}."""
    texts = {kind: [] for kind in (*CALLS, "document")}
    for path in sorted(ROOT.glob("[!.]*/**/*.c")):
        name = str(path.relative_to(ROOT))
        if name.split("/")[0] in {"build", "shared", "tests", "bench"}:
            continue
        source = path.read_text("utf-8")
        for kind, pattern in CALLS.items():
            found = re.finditer(pattern, source)
            texts[kind] += [(f"{name}:{line_of(source, m.start())}", joined(m[1])) for m in found]
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        name = str(path.relative_to(ROOT))
        texts["document"] += [(f"{name}:{line}", part) for line, part in prose(name, path.read_text("utf-8"))]
    return {kind: [text for text in found if len(text[1].split()) > 3] for kind, found in texts.items()}


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--count", type=int, default=100)
    given = options.parse_args()
    texts, draw = read_texts(), random.Random(given.seed)
    sample = [(kind, *text) for kind, found in texts.items() for text in draw.sample(found, given.count // len(texts))]
    draw.shuffle(sample)
    for number, (kind, _, text) in enumerate(sample, 1):
        print(f"{number}. [{kind}] {text}\n")
    print("places: " + ", ".join(f"{number} {place}" for number, (_, place, _) in enumerate(sample, 1)))


if __name__ == "__main__":
    main()
