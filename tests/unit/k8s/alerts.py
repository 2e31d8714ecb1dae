"""Parses the alerting rules and their names, for tests/unit/k8s/test_alerts.py and tests/live/fleet/test_observe.py."""
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "k8s/components/alerts/alerts.yaml"
TARGET = {"namespace", "pod", "instance"}  # labels that Prometheus adds to scraped series
WORDS = {"and", "or", "unless", "group_left"}  # words of PromQL that are not names
LISTS = r"\b(by|ignoring) \(([a-z, ]*)\)"
SELECTOR = r"([a-z_]\w*)\{([^}]*)\}"
MATCHER = r'(\w+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"'


def rules(spec):
    return [rule for group in spec["groups"] for rule in group["rules"]]


def source():
    """Returns the object of k8s/components/alerts."""
    return yaml.safe_load(SOURCE.read_text())


class Expression:
    """The names in an expression of PromQL, in the part of the language that the rules use."""

    def __init__(self, text):
        self.lists = [(kind, set(re.findall(r"\w+", names))) for kind, names in re.findall(LISTS, text)]
        self.matchers = [(name, re.findall(MATCHER, inside)) for name, inside in re.findall(SELECTOR, text)]
        rest = re.sub(LISTS, "", re.sub(r"\[\w+\]", "", re.sub(SELECTOR, r"\1", text)))
        self.metrics = set(re.findall(r"\b[a-z_]\w*\b(?!\s*\()", rest)) - WORDS

    def selectors(self):
        """Yields (metric, [(label, operator, value)]) of each selector; without matchers, once for each metric."""
        yield from self.matchers
        yield from ((metric, []) for metric in sorted(self.metrics - {name for name, _ in self.matchers}))

    def result_labels(self):
        """Returns the labels that a template may read, or None if it may read all labels of the series."""
        kept = [names for kind, names in self.lists if kind == "by"]
        return set.intersection(*kept) if kept else None


def takes(matchers, labels):
    """Returns true if a selector matches a series."""
    tests = {"=": lambda a, b: a == b, "!=": lambda a, b: a != b}
    tests |= {"=~": lambda a, b: bool(re.fullmatch(b, a)), "!~": lambda a, b: not re.fullmatch(b, a)}
    return all(tests[op](labels.get(label, ""), value.replace("\\\\", "\\")) for label, op, value in matchers)
