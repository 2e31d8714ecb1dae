"""The alerting rules, and what they name: one reading for tests/unit/k8s/test_alerts.py and tests/live/fleet/test_observe.py."""
import re
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "k8s/components/alerts/alerts.yaml"
TARGET = {"namespace", "pod", "instance"}  # labels that Prometheus gives what it reads
WORDS = {"and", "or", "unless", "group_left"}  # of PromQL, that are no names
LISTS = r"\b(by|ignoring) \(([a-z, ]*)\)"
SELECTOR = r"([a-z_]\w*)\{([^}]*)\}"
MATCHER = r'(\w+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)"'


def rules(spec):
    return [rule for group in spec["groups"] for rule in group["rules"]]


def source():
    """The object of k8s/components/alerts."""
    return yaml.safe_load(SOURCE.read_text())


class Expression:
    """The names in an expression of PromQL, as far as the rules use it."""

    def __init__(self, text):
        self.lists = [(kind, set(re.findall(r"\w+", names))) for kind, names in re.findall(LISTS, text)]
        self.matchers = [(name, re.findall(MATCHER, inside)) for name, inside in re.findall(SELECTOR, text)]
        rest = re.sub(LISTS, "", re.sub(r"\[\w+\]", "", re.sub(SELECTOR, r"\1", text)))
        self.metrics = set(re.findall(r"\b[a-z_]\w*\b(?!\s*\()", rest)) - WORDS

    def selectors(self):
        """(metric, [(label, operator, value)]) of each series that is asked for; without matchers, once a metric."""
        yield from self.matchers
        yield from ((metric, []) for metric in sorted(self.metrics - {name for name, _ in self.matchers}))

    def result_labels(self):
        """What a template may read; None: whatever the series have."""
        kept = [names for kind, names in self.lists if kind == "by"]
        return set.intersection(*kept) if kept else None


def takes(matchers, labels):
    """Whether a selector takes a series."""
    tests = {"=": lambda a, b: a == b, "!=": lambda a, b: a != b}
    tests |= {"=~": lambda a, b: bool(re.fullmatch(b, a)), "!~": lambda a, b: not re.fullmatch(b, a)}
    return all(tests[op](labels.get(label, ""), value.replace("\\\\", "\\")) for label, op, value in matchers)
