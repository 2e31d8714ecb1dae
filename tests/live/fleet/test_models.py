"""A fleet that calls a language model for uncertain candidates, with workers of their own, and asks the user about
differing readings.

  test_models.py --assay FILE          needs ASSAY_TEST_KAFKA and ASSAY_TEST_REDIS (tests/live/servers.sh); else skipped

Kafka, Redis, coordinator, workers and `serve` are real. The model is a scripted server of OpenAI's /v1/chat/completions
that finds no fault.
"""
import argparse
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from ports import free_port
from test_observe import Process, make_databases, running, total
from wait import wait_until

WAIT_S = 60
SURE = {
    "evidence_violation": {"violated": False, "clauses": [], "why": "scripted"},
    "insufficient_evidence": {"insufficient": False, "why": "scripted"},
    "question_clause_linking": {"links": []},
    "column_ambiguity": {"rivals": []},
    "self_check": {"right": True, "probability": 0.9, "clauses": [], "why": "scripted"},
}
INNER = "SELECT v.name, count(*) FROM vessel v JOIN sailing s ON s.vessel_id = v.vessel_id GROUP BY v.vessel_id"
OUTER = ("SELECT v.name, count(s.sailing_id) FROM vessel v LEFT JOIN sailing s ON s.vessel_id = v.vessel_id"
         " GROUP BY v.vessel_id")
EACH = "How many sailings does each vessel have?"


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(json.loads(request["messages"][1]["content"]))
        answer = {"model": "scripted", "usage": {"prompt_tokens": 900, "completion_tokens": 120}}
        answer["choices"] = [{"message": {"content": json.dumps(SURE)}, "finish_reason": "stop"}]
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def start_model():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads, server.asked = True, []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Caller:
    def __init__(self, port):
        self.base, self.run, self.n = f"http://127.0.0.1:{port}", f"models-{time.time_ns()}", 0

    def post(self, path, body):
        """Returns (status, answer)."""
        request = urllib.request.Request(self.base + path + "?wait_ms=60000", json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=WAIT_S + 10) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def judge(self, question, *candidates, **options):
        """Returns the verdict on a request about the ferries, under a fresh id."""
        self.n += 1
        body = {"id": f"{self.run}-{self.n}", "db": "ferries", "question": question, "candidates": candidates,
                **options}
        status, verdict = self.post("/v1/judge", body)
        assert status == 200, verdict
        return verdict


def asks_a_model_where_it_is_in_doubt(caller, model, coordinator):
    verdict = caller.judge("How many vessels are there?", "SELECT count(*) FROM vessel")
    assert verdict["llm"]["calls"] == 1 and verdict["llm"]["tokens_in"] == 900, verdict.get("llm")
    assert verdict["candidates"][0]["signals"]["self_check"] == "silent"
    assert [told["sql"] for told in model.asked] == ["SELECT count(*) FROM vessel"]
    assert total(coordinator.metrics(), "assay_consultations_total") >= 1


def what_one_worker_was_told_none_asks_again(caller, model):
    verdict = caller.judge("How many vessels are there?", "SELECT count(*) FROM vessel")
    assert verdict["llm"]["calls"] == 0 and verdict["llm"]["cached"] == 1, verdict["llm"]
    assert len(model.asked) == 1


def leaves_it_out_where_the_request_says_so(caller, model):
    verdict = caller.judge("How many ports are there?", "SELECT count(*) FROM port",
                           families=["structure", "join", "execution", "explain"])
    assert "llm" not in verdict and "self_check" not in verdict["candidates"][0]["signals"]
    assert len(model.asked) == 1


def goes_on_without_a_model_that_is_away(caller, model):
    model.shutdown()
    model.server_close()
    verdict = caller.judge("How many captains are there?", "SELECT count(*) FROM captain")
    assert verdict["status"] == "validated", verdict["status"]
    assert verdict["candidates"][0]["signals"]["self_check"] == "unavailable", verdict["candidates"][0]["signals"]


def asks_the_person_and_takes_the_answer(caller, coordinator):
    asked = caller.judge(EACH, INNER, OUTER, policy="ask", ask_gain=0.01)
    assert asked["status"] == "ask", asked["status"]
    question = asked["clarification"]
    assert question["question"] == "Do you also want vessels that have no sailing?", question
    choice = next(c for c in question["choices"] if c["text"] == "yes, those too")
    path = f"/v1/verdicts/{asked['id']}/answers"
    status, wrong = caller.post(path, {"choice": "0123456789abcdef"})
    assert status == 200 and wrong["status"] == "failed" and "unknown choice" in wrong["message"], wrong
    # That verdict is now the newest of the id, and it asks no question. The request is sent again with the right
    # answer, as a program would do.
    answers = [{"question": question["id"], "choice": choice["id"]}]
    status, decided = caller.post("/v1/judge", {**question["request"], "answers": answers})
    assert status == 200 and decided["status"] == "validated" and decided["sql"] == OUTER, decided
    again = caller.judge(EACH, INNER, OUTER, policy="ask", ask_gain=0.01)
    status, decided = caller.post(f"/v1/verdicts/{again['id']}/answers", {"choice": choice["id"]})
    assert status == 200 and decided["id"] == again["id"] and decided["sql"] == OUTER, decided
    assert decided["answers"] == answers
    metrics = coordinator.metrics()
    assert (metrics['assay_questions_total{outcome="asked"}'] >= 2
            and metrics['assay_questions_total{outcome="answered"}'] >= 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    servers, redis = os.environ.get("ASSAY_TEST_KAFKA"), os.environ.get("ASSAY_TEST_REDIS")
    if not servers or not redis:
        print("skipped: ASSAY_TEST_KAFKA or ASSAY_TEST_REDIS is not set (tests/live/servers.sh)")
        return 77
    model, port = start_model(), free_port()
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        make_databases(directory / "databases")
        subprocess.run([assay, "topics", "create", "--servers", servers], check=True, stdout=subprocess.DEVNULL)
        worker = [assay, "worker", "--servers", servers, "--db-root", directory / "databases", "--redis", redis]
        endpoint = ["--llm-endpoint", f"http://127.0.0.1:{model.server_port}/v1", "--llm-attempts", "1"]
        endpoint += ["--llm-model", f"scripted-{time.time_ns()}"]  # which Redis has not cached
        judged = [f"--family={family}" for family in ("structure", "join", "execution", "value", "question", "explain")]
        processes = [
            Process(directory, "coordinator", [assay, "coordinator", "--servers", servers, "--llm-when", "always"]),
            Process(directory, "worker", [*worker, *judged, "--threads", "2"]),
            Process(directory, "models-1", [*worker, "--family=llm", *endpoint]),
            Process(directory, "models-2", [*worker, "--family=llm", *endpoint]),
            Process(directory, "serve", [assay, "serve", "--servers", servers, "--http", f"127.0.0.1:{port}"]),
        ]
        with running(*processes):
            for process in processes: wait_until(process.is_ready, WAIT_S, "ready")
            caller, coordinator = Caller(port), processes[0]
            asks_a_model_where_it_is_in_doubt(caller, model, coordinator)
            what_one_worker_was_told_none_asks_again(caller, model)
            leaves_it_out_where_the_request_says_so(caller, model)
            goes_on_without_a_model_that_is_away(caller, model)
            asks_the_person_and_takes_the_answer(caller, coordinator)
            assert [process.stop() for process in processes] == [0] * len(processes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
