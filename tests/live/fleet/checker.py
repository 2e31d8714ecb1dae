"""Checks from the outside that each request gets exactly one verdict.

The checker knows the topics and the guarantee, but not the coordinator's code. For every record of assay.requests there
must be exactly one of a committed verdict, a dead letter, or an earlier request that it repeats. `check` is a pure
function of the collected Evidence; test_checker.py shows on constructed topics that it detects each kind of fault.
"""
import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field

WINDOW = 4096  # offsets within which a repeated id is recognised

VERDICT, LETTER, EITHER, REUSED = "verdict", "letter", "verdict or letter", "failed verdict (id_reused)"

# The expected outcome for each kind of request, and whether its verdict must equal the one of `assay replay`.
KINDS = {
    "plain": (VERDICT, True),
    "narrow": (VERDICT, True),
    "again": (VERDICT, True),
    "slow": (VERDICT, True),
    "no_id": (VERDICT, True),
    "unknown_database": (VERDICT, True),
    "no_candidates": (VERDICT, True),
    "msgpack": (VERDICT, False),  # the verdict is msgpack
    "duplicate": (VERDICT, True),  # unless its first request is in the window
    "id_reused": (REUSED, False),  # unless its first request is in the window
    "crash": (EITHER, False),
    "invalid": (EITHER, False),
    "huge": (EITHER, False),
    "garbage": (LETTER, False),
    "not_utf8": (LETTER, False),
    "no_value": (LETTER, False),
    "unknown_version": (LETTER, False),
    "unknown_type": (LETTER, False),
}

# A verdict with one of these texts lacked time or a judge: a paused process judges late, and an unavailable database is
# not judged. Such a verdict may differ.
SHORT_OF_TIME = {"deadline", "limit_time", "cancelled", "unreachable", "db_locked", "db_unavailable", "rejected"}
SHORT_NOTES = ("ran longer than allowed", "the deadline passed")
SHORT_EXPLANATIONS = ("does not answer", "The database is away", "took too long to find out")


@dataclass(frozen=True)
class Record:
    partition: int
    offset: int
    value: bytes | None
    key: bytes | None = None
    headers: dict = field(default_factory=dict)
    timestamp: int = 0

    @property
    def at(self):
        return (self.partition, self.offset)


@dataclass(frozen=True)
class Task:
    """A task or a result: its candidate, its request, and its time."""

    request: tuple
    hash: bytes
    family: str
    timestamp: int

    @property
    def what(self):
        return (self.request, self.hash, self.family)


@dataclass
class Evidence:
    requests: list
    committed: list = field(default_factory=list)  # verdicts, read_committed
    uncommitted: list = field(default_factory=list)  # verdicts, all
    letters: list = field(default_factory=list)  # assay.dlq, read_committed
    live: list = field(default_factory=list)  # verdicts that a read_committed reader saw during the faults
    expected: dict = field(default_factory=dict)  # (partition, offset) -> verdict of the embedded engine
    lag: dict = field(default_factory=dict)  # (group, topic) -> lag in records
    tasks: list = field(default_factory=list)
    results: list = field(default_factory=list)
    owners: int = 0  # number of take-overs of partitions
    peak_rss: dict = field(default_factory=dict)  # process -> bytes
    leftovers: list = field(default_factory=list)  # temporary files
    deaths: list = field(default_factory=list)  # processes that died of a signal that the test did not send
    answers: dict = field(default_factory=dict)  # id -> answer that a caller over HTTP received
    unanswered: list = field(default_factory=list)  # ids of callers without an answer at the end


@dataclass(frozen=True)
class Bounds:
    rss_bytes: int = 512 << 20
    repeats_per_owner: int = 64 * 6  # requests opened at once, times families
    repeats_after_answer: int | None = None  # tasks repeated although their result existed; None: not checked
    answer_ms: int = 2000  # minimum age of such a result
    found: int = 0  # minimum number of verdicts from the cache
    poison: int = 0  # requests that may be dead-lettered because their owners died, possibly for other reasons
    short_of_time: float = 1.0  # permitted share of verdicts that lacked time


def kind_of(request):
    """Returns the kind of a request. Callers over HTTP set no header for it, and all their requests are plain ones."""
    return request.headers.get("kind", "plain")


