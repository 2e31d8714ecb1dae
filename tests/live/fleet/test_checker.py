"""Tests of the checker without a broker: correct topics, then the same with one fault each."""
import copy
import json
import sys
from dataclasses import replace

import checker
from checker import Bounds, Evidence, Record, Task

BOUNDS = Bounds(rss_bytes=100, repeats_per_owner=2, repeats_after_answer=0)


def request(offset, kind="plain", partition=0, **body):
    value = json.dumps({"id": f"q{offset}", "db": "d", **body}).encode()
    return Record(partition, offset, value, headers={"kind": kind})


def answer(asked, at, **change):
    verdict = {"id": json.loads(asked.value).get("id"), "status": "validated", "sql": "SELECT 1", **change}
    headers = {"request-partition": str(asked.partition), "request-offset": str(asked.offset)}
    key = str(verdict["id"]).encode()
    return Record(asked.partition, at, json.dumps(verdict).encode(), key, headers)


def letter(asked, at, code="malformed"):
    headers = {
        "x-dlq-code": code,
        "x-dlq-topic": "assay.requests",
        "x-dlq-partition": str(asked.partition),
        "x-dlq-offset": str(asked.offset),
    }
    return Record(asked.partition, at, asked.value, headers=headers)


def sound():
    """Returns seven requests in two partitions with their expected outcomes, and an aborted verdict in between."""
    asked = [request(o) for o in range(3)] + [request(0, partition=1)]
    again = replace(asked[1], offset=3, headers={"kind": "duplicate"})
    other = request(4, "id_reused", id="q2", question="another")
    broken = Record(0, 5, b"{", headers={"kind": "garbage"})
    verdicts = [answer(asked[0], 0), answer(asked[1], 2), answer(asked[2], 3), answer(asked[3], 0)]
    verdicts.append(answer(other, 4, status="failed", reason="id_reused"))
    aborted = answer(asked[1], 1)
    task = Task((0, 0), b"hash", "join", 1000)
    return Evidence(
        requests=[*asked, again, other, broken],
        committed=verdicts,
        uncommitted=[*verdicts, aborted],
        letters=[letter(broken, 0)],
        live=list(verdicts),
        expected={r.at: json.loads(answer(r, 0, timings={"total_ms": 9}).value) for r in asked},
        lag={("coordinator", "requests"): 0},
        tasks=[task, replace(task, timestamp=2000), replace(task, hash=b"other")],
        results=[replace(task, timestamp=1500)],
        owners=1,
        peak_rss={"worker": 99},
        answers={"q0": verdicts[0].value},
    )


# Each function takes a correct run and adds one fault.


def lost_verdict(e):
    del e.committed[0], e.live[0]


def lost_letter(e):
    e.letters.clear()


def doubled_verdict(e):
    e.committed.append(answer(e.requests[0], 9))
    e.uncommitted.append(e.committed[-1])


def doubled_letter(e):
    e.letters.append(letter(e.requests[6], 1))


def verdict_and_letter(e):
    e.letters.append(letter(e.requests[0], 1))


def aborted_read(e):
    e.live.append(e.uncommitted[-1])


def changed_after_read(e):
    e.live[0] = answer(e.requests[0], 0, sql="SELECT 2")


def unknown_request(e):
    e.committed.append(answer(request(77), 9))
    e.uncommitted.append(e.committed[-1])


def anonymous(e):
    e.committed[0] = replace(e.committed[0], headers={})


def other_partition(e):
    e.committed[3] = replace(e.committed[3], partition=0, offset=9)
    e.uncommitted.append(e.committed[3])
    e.live.pop(3)


def wrong_content(e):
    e.committed[0] = e.live[0] = answer(e.requests[0], 0, sql="SELECT 2")


def no_json(e):
    e.committed[0] = e.live[0] = replace(e.committed[0], value=b"\x93")


def duplicate_answered(e):
    e.committed.append(answer(e.requests[4], 9))
    e.uncommitted.append(e.committed[-1])


def reused_id_judged(e):
    e.committed[4] = e.live[4] = answer(e.requests[5], 4)


def letter_for_verdict(e):
    del e.committed[0], e.live[0]
    e.letters.append(letter(e.requests[0], 1))


