"""An operator's view of a fleet on real servers: metrics, health, logs, and a start that must fail.

  test_observe.py --assay FILE          needs ASSAY_TEST_KAFKA and ASSAY_TEST_REDIS (tests/live/servers.sh);
                                        else skipped
"""
import argparse
import contextlib
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
SAMPLES = HERE.parents[2] / "deploy" / "samples"
sys.path.append(str(HERE.parents[1] / "unit/k8s"))

import alerts
from ports import free_port
from wait import wait_until

WAIT_S = 60
SECRET = "quite-a-secret-literal"  # part of a request, and must not appear in a log
SAMPLE = re.compile(r'^([a-z_:][a-z0-9_:]*)(\{(?:[a-z_]+="(?:[^"\\\n]|\\.)*",?)*\})? (\S+)$')


class Process:
    """A process of the fleet with --listen."""

    def __init__(self, directory, name, command):
        self.port, self.log = free_port(), directory / f"{name}.log"
        with open(self.log, "wb") as log:
            command = [*command, "--listen", f"127.0.0.1:{self.port}"]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def get(self, path):
        """Returns (status, body), or None without a listener."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError:
            return None

    def is_ready(self):
        assert self.process.poll() is None, self.log.read_text()
        answer = self.get("/readyz")
        return answer and answer[0] == 200

    def has_reported(self):
        """Returns true once the library's reports have arrived. Before that, /readyz only shows that the loops run."""
        return self.is_ready() is not None and total(self.metrics(), "assay_kafka_bytes_total") > 0

    def metrics(self):
        """Returns {name and labels: value}; every line must be valid for Prometheus."""
        values, types = {}, {}
        for line in self.get("/metrics")[1].splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                assert name not in types, f"{name} is there twice"
                types[name] = kind
            elif not line.startswith("# HELP "):
                match = SAMPLE.match(line)
                assert match, line
                base = re.sub("_(bucket|sum|count)$", "", match[1])
                assert match[1] in types or types.get(base) == "histogram", f"{line}: before its TYPE"
                values[match[1] + (match[2] or "")] = float(match[3])
        return values

    def stop(self):
        self.process.terminate()
        return self.process.wait(40)

    def lines(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@contextlib.contextmanager
def running(*processes):
    """Runs the processes for the duration of a test; then ends them all and shows their output."""
    try:
        yield
    finally:
        for one in processes:
            one.process.kill()
            one.process.wait()
            sys.stderr.write(one.log.read_text()[-4000:])


def total(metrics, name):
    return sum(value for key, value in metrics.items() if key == name or key.startswith(name + "{"))


def make_databases(directory):
    for source in SAMPLES.glob("*.sql"):
        place = directory / source.stem
        place.mkdir(parents=True)
        with sqlite3.connect(place / f"{source.stem}.sqlite") as database:
            database.executescript(source.read_text())


def requests():
    """Sends the samples under ids that no earlier run used, because they would be duplicates. One has a literal that
    must not appear in a log; its database does not exist. The last one is not a request."""
    run = f"observe-{time.time_ns()}"
    bodies = [json.loads(line) for line in (SAMPLES / "questions.jsonl").read_text().splitlines()]
    bodies.append({"db": "nowhere", "question": SECRET, "candidates": [f"SELECT '{SECRET}'"]})
    lines = [json.dumps({**body, "id": f"{run}-{i}"}) for i, body in enumerate(bodies)]
    return [*lines, "this is no request: " + SECRET]


def shows_its_work(coordinator, worker, servers):
    wanted = requests()
    text = "\n".join(wanted) + "\n"
    subprocess.run(["kcat", "-P", "-b", servers, "-t", "assay.requests"], input=text.encode(), check=True)
    wait_until(lambda: total(coordinator.metrics(), "assay_verdicts_total") >= len(wanted) - 1, WAIT_S, "verdicts")
    wait_until(lambda: total(coordinator.metrics(), "assay_dlq_total") >= 1, WAIT_S, "a dead letter")
    wait_until(lambda: coordinator.metrics()["assay_state_open_requests"] == 0, WAIT_S, "no open request")
    decided = coordinator.metrics()
    tasks = decided['assay_produced_total{topic="assay.tasks.*"}']
    wait_until(lambda: total(worker.metrics(), "assay_process_duration_seconds_count") >= tasks, WAIT_S, "each task")
    done = worker.metrics()
    assert decided['assay_verdicts_total{decision="failed"}'] >= 0
    assert decided["assay_request_latency_seconds_count"] >= len(wanted) - 1
    assert decided["assay_poll_loop_age_seconds"] < 10
    assert total(decided, "assay_transactions_total") >= 1
    assert total(done, "assay_failed_total") >= 1, "of the database that is not there"
    event = 'assay_cache_events_total{{layer="redis",event="{}"}}'.format
    assert done[event("builds")] + done[event("hits")] >= 3, "an index each; another run may have left them"
    assert done["process_resident_memory_bytes"] > 1 << 20


def alerts_find_their_series(*processes):
    """Checks that the metrics of the rules exist, with these labels and values, while there is no fault."""
    series = [re.fullmatch(r"(\w+)(?:\{(.*)\})?", key).groups() for process in processes for key in process.metrics()]
    shown = [(name, dict(re.findall(r'(\w+)="([^"]*)"', labels or ""))) for name, labels in series]
    for rule in alerts.rules(alerts.source()["spec"]):
        for metric, matchers in alerts.Expression(rule["expr"]).selectors():
            found = any(name == metric and alerts.takes(matchers, labels) for name, labels in shown)
            assert found, f"{rule['alert']} asks for {metric} with {matchers}, which nobody shows"


def logs_are_json_without_literals(coordinator, worker):
    for process in (coordinator, worker):
        for line in process.lines():
            assert {"time", "level", "room", "message"} <= line.keys(), line
        assert SECRET not in process.log.read_text()
        assert {"running", "draining", "ended"} <= {line["message"] for line in process.lines()}
    assert any("task failed" in line["message"] for line in worker.lines())


def a_port_that_is_taken_ends_the_start(command, taken):
    command = [*command, "--listen", f"127.0.0.1:{taken}"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_S)
    assert ended.returncode == 2, ended
    assert f"cannot listen on 127.0.0.1:{taken}" in ended.stderr, ended.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    servers, redis = os.environ.get("ASSAY_TEST_KAFKA"), os.environ.get("ASSAY_TEST_REDIS")
    if not servers or not redis:
        print("skipped: ASSAY_TEST_KAFKA or ASSAY_TEST_REDIS is not set (tests/live/servers.sh)")
        return 77
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        make_databases(directory / "databases")
        subprocess.run([assay, "topics", "create", "--servers", servers], check=True, stdout=subprocess.DEVNULL)
        coordinator_command = [assay, "coordinator", "--servers", servers]
        worker_command = [assay, "worker", "--servers", servers, "--db-root", directory / "databases"]
        worker_command += ["--redis", redis, "--threads", "2"]
        coordinator = Process(directory, "coordinator", coordinator_command)
        worker = Process(directory, "worker", worker_command)
        serve = Process(directory, "serve",
                        [assay, "serve", "--servers", servers, "--http", f"127.0.0.1:{free_port()}"])
        processes = (coordinator, worker, serve)
        with running(*processes):
            for process in processes:
                wait_until(process.has_reported, WAIT_S, "what the library says of itself")
                wait_until(process.is_ready, WAIT_S, "ready")
                assert process.get("/healthz")[0] == 200
                assert process.metrics()["assay_ready"] == 1
            alerts_find_their_series(coordinator, worker)
            shows_its_work(coordinator, worker, servers)
            a_port_that_is_taken_ends_the_start(worker_command, worker.port)
            assert serve.is_ready(), serve.get("/readyz")
            assert [process.stop() for process in processes] == [0, 0, 0]
            logs_are_json_without_literals(coordinator, worker)
    return 0


if __name__ == "__main__":
    sys.exit(main())
