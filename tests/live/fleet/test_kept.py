"""A fleet with a verdict cache. Repeated requests are answered without a task until the database changes, with or
without Redis.

  test_kept.py --assay FILE          needs ASSAY_TEST_KAFKA (tests/live/servers.sh) and redis-server; else skipped

Kafka, coordinator, worker and `serve` are real. The test has its own Redis, which it stops.
"""
import argparse
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ports import free_port
from test_models import Caller
from test_observe import Process, make_databases, running, total
from wait import wait_until

WAIT_S = 60
COUNT = ("How many vessels are there?", "SELECT count(*) FROM vessel", "SELECT max(vessel_id) FROM vessel")
OWN = ("id", "cached", "timings")  # fields that differ between verdicts with equal content


class Redis:
    def __init__(self, directory):
        self.port, self.directory = free_port(), directory
        self.address = f"127.0.0.1:{self.port}"
        self.start()

    def start(self):
        command = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir",
                   self.directory]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def state(self):
        """Returns the state of the database that workers published last, or None."""
        command = ["redis-cli", "-p", str(self.port), "GET", "assay:ferries:state"]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def outcome(coordinator, name):
    return coordinator.metrics()[f'assay_verdict_cache_total{{outcome="{name}"}}']


def tasks(coordinator):
    return coordinator.metrics()['assay_produced_total{topic="assay.tasks.*"}']


def without_own(verdict):
    return {key: value for key, value in verdict.items() if key not in OWN}


def ask_until_found(caller, coordinator, *asked, **options):
    """Returns the first verdict and the first cached one. The state is published, and the verdict cached, a moment
    after the first."""
    before = outcome(coordinator, "hits")
    first = last = caller.judge(*asked, **options)
    assert "cached" not in first, "none was kept"
    end = time.monotonic() + 10
    while "cached" not in last:
        assert time.monotonic() < end, coordinator.metrics()
        last = caller.judge(*asked, **options)
    assert last["cached"] is True and outcome(coordinator, "hits") == before + 1
    return first, last


def the_same_again_takes_no_task(caller, coordinator):
    first, _ = ask_until_found(caller, coordinator, *COUNT)
    before = tasks(coordinator)
    again = caller.judge(*COUNT)
    assert again["cached"] and tasks(coordinator) == before
    assert without_own(again) == without_own(first) and again["id"] != first["id"]
    assert again["timings"]["worker_ms"] == 0 and again["timings"]["total_ms"] > 0


def another_question_or_policy_is_judged(caller, coordinator):
    before = tasks(coordinator)
    question, *candidates = COUNT
    others = [caller.judge("How many vessels have we?", *candidates), caller.judge(question, *reversed(candidates)),
              caller.judge(*COUNT, deny_columns=["vessel.name"]), caller.judge(*COUNT, expose="none"),
              caller.judge(*COUNT, threshold=0.99), caller.judge(*COUNT, cache=False)]
    assert not any("cached" in verdict for verdict in others)
    assert tasks(coordinator) > before
    assert outcome(coordinator, "rejected") == 0


def a_write_is_seen(caller, redis, database):
    """A write is noticed within little more than a second, as docs/fleet.md says."""
    for i in range(3):
        before = redis.state()
        with sqlite3.connect(database) as writer:
            writer.execute("UPDATE vessel SET name = name || '!' WHERE vessel_id = (SELECT min(vessel_id) FROM vessel)")
        wait_until(lambda: redis.state() != before, 2, "another state")
        assert "cached" not in caller.judge(*COUNT), f"write {i}"
        wait_until(lambda: "cached" in caller.judge(*COUNT), 10, "found again")


def a_redis_that_is_away_costs_nothing_but_the_work(caller, coordinator, redis):
    redis.process.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    assert "cached" not in caller.judge(*COUNT)
    assert time.monotonic() - began < 10
    assert outcome(coordinator, "late") + outcome(coordinator, "failed") >= 1
    redis.process.send_signal(signal.SIGCONT)
    redis.stop()
    assert "cached" not in caller.judge(*COUNT)
    redis.start()
    wait_until(lambda: "cached" in caller.judge(*COUNT), 60, "found again in a Redis that came back empty")


def a_worker_that_is_gone_leaves_no_state(caller, redis, worker, start_worker):
    assert "cached" in caller.judge(*COUNT)
    worker.process.kill()
    worker.process.wait()
    wait_until(lambda: not redis.state(), 8, "no state, 5 s after the last look")
    other = start_worker()
    with running(other):
        wait_until(other.is_ready, WAIT_S, "ready")
        assert "cached" not in caller.judge(*COUNT)
        wait_until(lambda: "cached" in caller.judge(*COUNT), 10, "found again")
        assert other.stop() == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    servers = os.environ.get("ASSAY_TEST_KAFKA")
    if not servers or not shutil.which("redis-server"):
        print("skipped: ASSAY_TEST_KAFKA is not set (tests/live/servers.sh), or there is no redis-server")
        return 77
    port = free_port()
    with tempfile.TemporaryDirectory() as directory:
        directory = Path(directory)
        make_databases(directory / "databases")
        subprocess.run([assay, "topics", "create", "--servers", servers], check=True, stdout=subprocess.DEVNULL)
        redis = Redis(directory)
        kept = ["--servers", servers, "--redis", redis.address, "--verdict-cache"]

        def start_worker(name="worker"):
            return Process(directory, name,
                           [assay, "worker", *kept, "--db-root", directory / "databases", "--threads", "2"])

        worker = start_worker()
        coordinator = Process(directory, "coordinator", [assay, "coordinator", *kept])
        serve = Process(directory, "serve", [assay, "serve", "--servers", servers, "--http", f"127.0.0.1:{port}"])
        try:
            with running(coordinator, worker, serve):
                for process in (coordinator, worker, serve):
                    wait_until(process.is_ready, WAIT_S, "ready")
                caller = Caller(port)
                the_same_again_takes_no_task(caller, coordinator)
                another_question_or_policy_is_judged(caller, coordinator)
                a_write_is_seen(caller, redis, directory / "databases/ferries/ferries.sqlite")
                a_redis_that_is_away_costs_nothing_but_the_work(caller, coordinator, redis)
                a_worker_that_is_gone_leaves_no_state(caller, redis, worker, lambda: start_worker("worker-2"))
                assert [coordinator.stop(), serve.stop()] == [0, 0]
        finally:
            redis.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
