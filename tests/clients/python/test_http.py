"""The client against a real server."""
import asyncio
import hashlib
import json
import threading
import time

import pytest
from served import HIRED, HIRED_SQL, HOSTS, HOSTS_SQL, SAMPLES, Server, make_certificate

from assay import AsyncJudge, Judge, LineProblem, NotYet, Refused, UnknownVerdict, Unreachable, Verdict, http, request


def test_a_verdict(client, server):
    verdict = client(server.url).judge(request(HOSTS, "podcasts", HOSTS_SQL, id="hosts"))
    assert (verdict.id, verdict.status, verdict.chosen, verdict.sql) == ("hosts", "validated", 1, HOSTS_SQL[1])
    assert verdict.validated and 0.5 < verdict.p_correct < 1 and verdict.threshold == 0.5
    wrong, right = verdict.candidates
    assert verdict.answer is right and right.execution.rows == 11 and right.why is None
    assert wrong.fired == ["incorrect_join_predicate"]
    (finding,) = wrong.findings
    (clause,) = finding.clauses
    assert (finding.severity, clause.label) == ("error", "JOIN")
    assert HOSTS_SQL[0].encode()[clause.start:clause.end].decode() == clause.text == "h.host_id = s.show_id"
    assert verdict.raw["schema_version"] == 2 and verdict.versions["assay"]


def test_by_id(client, server):
    judge = client(server.url)
    id = judge.judge(request(HOSTS, "podcasts", HOSTS_SQL)).id  # made up by the client
    assert judge.verdict(id).status == "validated" and judge.wait(id).sql == HOSTS_SQL[1]
    with pytest.raises(UnknownVerdict) as caught:
        judge.verdict("nobody/asked ?this")
    assert (caught.value.status, caught.value.code) == (404, "unknown_id")


def test_an_answer_to_a_clarification(client, server):
    judge = client(server.url)
    asked = judge.judge(request(HIRED, "shops", HIRED_SQL, policy="ask"))
    assert asked.status == "ask" and asked.sql is None and not asked.validated
    assert asked.clarification.question == "Do you also want shops that have no hiring?"
    yes = next(choice for choice in asked.clarification.choices if choice.candidate == 1)
    assert yes.rows == 5
    answered = judge.answer(asked.id, yes)
    assert (answered.status, answered.sql) == ("validated", HIRED_SQL[1])
    assert [(answer.question, answer.choice) for answer in answered.answers] == [(asked.clarification.id, yes.id)]
    with pytest.raises(Refused) as caught:
        judge.answer(asked.id, yes)
    assert caught.value.status == 400 and "asks no question" in caught.value.detail


def test_an_answer_with_the_request_sent_again(client, server):
    judge = client(server.url)
    asked = judge.judge(request(HIRED, "shops", HIRED_SQL, policy="ask")).clarification
    assert judge.judge(asked.answered(asked.choices[0])).sql == HIRED_SQL[0]


def test_a_repair(client, server):
    sql = ("SELECT count(*) FROM sailing AS s JOIN vessel AS v ON s.vessel_id = v.vessel_id"
           " WHERE v.name = 'Petrell' AND s.status = 'cancelled'")
    asked = request("How many sailings of the vessel Petrel were cancelled?", "ferries", [sql], repair="apply",
                    repair_margin=0.4)
    verdict = client(server.url).judge(asked)
    assert verdict.status == "repaired" and verdict.validated and verdict.chosen is None and verdict.answer is None
    assert (verdict.repair.applied and verdict.repair.of_candidate == 0
            and verdict.repair.p_correct > verdict.repair.p_old)
    assert ([(step.was, step.now) for step in verdict.repair.steps] == [("'Petrell'", "'Petrel'")]
            and verdict.sql == verdict.repair.sql)


def test_a_verdict_that_could_not_be_judged_is_no_exception(client, server):
    verdict = client(server.url).judge(request("How many?", "nowhere", ["SELECT 1"]))
    assert (verdict.status, verdict.reason) == ("failed", "db_missing")
    verdict = client(server.url).judge(request("How many shows?", "podcasts", ["SELECT foo FROM show"]))
    assert (verdict.candidates[0].execution.error == "engine"
            and verdict.candidates[0].findings[0].signal == "invalid_sql")


def test_a_refused_request_says_why(client, server):
    with pytest.raises(Refused) as caught:
        client(server.url).judge({"question": "How many?", "candidates": []})
    assert (caught.value.status, caught.value.code, caught.value.title) == (400, "malformed", "invalid request")
    assert caught.value.detail == '"db" is missing'


def count_to(n):
    return f"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < {n}) SELECT count(*) FROM n"


SLOW_SQL = count_to(3000000)


def test_a_202_is_followed(client, databases):
    server = Server(databases, "--wait-ms", "0", "--max-wait-ms", "0")  # whoever asks is told to come again
    slow = request("How many numbers are there?", "podcasts", [SLOW_SQL], id="later")
    try:
        with pytest.raises(NotYet) as caught:
            client(server.url).judge(slow, timeout=0.2)
        assert caught.value.id == "later" and isinstance(caught.value, TimeoutError)
        assert client(server.url).wait("later", timeout=20).candidates[0].sql == SLOW_SQL
        began, other = time.monotonic(), request("How many numbers are there?", "podcasts", [count_to(3000001)],
                                                 id="followed")  # results are remembered
        assert client(server.url).judge(other).id == "followed" and time.monotonic() - began >= 1  # as Retry-After says
    finally:
        server.end()


