"""Tests the client against a scripted server, for replies that no real server gives on demand."""
import ssl
import sys
import time

import pytest
from scripted import Scripted, dripping, problem, reply, slowly
from served import ROOT, make_certificate

sys.path.insert(0, str(ROOT / "tests/live/fleet"))
from ports import free_port  # noqa: E402

from assay import Judge, MalformedAnswer, NotYet, Problem, Refused, Unavailable, Unreachable, request

ASKED = request("How many?", "shop", ["SELECT 1"], id="q")
VERDICT = {"schema_version": 2, "id": "q", "db": "shop", "status": "validated", "sql": "SELECT 1", "chosen": 0,
           "candidates": [{"sql": "SELECT 1"}], "novel": 7}
FULL = problem(503, "full", "256 requests are being judged", ["Retry-After: 1"])


def test_503_is_retried_after_its_delay(client):
    with Scripted(FULL, FULL, reply(200, VERDICT)) as server:
        began = time.monotonic()
        assert client(server.url).judge(ASKED).sql == "SELECT 1"
        assert time.monotonic() - began >= 2 and len(server.requests) == 3
        assert len({request["body"] for request in server.requests}) == 1  # the same request, under the same id


def test_permanent_503_is_reported(client):
    with Scripted(FULL) as server:
        with pytest.raises(Unavailable) as caught:
            client(server.url, retries=1).judge(ASKED)
        assert (caught.value.status, caught.value.code,
                caught.value.detail) == (503, "full", "256 requests are being judged")
        assert len(server.requests) == 2


def test_retries_end_at_timeout(client):
    with Scripted(problem(503, "closed", "shutting down", ["Retry-After: 30"])) as server:
        began = time.monotonic()
        with pytest.raises(Unavailable):
            client(server.url).judge(ASKED, timeout=2)
        assert time.monotonic() - began < 2 and len(server.requests) == 1


@pytest.mark.parametrize("status", [400, 413, 421, 422, 500, 502])
def test_other_errors_are_not_retried(client, status):
    with Scripted(problem(status, "code_of_it", "why")) as server:
        with pytest.raises(Problem) as caught:
            client(server.url).judge(ASKED)
        assert (caught.value.status, caught.value.code, caught.value.detail) == (status, "code_of_it", "why")
        assert isinstance(caught.value, Refused) == (status < 500) and len(server.requests) == 1


def test_cut_connection_is_not_retried(client):
    with Scripted(lambda connection, _: connection.sendall(reply(200, VERDICT)[:-20])) as server:
        with pytest.raises(Unreachable, match="cut off"):
            client(server.url).judge(ASKED)
        assert len(server.requests) == 1
    with Scripted(lambda connection, _: None) as server:
        with pytest.raises(Unreachable):
            client(server.url).judge(ASKED)
        assert len(server.requests) == 1


def test_refused_connection_is_reported(client):
    began = time.monotonic()
    with pytest.raises(Unreachable, match="refused") as caught:
        client(f"http://127.0.0.1:{free_port()}", retries=2).judge(ASKED)
    assert isinstance(caught.value, ConnectionError) and 0.14 < time.monotonic() - began < 5


@pytest.mark.parametrize("body", [b"<html>hello</html>", b"[]", b"{}", b"7", b'{"id": "q", "status": 5}',
                                  b'{"id": "q", "status": "validated", "candidates": 3}',
                                  b'{"id": "q", "status": "validated", "candidates": [{}]}', b"\xff\xfe", b"[" * 100000,
                                  b'{"id": "q", "status": "validated", "repair": "x"}'])
def test_malformed_verdict_is_reported(client, body):
    with Scripted(reply(200, body)) as server:
        with pytest.raises(MalformedAnswer):
            client(server.url).judge(ASKED)


@pytest.mark.parametrize("answer", [reply(500, b"<html>"), reply(204),
                                    reply(302, b"", ["Location: http://127.0.0.1:1/"]), reply(404, b"nginx")])
def test_malformed_problem_document_is_reported(client, answer):
    with Scripted(answer) as server:
        with pytest.raises(MalformedAnswer):
            client(server.url).judge(ASKED)


def test_malformed_http_is_reported(client):
    with Scripted(b"SSH-2.0-OpenSSH_9.2\r\n") as server:
        with pytest.raises(Unreachable):
            client(server.url).judge(ASKED)


def test_slow_server_times_out(client):
    with Scripted(slowly(5, reply(200, VERDICT))) as server:
        began = time.monotonic()
        with pytest.raises(NotYet) as caught:
            client(server.url).judge(ASKED, timeout=0.5)
        assert caught.value.id == "q" and time.monotonic() - began < 3
    # Each byte arrives in time, but the complete reply does not.
    with Scripted(dripping(reply(200, VERDICT), 0.02)) as server:
        began = time.monotonic()
        with pytest.raises(NotYet):
            client(server.url).judge(ASKED, timeout=3)
        assert time.monotonic() - began < 5


