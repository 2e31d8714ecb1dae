"""Helpers for templates of questions.

A template takes an asker and a table, or a parent and its children. It returns (question, right query, [errors]), with
evidence as the fourth element if the question needs it. It returns None if it does not fit.
"""

from questions.schema import *
from questions.words import *


class Ask:
    """Makes one question: random choices, and everyday words in place of words of the schema."""

    def __init__(self, rng):
        self.rng = rng

    def one(self, items):
        return self.rng.choice(items)

    def say(self, words):
        return " ".join(self.one(EVERYDAY[w]) if w in EVERYDAY and self.rng.random() < 0.4 else w
                        for w in words.split())

    def many(self, table):
        return plural(self.say(table.words))

    def single(self, table):
        return self.say(table.words)

    def number(self, n):
        return (
            NUMBERS[n]
            if isinstance(n, int) and 0 <= n <= 10 and self.rng.random() < 0.5
            else f"{n:,}" if isinstance(n, int) and n > 9999 and self.rng.random() < 0.5 else str(n)
        )

    def other(self, items, *known):
        rest = [i for i in items if i not in known]
        return self.one(rest) if rest else None


def shown(label, of=""):
    return ", ".join(of + c.sql for c in label)


def condition(a, column, value):
    return a.one(
        [
            f"with {a.say(column.words)} {value}",
            f"whose {a.say(column.words)} is {value}",
            f"that have {value} as their {a.say(column.words)}",
            f"of {a.say(column.words)} {value}",
            f"listed under {value} for {a.say(column.words)}",
        ]
    )


# A template: (asker, table, or parent and child) → question, right query, [errors]; None if it does not fit


def numbers(t):
    return [x for x in t.of("is_number") if not x.is_year]