def samples(n):
    lines = [json.loads(line) for line in (SAMPLES / "questions.jsonl").read_text("utf-8").splitlines()]
    return [{**lines[i % len(lines)], "id": f"b{i}"} for i in range(n)]


def test_a_batch_in_order(client, server):
    requests = samples(40)
    requests[7] = {"id": "b7", "question": "no database"}
    items = list(client(server.url).batch(requests))
    assert [item.line for item in items] == list(range(1, 41))
    assert (isinstance(items[7], LineProblem) and items[7].problem.detail == '"db" is missing'
            and items[7].problem.code == "malformed")
    verdicts = [item for item in items if isinstance(item, Verdict)]
    assert [verdict.id for verdict in verdicts] == [f"b{i}" for i in range(40) if i != 7]
    assert sum(verdict.validated for verdict in verdicts) > 30


def test_a_batch_as_done(client, server):
    items = list(client(server.url).batch(samples(40), order="done"))
    assert (sorted(item.line for item in items) == list(range(1, 41))
            and all(item.id == f"b{item.line - 1}" for item in items))
    with pytest.raises(ValueError, match="order"):
        list(client(server.url).batch([], order="any"))


def test_more_requests_than_a_batch_takes(server):
    one = request("How many shows are there?", "podcasts", ["SELECT count(*) FROM show"], max_iterations=1)
    with Judge(server.url, timeout=120) as judge:
        items = list(judge.batch(one for _ in range(1003)))
    assert [item.line for item in items] == list(range(1, 1004)) and len({item.id for item in items}) == 1003


def test_threads_share_a_client(server):
    verdicts, failures = [], []
    with Judge(server.url) as judge:
        def ask():
            try:
                verdicts.extend(judge.judge(request(HOSTS, "podcasts", HOSTS_SQL)) for _ in range(5))
            except Exception as failure:
                failures.append(failure)
        threads = [threading.Thread(target=ask) for _ in range(8)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
    assert not failures and len({verdict.id for verdict in verdicts}) == 40


def test_async_calls_run_beside_each_other(server):
    async def ask():
        async with AsyncJudge(server.url) as judge:
            return await asyncio.gather(*(judge.judge(request(HOSTS, "podcasts", HOSTS_SQL)) for _ in range(20)))
    assert {verdict.sql for verdict in asyncio.run(ask())} == {HOSTS_SQL[1]}


def test_a_tenant_over_tls(client, databases, tmp_path):
    certificate, key = make_certificate(tmp_path)
    tokens = tmp_path / "tokens.json"
    acme = {"sha256": [hashlib.sha256(b"of-acme").hexdigest()], "databases": ["podcasts"],
            "deny_columns": ["host.name"]}
    tokens.write_text(json.dumps({"tokens_version": 1, "tenants": {"acme": acme}}))
    server = Server(databases, "--tokens", tokens, "--tls-cert", certificate, "--tls-key", key)
    try:
        judge = client(server.url, token="of-acme", verify=str(certificate))
        verdict = judge.judge(request(HOSTS, "podcasts", HOSTS_SQL))
        assert verdict.status != "failed" and verdict.candidates[1].execution.digest is None  # it uses a denied column
        assert [item.id for item in judge.batch([request(HOSTS, "podcasts", HOSTS_SQL, id="b")])] == ["b"]
        for options, asked, said in [({}, "podcasts", (401, "unauthorized")),
                                     ({"token": "of-another"}, "podcasts", (401, "unauthorized")),
                                     ({"token": "of-acme"}, "shops", (403, "forbidden"))]:
            with pytest.raises(Refused) as caught:
                client(server.url, verify=str(certificate), **options).judge(request(HIRED, asked, HIRED_SQL))
            assert (caught.value.status, caught.value.code) == said
        with pytest.raises(Unreachable, match="certificate"):
            client(server.url, token="of-acme").judge(request(HOSTS, "podcasts", HOSTS_SQL))
    finally:
        server.end()


def test_a_server_that_dies_and_comes_back(client, databases, monkeypatch):
    server, refused, back = Server(databases), threading.Event(), []
    pause_of = http._Attempts.next_pause
    monkeypatch.setattr(http._Attempts, "next_pause", lambda self, reply: refused.set() or pause_of(self, reply))
    judge = client(server.url, retries=8)
    assert judge.judge(request(HOSTS, "podcasts", HOSTS_SQL)).validated
    server.end(kill=True)
    thread = threading.Thread(target=lambda: refused.wait(60) and back.append(Server(databases, port=server.port)))
    thread.start()
    try:
        assert judge.judge(request(HOSTS, "podcasts", HOSTS_SQL),
                           timeout=60).validated  # refused at first, and sent again
    finally:
        thread.join()
        for one in back: one.end()