def test_repeated_202_is_followed(client):
    later = reply(202, {"id": "q", "location": "/v1/verdicts/q"}, ["Retry-After: 1"])
    with Scripted(later, problem(404, "unknown_id", "not yet"), FULL, reply(200, VERDICT)) as server:
        assert client(server.url).judge(ASKED).raw["novel"] == 7
        assert [(r["method"], r["target"].split("?")[0])
                for r in server.requests] == [("POST", "/v1/judge")] + 3 * [("GET", "/v1/verdicts/q")]


def test_answer_waits_for_new_verdict(client):
    asks = reply(200, {**VERDICT, "status": "ask"})
    with Scripted(reply(202, {}), asks,
                  reply(200, {**VERDICT, "answers": [{"question": "k", "choice": "c"}]})) as server:
        assert client(server.url).answer("q", "c").answers[0].choice == "c"
        assert len(server.requests) == 3 and server.requests[0]["body"] == b'{"choice":"c"}'


def test_token_is_sent_and_not_shown(client):
    with Scripted(reply(200, VERDICT)) as server:
        judge = client(server.url, token="of-the-tests")
        judge.judge(ASKED)
        assert (server.requests[0]["headers"]["authorization"] == "Bearer of-the-tests"
                and "of-the-tests" not in repr(judge))
    # The client follows no redirection, with or without a token.
    with Scripted(reply(302, b"", [f"Location: {server.url}/"])) as elsewhere:
        with pytest.raises(MalformedAnswer):
            client(elsewhere.url, token="of-the-tests").judge(ASKED)


# The message contains characters that Unicode counts as line ends.
LINE = b'{"id":"q","status":"validated","line":%d,"message":"a\xe2\x80\xa8b\xc2\x85c"}'


def test_batch_is_split_only_at_line_feeds(client):
    body = LINE % 1 + b"\n" + LINE % 2  # the last line has no line end
    with Scripted(dripping(reply(200, body, type="application/x-ndjson"), 0.001)) as server:
        assert [item.message for item in client(server.url).batch([ASKED, ASKED])] == 2 * ["a\u2028b\x85c"]


@pytest.mark.parametrize("body", [LINE % 1, LINE % 1 + b"\n{\n", b'{"id":"q","status":"validated"}\n', b"",
                                  3 * (LINE % 1 + b"\n")])
def test_incomplete_batch_is_reported(client, body):
    with Scripted(reply(200, body, type="application/x-ndjson")) as server:
        with pytest.raises(MalformedAnswer):
            list(client(server.url).batch([ASKED, ASKED]))


def test_truncated_batch_is_reported(client):
    with Scripted(lambda connection, _: connection.sendall(reply(200, LINE % 1 + b"\n" + LINE % 2)[:-5])) as server:
        with pytest.raises(Unreachable):
            list(client(server.url).batch([ASKED, ASKED]))
        assert len(server.requests) == 1


def test_batch_is_retried_before_its_answer_begins(client):
    with Scripted(FULL, reply(200, LINE % 1, type="application/x-ndjson")) as server:
        assert len(list(client(server.url).batch([ASKED]))) == 1 and len(server.requests) == 2
    late = (b'{"id":"q","location":"/v1/verdicts/q","line":1}\n'
            b'{"problem":{"status":422,"code":"poison","title":"t","detail":"d"},"line":2}\n')
    with Scripted(reply(200, late, type="application/x-ndjson")) as server:
        first, second = client(server.url).batch([ASKED, ASKED])
        assert (isinstance(first.problem, NotYet) and first.problem.id == "q" and second.problem.status == 422
                and second.line == 2)


def test_self_signed_certificate_must_be_named(client, tmp_path):
    """A server with a self-signed certificate: refused unless the client names the certificate."""
    certificate, key = make_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with Scripted(reply(200, VERDICT), tls=context) as server:
        with pytest.raises(Unreachable, match="certificate"):
            client(server.url).judge(ASKED)
        assert client(server.url, verify=str(certificate)).judge(ASKED).validated
        assert client(server.url, verify=False).judge(ASKED).validated


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://x", "", "/v1"])
def test_invalid_address_is_refused(url):
    with pytest.raises(ValueError):
        Judge(url)


def test_invalid_request_is_refused():
    with pytest.raises(TypeError, match="polizy; there are .*policy"):
        request("How many?", "shop", [], polizy="ask")
    with pytest.raises(TypeError, match="list of SQL"):
        request("How many?", "shop", "SELECT 1")
    with pytest.raises(ValueError):
        Judge("http://127.0.0.1:1").judge(request("How many?", "shop", [], threshold=float("nan")))
