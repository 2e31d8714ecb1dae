#!/usr/bin/env python3
"""A coordinator without a supervisor, on a broker of its own that is killed. The coordinator recovers in the same
process, and one that another process replaced stays down.

  test_alone.py --assay FILE          starts its own Kafka (tests/live/servers.sh); skipped without ASSAY_TEST_KAFKA
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from test_observe import make_databases

HERE = Path(__file__).resolve().parent
SERVERS = HERE.parent / "servers.sh"
SESSION_MS, WAIT_S = 6000, 120
AWAY_S = 2 * SESSION_MS / 1000


class Alone:
    def __init__(self, assay, directory):
        self.assay, self.directory, self.n = assay, directory, 0
        self.live = directory / "live"
        subprocess.run([SERVERS, "start", self.live, "kafka"], check=True)
        env = (self.live / "env").read_text()
        self.servers = next(line.split("=", 1)[1] for line in env.splitlines() if "ASSAY_TEST_KAFKA=" in line)
        subprocess.run([assay, "topics", "create", "--servers", self.servers, "--partitions", "2", "--task-partitions",
                        "2"],
                       check=True, stdout=subprocess.DEVNULL)

    def start(self, name, *arguments):
        with open(self.directory / f"{name}.log", "ab") as log:
            return subprocess.Popen([self.assay, *arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def coordinator(self, name):
        return self.start(name, "coordinator", "--servers", self.servers, "--instance", "a", "-X",
                          f"session.timeout.ms={SESSION_MS}",
                          "-X", "heartbeat.interval.ms=500")

    def log(self, name):
        return (self.directory / f"{name}.log").read_text()

    def feed(self, n):
        """Judges n requests on the fleet and checks that each has one verdict."""
        self.n += 1
        log, out = self.directory / f"log-{self.n}.jsonl", self.directory / f"verdicts-{self.n}.jsonl"
        log.write_text("".join(
            json.dumps({"id": f"{self.n}-{i}", "db": "ferries", "question": "How many vessels are there?",
                        "candidates": [f"SELECT count(*) FROM vessel WHERE {i} = {i}"]}) + "\n" for i in range(n)))
        return subprocess.Popen([self.assay, "replay", log, "--feed", "assay.requests", "--servers", self.servers,
                                 "--out", out, "--force",
                                 "--rate", "20", "--wait-ms", str(WAIT_S * 1000)], stderr=subprocess.PIPE,
                                text=True), out

    def break_broker(self):
        subprocess.run([SERVERS, "kill", self.live, "kafka-1"], check=True)
        time.sleep(AWAY_S)
        subprocess.run([SERVERS, "up", self.live, "kafka-1"], check=True)


def check_comes_back(alone, coordinator):
    """The broker fences the coordinator only now and then. Repeats until it does, at most six times."""
    for _ in range(6):
        feeding, out = alone.feed(400)
        time.sleep(3)
        alone.break_broker()
        _, said = feeding.communicate(timeout=2 * WAIT_S)
        ids = [json.loads(line)["id"] for line in out.read_text().splitlines()]
        assert feeding.returncode == 0 and len(ids) == 400 == len(set(ids)), (
            feeding.returncode, said, alone.log("first")[-3000:])
        assert coordinator.poll() is None, alone.log("first")[-3000:]
        if "restarting: the state is read back" in alone.log("first"):
            return True
    return False


def check_replaced_stays_down(alone, first):
    second = alone.coordinator("second")
    try:
        assert first.wait(WAIT_S) == 2, alone.log("first")[-3000:]
        assert "another process uses --instance a" in alone.log("first"), alone.log("first")[-3000:]
        assert second.poll() is None, alone.log("second")[-3000:]
        feeding, _ = alone.feed(20)
        _, said = feeding.communicate(timeout=2 * WAIT_S)
        assert feeding.returncode == 0, (said, alone.log("second")[-3000:])
    finally:
        second.terminate()
    assert second.wait(60) == 0, alone.log("second")[-3000:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--assay", required=True)
    args = parser.parse_args()
    if not os.environ.get("ASSAY_TEST_KAFKA"):
        print("skipped: ASSAY_TEST_KAFKA is not set (tests/live/servers.sh)")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="assay-alone.") as scratch:
        alone = Alone(args.assay, Path(scratch))
        make_databases(alone.directory / "databases")
        running = []
        try:
            running.append(alone.coordinator("first"))
            running.append(alone.start("worker", "worker", "--servers", alone.servers, "--db-root",
                                       alone.directory / "databases"))
            fenced = check_comes_back(alone, running[0])
            check_replaced_stays_down(alone, running[0])
            print("fenced itself and came back" if fenced else "did not fence itself in six tries")
        finally:
            for process in running:
                process.send_signal(signal.SIGKILL)
                process.wait()
            subprocess.run([SERVERS, "stop", alone.live], check=True)


if __name__ == "__main__":
    main()
