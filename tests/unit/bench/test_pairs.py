#!/usr/bin/env python3
"""Checks that the minimal pairs of tests/data/pairs follow its README, as far as this is possible without databases. A
failure gives only the id of a pair, because held.jsonl must not be read."""
import json, os, sys, unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench"))
import pairs

FILES = ("tune", "held", "dev")
MUST = {"id", "db", "kind", "question", "right", "wrong"}
LEAST = {"tune": 200, "held": 200, "dev": 60}


def load():
    return {name: pairs.read([os.path.join(ROOT, "tests", "data", "pairs", name + ".jsonl")]) for name in FILES}


def same(sql):
    return " ".join(sql.lower().split())


def faults(pair):
    """Returns the faults of a line as texts; an empty list if it is valid."""
    if not MUST <= pair.keys() <= MUST | {"evidence"}: return ["its members are not those of a pair"]
    if not all(isinstance(text, str) and text.strip() for text in pair.values()):
        return ["a member is empty or no text"]
    found = []
    if pair["kind"] not in pairs.KINDS: found.append(f"no such kind: {pair['kind']}")
    if same(pair["right"]) == same(pair["wrong"]): found.append("both queries are the same")
    if not all(same(pair[side]).startswith(("select ", "with ")) for side in ("right", "wrong")):
        found.append("no SELECT")
    return found


class Pairs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = load()

    def all(self):
        return [pair for name in FILES for pair in self.files[name]]

    def test_each_pair_is_valid(self):
        bad = {pair.get("id"): faults(pair) for pair in self.all() if faults(pair)}
        self.assertEqual({}, bad)

    def test_ids_and_questions_are_unique(self):
        for key in (lambda p: p["id"], lambda p: (p["db"], same(p["question"]), same(p["right"]), same(p["wrong"]))):
            self.assertEqual(len(self.all()), len({key(pair) for pair in self.all()}))

    def test_files_share_no_database(self):
        of = {name: {pair["db"] for pair in self.files[name]} for name in FILES}
        for one, other in (("tune", "held"), ("tune", "dev"), ("held", "dev")):
            self.assertEqual(set(), of[one] & of[other], (one, other))
        self.assertLess(max(of["tune"]), min(of["held"]))

    def test_every_kind_is_in_every_file(self):
        for name in FILES:
            self.assertEqual(set(pairs.KINDS), {pair["kind"] for pair in self.files[name]}, name)
            self.assertGreaterEqual(len(self.files[name]), LEAST[name])

    def test_faults_are_detected(self):
        sound = {"id": "x", "db": "d", "kind": "units", "question": "q", "right": "SELECT 1", "wrong": "SELECT 2"}
        self.assertEqual([], faults(sound))
        for key in MUST: self.assertTrue(faults({k: v for k, v in sound.items() if k != key}), key)
        for change in ({"kind": "unit"}, {"wrong": "select  1"}, {"wrong": "DELETE FROM t"}, {"question": " "},
                       {"gold": "x"}):
            self.assertTrue(faults({**sound, **change}), change)


if __name__ == "__main__":
    unittest.main()
