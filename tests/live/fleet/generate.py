"""A seeded stream of requests with known outcomes.

The same seed gives the same records. The header `kind` of a record names its kind, so that the topic itself implies the
expected outcome (checker.py, KINDS). Requests use the questions and databases in deploy/samples.
"""
import json
import random
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[3] / "deploy/samples"
DEADLINE_MS = 600_000  # the maximum: an early deadline must not excuse a lost request
HUGE_BYTES = 17 << 20  # the maximum size of a request is 16 MiB
RECENT = 200  # a repetition follows within this many requests, far inside the guaranteed window
REPAIRS = {None: 0, "off": 1, "propose": 2, "apply": 3}
SLOW = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT count(*) FROM n"


@dataclass(frozen=True)
class Request:
    kind: str
    value: bytes | None
    key: bytes | None = None
    headers: dict = field(default_factory=dict)

    def record_headers(self):
        return [("kind", self.kind.encode()), *((k, v.encode()) for k, v in self.headers.items())]


# Weights of the kinds, about a hundred in all. Other kinds are requested by name (Generator.make).
MIX = {
    "plain": 52,
    "narrow": 12,
    "msgpack": 4,
    "no_id": 5,
    "duplicate": 7,
    "id_reused": 4,
    "slow": 2,
    "unknown_database": 2,
    "no_candidates": 2,
    "invalid": 2,
    "garbage": 2,
    "not_utf8": 1,
    "no_value": 1,
    "unknown_version": 2,
    "unknown_type": 2,
}


class Generator:
    def __init__(self, seed, mix=None, prefix="q"):
        self.rng = random.Random(seed)
        self.prefix = prefix  # prefix of the ids: another one for each use of the same topics
        self.count = 0
        self.mix = mix or MIX
        lines = (SAMPLES / "questions.jsonl").read_text().splitlines()
        self.samples = [json.loads(line) for line in lines]
        self.recent = deque(maxlen=RECENT)  # plain requests whose id no other request has used yet

    def __iter__(self):
        kinds, weights = list(self.mix), list(self.mix.values())
        while True:
            yield self.make(self.rng.choices(kinds, weights)[0])

    def make(self, kind):
        if kind in ("duplicate", "id_reused") and not self.recent:
            kind = "plain"
        self.count += 1
        request = getattr(self, "_" + kind)()
        if kind == "plain":
            self.recent.append(request)
        return request

    def body(self, **change):
        """Returns one question with some of its candidates, in some order."""
        sample = self.rng.choice(self.samples)
        candidates = list(sample["candidates"])
        self.rng.shuffle(candidates)
        body = {
            "id": f"{self.prefix}-{self.count}",
            "db": sample["db"],
            "question": sample["question"],
            "candidates": candidates[: self.rng.randint(1, len(candidates))],
            "deadline_ms": DEADLINE_MS,
            "speculate": self.rng.choice([None, None, 2, 3]),  # affects the course of the judgement, not its outcome
            "repair": self.rng.choice([None] * 8 + ["propose", "apply"]),
        }
        if body["repair"] == "apply":
            body["repair_margin"] = 0.01  # so that some repairs are applied
        body.update(change)
        return {k: v for k, v in body.items() if v is not None}

    def _json(self, kind, **change):
        body = self.body(**change)
        key = body["id"].encode() if "id" in body else None
        return Request(kind, json.dumps(body).encode(), key)

    def _plain(self):
        return self._json("plain")

    def _narrow(self):
        """Returns a request with few families, which finishes while others wait."""
        return self._json("narrow", families=["structure", "join"])

    def _again(self):
        """Returns an earlier request under a new id."""
        if not self.recent:
            return self._json("again")
        return self._json("again",
                          **{**json.loads(self.rng.choice(self.recent).value), "id": f"{self.prefix}-{self.count}"})

    def _no_id(self):
        return self._json("no_id", id=None)

    def _slow(self):
        return self._json("slow", candidates=[SLOW, "SELECT 1"])

    def _unknown_database(self):
        return self._json("unknown_database", db="nowhere")

    def _no_candidates(self):
        return self._json("no_candidates", candidates=[])

    def _invalid(self):
        return self._json("invalid", candidates=7)

    def _take_recent(self):
        at = self.rng.randrange(len(self.recent))
        request = self.recent[at]
        del self.recent[at]
        return request

    def _duplicate(self):
        first = self._take_recent()
        return Request("duplicate", first.value, first.key)

    def _id_reused(self):
        first = json.loads(self._take_recent().value)
        return self._json("id_reused", id=first["id"], question=first["question"] + " Really?")

    def _msgpack(self):
        body = self.body()
        return Request("msgpack", request_frame(body), body["id"].encode(), {"content-type": "application/msgpack"})

    def _garbage(self):
        return Request("garbage", self.rng.randbytes(self.rng.randint(1, 300)), self._key())

    def _not_utf8(self):
        return Request("not_utf8", json.dumps(self.body()).encode()[:-2] + b"\xff\xfe\"}", self._key())

    def _no_value(self):
        return Request("no_value", None, self._key())

    def _unknown_version(self):
        frame = bytearray(request_frame(self.body()))
        frame[2] = 99  # the major version
        return Request("unknown_version", bytes(frame), self._key(), {"content-type": "application/msgpack"})

    def _unknown_type(self):
        body = json.dumps(self.body()).encode()
        return Request("unknown_type", body, self._key(), {"content-type": "application/x-thing"})

    def _huge(self):
        return self._json("huge", question="x" * HUGE_BYTES)

    def _crash(self):
        """Returns a candidate that kills its worker, if the worker was built and configured to crash on it
        (ASSAY_CRASH_ON)."""
        return self._json("crash", candidates=["SELECT 1 AS crash_here"])

    def _key(self):
        return f"{self.prefix}-{self.count}".encode()


def request_frame(body):
    """Encodes the bytes of proto/FORMAT.md: an array of version, kind and a map of field ids."""
    import msgpack  # only the callers that need msgpack import the module

    fields = {1: body["id"], 2: body["db"], 3: body["question"], 5: [_candidate(c) for c in body["candidates"]]}
    fields[9] = {1: body["deadline_ms"], 3: body.get("speculate", 0), 13: REPAIRS[body.get("repair")]}
    return b"\x93\xcd\x01\x01\x01" + msgpack.packb(fields)


def result_frame(request, family):
    """Returns a forged result. It says that some SQL, which is no candidate of this request, is invalid."""
    import msgpack

    fields = {1: {1: request[0], 2: request[1]}, 2: bytes(16), 3: 0, 4: family, 5: "syntax", 6: "forged", 7: True}
    return b"\x93\xcd\x01\x01\x03" + msgpack.packb(fields)


def _candidate(candidate):
    if isinstance(candidate, str):
        return {1: candidate}
    fields = {1: candidate["sql"], 2: candidate.get("count"), 4: candidate.get("generators")}
    return {k: v for k, v in fields.items() if v is not None}