def origin(record):
    """Returns the request that a verdict answers, by its headers, or None if they do not name it."""
    return _coordinates(record, "request-partition", "request-offset")


NOT_LOOKED_FOR = "The rows behind the result were not looked for."


def letter_origin(record):
    return _coordinates(record, "x-dlq-partition", "x-dlq-offset")


def _coordinates(record, partition, offset):
    try:
        return (int(record.headers[partition]), int(record.headers[offset]))
    except (KeyError, ValueError):
        return None


def comparable(verdict):
    """Returns a verdict without the fields that may differ between runs: times, versions, use of the cache, and the
    line number in a replay."""
    if isinstance(verdict, dict):
        drop = {"timings", "versions", "cached", "line", "ms", "partition", "offset"}
        return {k: comparable(v) for k, v in verdict.items() if k not in drop}
    if isinstance(verdict, list):
        return [comparable(v) for v in verdict]
    return verdict


def short_of_time(verdict):
    """Returns true if, by its text, the verdict lacked time or a judge was unavailable."""
    if verdict.get("unavailable") or verdict.get("reason") in SHORT_OF_TIME:
        return True
    if any(short in note for note in verdict.get("notes") or [] for short in SHORT_NOTES):
        return True
    for candidate in verdict.get("candidates") or []:
        execution = candidate.get("execution") or {}
        if any(short in (candidate.get("explanation") or "") for short in SHORT_EXPLANATIONS):
            return True
        reasons = list((candidate.get("unavailable") or {}).values())
        if execution.get("error") in SHORT_OF_TIME or SHORT_OF_TIME & set(reasons):
            return True
    return False


def parse(record):
    try:
        return json.loads(record.value)
    except (TypeError, ValueError):
        return None


def firsts(requests):
    """Returns the duplicates for which the guarantee holds: (partition, offset) of a repetition -> that of its first
    request."""
    seen, found = {}, {}
    for record in sorted(requests, key=lambda r: r.at):
        body = parse(record)
        if not isinstance(body, dict) or not isinstance(body.get("id"), str):
            continue
        first = seen.get((record.partition, body["id"]))
        if first and record.offset - first.offset <= WINDOW and first.value == record.value:
            found[record.at] = first.at
        elif not first:
            seen[(record.partition, body["id"])] = record
    return found


# --- checks: each yields (name, description) of every fault ---


def one_answer_each(e):
    """Each request has exactly one verdict or dead letter, and a duplicate has none."""
    verdicts, letters = defaultdict(list), Counter(letter_origin(r) for r in e.letters)
    for record in e.committed:
        verdicts[origin(record)].append(record.offset)
    repeated = firsts(e.requests)
    for request in e.requests:
        want = 0 if request.at in repeated else 1
        n_verdicts, n_letters = len(verdicts[request.at]), letters[request.at]
        kind = kind_of(request)
        what = f"request {request.at} ({kind})"
        if n_verdicts + n_letters < want:
            yield "lost", f"{what}: no verdict and no letter"
        elif n_verdicts > 1 or n_letters > 1 or (want and n_verdicts + n_letters > 1):
            yield "twice", f"{what}: {n_verdicts} verdicts at {verdicts[request.at]}, {n_letters} letters"
        elif not want and n_verdicts + n_letters:
            yield "duplicate", f"{what} repeats {repeated[request.at]} and was answered again"


def nobody_unknown(e):
    known = {r.at for r in e.requests}
    for record in e.committed:
        at = origin(record)
        if at is None:
            yield "unknown", f"verdict {record.at} does not say which request it answers"
        elif at not in known:
            yield "unknown", f"verdict {record.at} answers {at}, which was never asked"
        elif at[0] != record.partition:
            yield "misplaced", f"verdict of {at} is in partition {record.partition}"
    for record in e.letters:
        if record.headers.get("x-dlq-topic") != "assay.requests":
            yield "letter", f"letter {record.at} is of {record.headers.get('x-dlq-topic')}"
        elif letter_origin(record) not in known:
            yield "unknown", f"letter {record.at} is of {letter_origin(record)}, which was never asked"


