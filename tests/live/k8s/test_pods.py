"""The pods of k8s/overlays/sasl as processes on real servers, with the arguments, environment, configuration and
Secrets of a cluster. They become ready, answer a caller over HTTP, also while a coordinator is rolled, and end in time.

  test_pods.py --assay FILE          needs ASSAY_TEST_KAFKA_SECURE, _CA and ASSAY_TEST_REDIS (tests/live/servers.sh);
                                     else skipped

Differences from a cluster: addresses, and the broker's mechanism, which is PLAIN. A worker's pool has one pod.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / "tests/unit/k8s"), str(ROOT / "tests/live/fleet")]

import yaml

import kustomize
import manifests
from checks import port_of
from ports import free_port
from test_observe import WAIT_S, make_databases
from wait import wait_until

QUESTION = {"db": "ferries", "question": "How many vessels are there?", "candidates": ["SELECT count(*) FROM vessel"]}


class Cluster:
    """The files of the pods, /etc/assay and /run/secrets, in a local folder."""

    def __init__(self, assay, directory, rendered):
        self.assay, self.directory, self.manifests = assay, directory, rendered
        make_databases(directory / "databases")
        config = yaml.safe_load(rendered.config())
        config["kafka"]["servers"] = os.environ["ASSAY_TEST_KAFKA_SECURE"]
        config["redis"]["redis"] = os.environ["ASSAY_TEST_REDIS"]
        config["databases"] = {"ferries": {"path": str(directory / "databases/ferries/ferries.sqlite")}}
        authority = Path(os.environ["ASSAY_TEST_KAFKA_CA"]).read_text()
        files = {"etc/assay/config.yaml": yaml.dump(config), "run/secrets/assay-kafka/ca.crt": authority}
        files |= {"run/secrets/assay-kafka/username": "assay", "run/secrets/assay-kafka/password": "assay-secret"}
        for name, text in files.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text)

    def environment(self, container, name):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_") or k == "ASSAY_MODELS"}
        for variable in container.get("env", []):
            value = variable.get("value", name)  # only metadata.name comes from the cluster
            clean[variable["name"]] = value.replace("/run/secrets", str(self.directory / "run/secrets"))
        return clean | {"ASSAY_SYSCONFDIR": str(self.directory / "etc"), "ASSAY_KAFKA_PROPERTY_SASL_MECHANISM": "PLAIN"}


class Pod:
    """A pod of a workload: its container as a process, on free ports."""

    def __init__(self, cluster, name, template, container):
        self.name, self.ports = name, {p["containerPort"]: free_port() for p in container.get("ports", [])}
        self.container, self.grace_s = container, template["spec"].get("terminationGracePeriodSeconds", 30)
        self.environment = cluster.environment(container, name)
        self.environment |= {k: self._here(v) for k, v in self.environment.items() if k == "ASSAY_OBSERVE_LISTEN"}
        self.command = [cluster.assay, *(self._here(a) for a in container["args"])]
        self.log = cluster.directory / f"{name}.log"
        self.start()

    def _here(self, text):
        is_address = text.startswith(":")
        return f"127.0.0.1:{self.ports[port_of(text)]}" if is_address else text

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)

    def end(self):
        self.process.terminate()
        return self.process.wait(self.grace_s)

    def url(self, port, path):
        number = next(p["containerPort"] for p in self.container["ports"] if p["name"] == port)
        return f"http://127.0.0.1:{self.ports[number]}{path}"

    def passes(self, probe):
        assert self.process.poll() is None, f"{self.name} ended: {self.log.read_text()[-2000:]}"
        get = self.container[probe]["httpGet"]
        try:
            return urllib.request.urlopen(self.url(get["port"], get["path"]), timeout=5).status == 200
        except OSError:
            return False


def pods(cluster):
    """As many coordinators as in the StatefulSet, and one of every other workload."""
    for _, one, template, container in cluster.manifests.processes():
        is_set = one["kind"] == "StatefulSet"
        for i in range(one["spec"].get("replicas", 3) if is_set else 1):
            yield Pod(cluster, f"{one['metadata']['name']}-{i if is_set else 'x'}", template, container)


def judge(serve):
    """Returns a caller's verdict."""
    body = json.dumps({**QUESTION, "id": f"pods-{time.time_ns()}"}).encode()
    request = urllib.request.Request(serve.url("http", "/v1/judge?wait_ms=60000"), body,
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=90) as answer:
        assert answer.status == 200, answer.status
        return json.loads(answer.read())


def run_job(cluster, name):
    (container,) = kustomize.containers(cluster.manifests.find("Job", name))
    command, environment = [cluster.assay, *container["args"]], cluster.environment(container, name)
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def check(cluster):
    done = run_job(cluster, "assay-topics")
    assert done.returncode == 0, done
    done = run_job(cluster, "assay-doctor")
    assert done.returncode == 0, done
    running = []
    try:
        running.extend(pods(cluster))
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            wait_until(lambda: all(pod.passes(probe) for pod in running), WAIT_S, probe)
        serve = next(pod for pod in running if pod.name.startswith("assay-serve"))
        assert judge(serve)["status"] == "validated"
        rolled = next(pod for pod in running if pod.name == "assay-coordinator-1")
        assert rolled.end() == 0, rolled.log.read_text()
        rolled.start()
        for _ in range(10):  # some of them to the partitions of the rolled coordinator
            assert judge(serve)["status"] == "validated"
        wait_until(lambda: rolled.passes("readinessProbe"), WAIT_S, "ready again")
        for pod in running:
            assert pod.end() == 0, f"{pod.name}: {pod.log.read_text()[-2000:]}"
    finally:
        for pod in running:
            pod.process.kill()
            pod.process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    assay = parser.parse_args().assay
    if missing := [n for n in ("KAFKA_SECURE", "KAFKA_CA", "REDIS") if not os.environ.get(f"ASSAY_TEST_{n}")]:
        print(f"skipped: {', '.join(missing)} of ASSAY_TEST_ not set (tests/live/servers.sh)")
        return 77
    objects = [o for folder in ("overlays/sasl", "overlays/sasl/jobs") for o in kustomize.render(ROOT / "k8s" / folder)]
    with tempfile.TemporaryDirectory() as directory:
        check(Cluster(assay, Path(directory), manifests.Manifests(objects)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
