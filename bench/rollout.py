"""Measures what callers notice when coordinators are rolled, added and removed. The pods of k8s/ run as processes, with
eight callers over HTTP.

  bench/rollout.py --assay build/release/cli/assay      needs what tests/live/k8s/test_pods.py needs

Prints, for each phase, how many calls began in it, and their median and longest time.
"""
import argparse
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests/live/k8s"))
import test_pods as t

CALLERS, QUIET_S, MISSED_S = 8, 8, 25  # MISSED_S: longer than session.timeout.ms


class Callers:
    """Callers that send one question after the other until they are stopped."""

    def __init__(self, serve):
        self.serve, self.calls, self.stop = serve, [], False
        self.threads = ThreadPoolExecutor(CALLERS)
        self.running = [self.threads.submit(self._ask) for _ in range(CALLERS)]

    def _ask(self):
        while not self.stop:
            start = time.monotonic()
            assert t.judge(self.serve)["status"] == "validated"
            self.calls.append((start, time.monotonic() - start))

    def end(self):
        self.stop = True
        for one in self.running:
            one.result()


def ready(pod):
    t.wait_until(lambda: pod.passes("readinessProbe"), t.WAIT_S, "ready")


def phases(cluster, running):
    """Returns phases (what, act): an action, after which QUIET_S or MISSED_S pass."""
    second = next(p for p in running if p.name == "assay-coordinator-1")
    _, _, template, container = next(p for p in cluster.manifests.processes() if p[3]["args"][0] == "coordinator")
    added = []

    def roll():
        second.end()
        second.start()
        ready(second)

    def add():
        added.append(t.Pod(cluster, "assay-coordinator-3", template, container))
        running.append(added[0])
        ready(added[0])

    yield "none", lambda: None, QUIET_S
    yield "one of three rolled", roll, QUIET_S
    yield "a fourth added", add, QUIET_S
    yield "the fourth taken away", lambda: added[0].end(), MISSED_S


def measure(cluster):
    assert t.run_job(cluster, "assay-topics").returncode == 0
    running, marks = [], []
    try:
        running.extend(t.pods(cluster))
        for pod in running:
            ready(pod)
        callers = Callers(next(p for p in running if p.name.startswith("assay-serve")))
        time.sleep(QUIET_S)  # waits until the indexes are built
        for what, act, then_s in phases(cluster, running):
            marks.append((time.monotonic(), what))
            act()
            took_s = time.monotonic() - marks[-1][0]
            marks[-1] += (took_s,)
            time.sleep(then_s)
        callers.end()
    finally:
        for pod in running:
            pod.process.kill()
            pod.process.wait()
    print("| what | took | calls | median | longest |\n| --- | --- | --- | --- | --- |")
    for (start, what, took_s), end in zip(marks, [m[0] for m in marks[1:]] + [float("inf")]):
        own = [s for at, s in callers.calls if start <= at < end]
        print(f"| {what} | {took_s:.1f} s | {len(own)} | {statistics.median(own):.2f} s | {max(own):.1f} s |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    folders = ("overlays/sasl", "overlays/sasl/jobs")
    objects = [o for folder in folders for o in t.kustomize.render(t.ROOT / "k8s" / folder)]
    with tempfile.TemporaryDirectory() as directory:
        measure(t.Cluster(assay, Path(directory), t.manifests.Manifests(objects)))


if __name__ == "__main__":
    main()