def committed_is_committed(e):
    """Verdicts that a reader saw during the faults are in the final topic, and none of them was aborted."""
    final, everything = {r.at: r for r in e.committed}, {r.at for r in e.uncommitted}
    for record in e.live:
        there = final.get(record.at)
        if not there or there.value != record.value:
            yield "aborted read", f"verdict {record.at} was read, and is not committed"
    for record in e.committed:
        if e.uncommitted and record.at not in everything:
            yield "topic", f"verdict {record.at} is committed, but a reader of everything does not see it"


def is_poison(letter):
    """Returns true if the request was dead-lettered because its coordinators died, not because of its content."""
    return letter.headers.get("x-dlq-code") == "rejected"


def poison_bounded(e, bounds):
    poison = [letter_origin(r) for r in e.letters if is_poison(r)]
    if len(poison) > bounds.poison:
        yield "poison", f"{len(poison)} requests were put aside as poison, among them {poison[0]}"


def right_kind(e):
    verdicts, letters = {origin(r): r for r in e.committed}, {letter_origin(r) for r in e.letters if not is_poison(r)}
    repeated = firsts(e.requests)
    for request in e.requests:
        kind = kind_of(request)
        want = KINDS[kind][0]
        if request.at in repeated:
            continue
        if want == VERDICT and request.at in letters:
            yield "letter", f"request {request.at} ({kind}) became a letter"
        elif want == LETTER and request.at in verdicts:
            yield "verdict", f"request {request.at} ({kind}) got a verdict"
        elif want == REUSED and request.at in verdicts:
            verdict = parse(verdicts[request.at]) or {}
            if (verdict.get("status"), verdict.get("reason")) != ("failed", "id_reused"):
                yield "reused", f"request {request.at}: its id was used before, but it is {verdict.get('status')}"


def right_content(e):
    verdicts = {origin(r): r for r in e.committed}
    repeated = firsts(e.requests)
    for request in e.requests:
        kind = kind_of(request)
        if not KINDS[kind][1] or request.at in repeated or request.at not in verdicts:
            continue
        got, want = parse(verdicts[request.at]), e.expected.get(request.at)
        if got is None:
            yield "content", f"request {request.at}: its verdict is not JSON"
        elif want is None:
            yield "content", f"request {request.at}: nobody knows its answer"
        elif not short_of_time(got) and not short_of_time(want):
            yield from differences(request, comparable(got), comparable(want))


def differences(request, got, want):
    if (parse(request) or {}).get("id") is None:  # named after its location: a line there, an offset here
        if got.get("id") != f"{request.partition}-{request.offset}":
            yield "content", f"request {request.at} without id is called {got.get('id')}"
        got, want = {**got, "id": None}, {**want, "id": None}
    if kind_of(request) == "unknown_database":  # a fleet does not show its callers the searched folders
        if "/" in (got.get("message") or ""):
            yield "content", f"request {request.at} is told a path: {got['message']}"
        got, want = {**got, "message": None}, {**want, "message": None}
    got = without_more_rows(got, want)
    if got != want:
        where, here, there = first_difference(got, want)
        kind = kind_of(request)
        yield "content", f"request {request.at} ({kind}): {where} is {str(here)[:200]}, should be {str(there)[:200]}"


def without_more_rows(got, want):
    """Drops explanations of source rows that the replay does not have. A fleet may explain the rows of every candidate;
    the replay explains those of the answer."""
    here, there = got.get("candidates") or [], want.get("candidates") or []
    return ({**got, "candidates": [_as_brief(*pair) for pair in zip(here, there)]} if len(here) == len(there) > 0
            else got)


def _as_brief(got, want):
    brief, more = want.get("explanation") or "", got.get("explanation") or ""
    alike = brief.endswith(NOT_LOOKED_FOR) and more.startswith(brief.removesuffix(NOT_LOOKED_FOR))
    return {**got, "explanation": brief} if alike else got


def first_difference(got, want, where="verdict"):
    """Returns (path, value here, value there) of the first difference."""
    if isinstance(got, dict) and isinstance(want, dict):
        key = min(k for k in got.keys() | want.keys() if got.get(k) != want.get(k))
        return first_difference(got.get(key), want.get(key), f"{where}.{key}")
    if isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        at = next(i for i in range(len(got)) if got[i] != want[i])
        return first_difference(got[at], want[at], f"{where}[{at}]")
    return where, got, want


