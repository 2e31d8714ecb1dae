"""Runs every query of every dashboard (k8s/components/dashboards) in a real Prometheus that scrapes a real fleet under
light traffic.

  test_dashboards.py --assay FILE          needs ASSAY_TEST_KAFKA and ASSAY_TEST_REDIS (tests/live/servers.sh), and
                                           prometheus on the path or beside $ASSAY_TEST_PROMTOOL (deploy/packages.sh);
                                           else skipped

Kafka, Redis, coordinator, workers, `serve` and Prometheus are real; the language model and the trace collector are
scripted.
"""
import argparse
import http.server
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "unit/k8s"))

import alerts
import dashboards
from ports import free_port
from test_models import Caller, start_model
from test_observe import Process, make_databases, running, total
from wait import wait_until

WAIT_S = 60
WINDOW = "2m"  # in place of Grafana's interval: longer than the test
SCRAPE_S = 1

# Panels without data in this test, with the reasons. Their metrics exist all the same.
EMPTY = {
    ("quality", "Remote verifier"): "0 of 0: this fleet has none",
}
# Panels that must be above 0 after this traffic.
MOVES = {
    ("fleet", "Verdicts"), ("fleet", "Requests and verdicts"), ("fleet", "Latency"), ("fleet", "Tasks"),
    ("fleet", "Task duration, p95"),
    ("fleet", "Busy threads"), ("fleet", "Schema indexes"), ("fleet", "Transactions"), ("fleet", "Dead letters"),
    ("fleet", "Bytes"), ("fleet", "CPU"),
    ("fleet", "Memory"), ("fleet", "HTTP callers"), ("fleet", "Log"), ("fleet", "Spans"), ("fleet", "Ready"),
    ("quality", "Validated"), ("quality", "Answered"), ("quality", "Expected right"), ("quality", "Judged in time"),
    ("quality", "Verdicts"),
    ("quality", "P(correct) of answers"), ("quality", "Why there was no answer"), ("quality", "Fire most often"),
    ("quality", "Fired"),
    ("quality", "Signals fired per candidate"), ("quality", "Repairs"), ("quality", "Clarification questions"),
    ("quality", "Language models"),
    ("cost", "Spent"), ("cost", "Spent per hour"), ("cost", "Spent per thousand verdicts"), ("cost", "Asked"),
    ("cost", "Tokens"), ("cost", "Questions"),
    ("cost", "CPU per verdict"), ("cost", "CPU"), ("cost", "Memory"), ("cost", "Time per verdict, by family"),
    ("cost", "Shared work per verdict"),
    ("cost", "Most expensive signals"), ("cost", "Candidates per verdict"), ("cost", "Kafka traffic per verdict"),
    ("cost", "Redis traffic per verdict"),
}