def put_aside(e):
    letter_for_verdict(e)
    e.letters[-1] = letter(e.requests[0], 1, "rejected")


def verdict_for_letter(e):
    e.letters.clear()
    e.committed.append(Record(0, 9, b"{}", headers={"request-partition": "0", "request-offset": "5"}))
    e.uncommitted.append(e.committed[-1])


def lag(e):
    e.lag[("coordinator", "requests")] = 1


def left_file(e):
    e.leftovers.append("tmp/x")


def crashed(e):
    e.deaths.append("worker-0 died of signal 11")


def memory(e):
    e.peak_rss["worker"] = 101


def too_much_work(e):
    e.tasks += e.tasks[:1] * 3
    e.results.clear()


def work_after_answer(e):
    e.tasks.append(replace(e.tasks[0], timestamp=4000))


def told_what_was_aborted(e):
    e.answers["q0"] = b"{}"


def told_nothing(e):
    e.unanswered.append("q1")


SPOILED = {
    lost_verdict: "lost",
    lost_letter: "lost",
    doubled_verdict: "twice",
    doubled_letter: "twice",
    verdict_and_letter: "twice",
    aborted_read: "aborted read",
    changed_after_read: "aborted read",
    unknown_request: "unknown",
    anonymous: "unknown",
    other_partition: "misplaced",
    wrong_content: "content",
    no_json: "content",
    duplicate_answered: "duplicate",
    reused_id_judged: "reused",
    letter_for_verdict: "letter",
    put_aside: "poison",
    verdict_for_letter: "verdict",
    lag: "lag",
    left_file: "files",
    crashed: "death",
    memory: "memory",
    too_much_work: "work",
    work_after_answer: "work",
    told_what_was_aborted: "http",
    told_nothing: "http",
}


def outside_window(e):
    """A repetition beyond the window is a new request."""
    again = replace(e.requests[0], offset=checker.WINDOW + 1)
    e.requests.append(again)
    e.committed.append(answer(again, 9))
    e.uncommitted.append(e.committed[-1])
    e.expected[again.at] = e.expected[(0, 0)]


def short_of_time(e):
    """An unavailable judge excuses a different content."""
    e.committed[0] = e.live[0] = answer(e.requests[0], 0, sql="SELECT 2", unavailable=["join"])


def away_when_explaining(e):
    """A database that ran the candidate, and was unavailable when its rows were requested, is also an excuse."""
    away = {"explanation": "The rows behind the result are not explained: the database does not answer."}
    e.committed[0] = e.live[0] = answer(e.requests[0], 0, sql="SELECT 2", candidates=[away])


def _explain(e, here, there):
    e.committed[0] = e.live[0] = answer(e.requests[0], 0, candidates=[{"explanation": here}])
    e.expected[(0, 0)] = {**e.expected[(0, 0)], "candidates": [{"explanation": there}]}


def rows_of_others(e):
    """A fleet may report the rows behind a candidate that the replay did not request."""
    _explain(e, "It counts. For example 7.", f"It counts. {checker.NOT_LOOKED_FOR}")


STILL_SOUND = (outside_window, short_of_time, away_when_explaining, rows_of_others)


def other_words(e):
    """The parts that follow from the statement must be equal in both."""
    _explain(e, "It adds. For example 7.", f"It counts. {checker.NOT_LOOKED_FOR}")


SPOILED[other_words] = "content"


def faults(spoil=None):
    evidence = copy.deepcopy(sound())
    if spoil:
        spoil(evidence)
    return {name for name, _ in checker.check(evidence, BOUNDS)}


def main():
    cases = [("sound", faults(), None)]
    cases += [(spoil.__name__, faults(spoil), want) for spoil, want in SPOILED.items()]
    cases += [(spoil.__name__, faults(spoil), None) for spoil in STILL_SOUND]
    failed = [case for case in cases if (case[2] not in case[1] if case[2] else case[1])]
    for name, got, want in failed:
        print(f"[FAIL] {name}: found {sorted(got) or 'nothing'}, should be {want or 'nothing'}")
    print(f"Synthesis: Tested: {len(cases)} | Passing: {len(cases) - len(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