def nothing_left(e):
    for (group, topic), behind in sorted(e.lag.items()):
        if behind:
            yield "lag", f"{group} is {behind} behind on {topic}"
    for name in e.leftovers:
        yield "files", f"{name} was left behind"
    for text in e.deaths:
        yield "death", text


def memory_bounded(e, bounds):
    for name, rss in sorted(e.peak_rss.items()):
        if rss > bounds.rss_bytes:
            yield "memory", f"{name} had {rss >> 20} MiB"


def work_bounded(e, bounds):
    repeats = len(e.tasks) - len({t.what for t in e.tasks})
    allowed = e.owners * bounds.repeats_per_owner
    if repeats > allowed:
        yield "work", f"{repeats} tasks were sent again, {allowed} may be after {e.owners} changes of owners"
    if bounds.repeats_after_answer is not None:
        late = list(asked_again(e, bounds))
        if len(late) > bounds.repeats_after_answer:
            some = ", ".join(f"{t.family} of {t.request} after {ms} ms" for t, ms in late[:20])
            yield "work", f"{len(late)} tasks were sent again although their answers were there: {some}"


def asked_again(e, bounds):
    """Yields (task, milliseconds since its result)."""
    answered, seen = {}, set()
    for result in e.results:
        answered[result.what] = min(result.timestamp, answered.get(result.what, result.timestamp))
    for task in sorted(e.tasks, key=lambda t: t.timestamp):
        since = task.timestamp - answered.get(task.what, task.timestamp)
        if task.what in seen and since > bounds.answer_ms:
            yield task, since
        seen.add(task.what)


def time_bounded(e, bounds):
    verdicts = [v for v in map(parse, e.committed) if v]
    late = sum(map(short_of_time, verdicts))
    if late > bounds.short_of_time * len(verdicts):
        yield "late", f"{late} of {len(verdicts)} verdicts were short of time"


def found_bounded(e, bounds):
    """Checks that enough repeated requests have a cached verdict."""
    if found_in(e) < bounds.found:
        yield "work", f"{found_in(e)} verdicts were found, of at least {bounds.found}"


def found_in(e):
    return sum(1 for v in map(parse, e.committed) if v and v.get("cached"))


def callers_heard(e):
    """An answer over HTTP equals the committed verdict of that id, byte for byte, and each caller has one."""
    said = defaultdict(set)
    for record in e.committed:
        said[(record.key or b"").decode(errors="replace")].add(record.value)
    for name, body in e.answers.items():
        if body not in said[name]:
            yield "http", f"the caller of {name} was told what was never committed: {body[:80]}"
    for name in e.unanswered:
        yield "http", f"the caller of {name} was told nothing"


CHECKS = (one_answer_each, nobody_unknown, committed_is_committed, right_kind, right_content, nothing_left,
          callers_heard)
BOUNDED = (memory_bounded, work_bounded, poison_bounded, time_bounded, found_bounded)


def check(evidence, bounds=Bounds()):
    """Returns all faults as (name, description); an empty list means that the guarantee held."""
    found = [fault for one in CHECKS for fault in one(evidence)]
    return found + [fault for one in BOUNDED for fault in one(evidence, bounds)]


def summary(evidence):
    """Returns the figures of a run, for a report."""
    verdicts = [v for v in map(parse, evidence.committed) if v]
    return {
        "requests": len(evidence.requests),
        "verdicts": len(evidence.committed),
        "letters": len(evidence.letters),
        **({"callers answered": len(evidence.answers)} if evidence.answers else {}),
        "duplicates": len(firsts(evidence.requests)),
        "aborted": len(evidence.uncommitted) - len(evidence.committed),
        "found": found_in(evidence),
        "short of time": sum(map(short_of_time, verdicts)),
        "repeated tasks": len(evidence.tasks) - len({t.what for t in evidence.tasks}),
        "though answered": len(list(asked_again(evidence, Bounds()))),
        "peak MiB": max(evidence.peak_rss.values(), default=0) >> 20,
    }