class Collector(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def start_collector():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Prometheus:
    """A Prometheus for the test that scrapes these ports."""

    def __init__(self, program, directory, ports):
        self.port = free_port()
        self.log = directory / "prometheus.log"
        targets = [f"127.0.0.1:{port}" for port in ports]
        config = {"global": {"scrape_interval": f"{SCRAPE_S}s"},
                  "scrape_configs": [{"job_name": "assay", "static_configs": [{"targets": targets}]}]}
        (directory / "prometheus.yml").write_text(json.dumps(config))  # JSON, which is YAML too
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [program, f"--config.file={directory}/prometheus.yml", f"--storage.tsdb.path={directory}/tsdb",
                 f"--web.listen-address=127.0.0.1:{self.port}"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def get(self, path, **parameters):
        """Returns the answer of the API; fails on an error of the query."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters, doseq=True)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {json.load(error)['error']}") from None

    def reads(self, n):
        """Returns true if all n targets were scraped."""
        assert self.process.poll() is None, self.log.read_text()
        try:
            return sum(float(one["value"][1]) for one in self.get("query", query="up")["result"]) == n
        except OSError:
            return False

    def query(self, expression):
        """Returns the current {labels: value} of the values that are numbers."""
        answer = self.get("query", query=expression)
        assert answer["resultType"] == "vector", f"{expression}: {answer['resultType']}"
        values = {json.dumps(one["metric"], sort_keys=True): float(one["value"][1]) for one in answer["result"]}
        return {labels: value for labels, value in values.items() if math.isfinite(value)}


def wave(caller, servers):
    """Sends some requests of each kind."""
    caller.judge("How many vessels are there?", "SELECT count(*) FROM vessel", "SELECT count(*) FROM port",
                 repair="propose", repair_margin=0.01)
    caller.judge("How many sailings were cancelled?", "SELECT count(*) FROM sailing WHERE status = 'canceled'",
                 policy="abstain")
    caller.judge("Which vessels?", "SELECT nam FROM vessel", policy="abstain")
    caller.judge("How many sailings does each vessel have?",
                 "SELECT v.name, count(*) FROM vessel v JOIN sailing s ON s.vessel_id = v.vessel_id"
                 " GROUP BY v.vessel_id",
                 "SELECT v.name, count(s.sailing_id) FROM vessel v LEFT JOIN sailing s"
                 " ON s.vessel_id = v.vessel_id GROUP BY v.vessel_id",
                 policy="ask", ask_gain=0.01)
    subprocess.run(["kcat", "-P", "-b", servers, "-t", "assay.requests"], input=b"this is no request\n", check=True)


def traffic(caller, servers, prometheus, targets):
    """Sends two waves: increase() needs a counter that exists in the first wave and grows in the second."""
    for _ in range(2):
        wave(caller, servers)
        before = time.time()
        oldest = "min(timestamp(up))"
        wait_until(lambda: min(prometheus.query(oldest).values(), default=0) > before + SCRAPE_S, WAIT_S,
                   "another scrape of all")
    assert prometheus.reads(targets)


def queries_answer(prometheus):
    """Checks that each query is valid and has a number, or is known to have none, and that required panels are
    above 0."""
    wrong, moved = [], set()
    for name, board in dashboards.load().items():
        for title, legend, expression in dashboards.queries(board):
            values = prometheus.query(dashboards.filled(expression, WINDOW))
            if bool(values) == ((name, title) in EMPTY):
                wrong.append(f"{name}: {title}, {legend}: {values or 'nothing'} of {expression}")
            if any(value > 0 for value in values.values()):
                moved.add((name, title))
    wrong += [f"{name}: {title} stands at 0" for name, title in sorted(MOVES - moved)]
    assert not wrong, "\n".join(wrong)


def empty_ones_ask_for_what_there_is(prometheus):
    for name, title in EMPTY:
        for expression in [e for t, _, e in dashboards.queries(dashboards.load()[name]) if t == title]:
            for metric, _ in alerts.Expression(dashboards.filled(expression, WINDOW)).matchers:
                assert prometheus.get("series", **{"match[]": metric}), f"{name}: {title} asks for {metric}"


def numbers_are_right(prometheus, caller):
    """Compares values with the known traffic; increase() extrapolates beyond the samples."""
    def one(name, title, index=0):
        found = [e for t, _, e in dashboards.queries(dashboards.load()[name]) if t == title]
        return prometheus.query(dashboards.filled(found[index], WINDOW))

    ready = {json.loads(labels)["part"]: value for labels, value in one("fleet", "Ready").items()}
    assert ready == {"coordinator": 1, "worker": 2, "serve": 1}, ready
    (mean,) = one("quality", "Expected right").values()
    assert 0.3 < mean < 1, f"mean P(correct) {mean}"
    (validated,), (answered,) = one("quality", "Validated").values(), one("quality", "Answered").values()
    assert 0 < validated <= answered < 1, (validated, answered)
    by_p = one("quality", "P(correct) of answers")
    assert sum(by_p.values()) <= 1.5 * caller.n, (by_p, caller.n)
    assert prometheus.get("label/namespace/values",
                          **{"match[]": "assay_part_info"}) == [], "the variable's query; here nothing has the label"


def find_prometheus():
    beside = os.environ.get("ASSAY_TEST_PROMTOOL")
    named = str(Path(beside).with_name("prometheus")) if beside else "prometheus"
    return shutil.which(named) or shutil.which("prometheus")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    servers, redis, program = os.environ.get("ASSAY_TEST_KAFKA"), os.environ.get("ASSAY_TEST_REDIS"), find_prometheus()
    if not servers or not redis or not program:
        print(
            "skipped: no ASSAY_TEST_KAFKA or ASSAY_TEST_REDIS (tests/live/servers.sh), or no prometheus"
            " (deploy/packages.sh)")
        return 77
    model, collector, port = start_model(), start_collector(), free_port()
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        make_databases(directory / "databases")
        subprocess.run([assay, "topics", "create", "--servers", servers], check=True, stdout=subprocess.DEVNULL)
        traces = ["--otlp", f"http://127.0.0.1:{collector.server_port}"]
        worker = [assay, "worker", "--servers", servers, "--db-root", directory / "databases", "--redis", redis,
                  *traces]
        asks = ["--llm-endpoint", f"http://127.0.0.1:{model.server_port}/v1", "--llm-model",
                f"scripted-{time.time_ns()}"]
        asks += ["--llm-price-in", "3", "--llm-price-out", "15"]
        judged = [f"--family={family}" for family in ("structure", "join", "execution", "value", "question", "explain")]
        processes = [
            Process(directory, "coordinator",
                    [assay, "coordinator", "--servers", servers, "--llm-when", "always", *traces]),
            Process(directory, "worker", [*worker, *judged, "--threads", "2"]),
            Process(directory, "models", [*worker, "--family=llm", *asks]),
            Process(directory, "serve", [assay, "serve", "--servers", servers, "--http", f"127.0.0.1:{port}", *traces]),
        ]
        prometheus = Prometheus(program, directory, [process.port for process in processes])
        with running(prometheus, *processes):
            for process in processes:
                wait_until(process.has_reported, WAIT_S, "ready, and what the library says of itself")
            wait_until(lambda: prometheus.reads(len(processes)), WAIT_S, "Prometheus reads all")
            caller = Caller(port)
            traffic(caller, servers, prometheus, len(processes))
            wait_until(lambda: total(processes[1].metrics(), "assay_spans_total") > 0, WAIT_S, "spans")
            queries_answer(prometheus)
            empty_ones_ask_for_what_there_is(prometheus)
            numbers_are_right(prometheus, caller)
            assert [process.stop() for process in processes] == [0] * len(processes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
