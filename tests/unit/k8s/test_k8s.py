"""Checks the manifests of k8s/ against the program, without a cluster. Each check also runs on faulty manifests.

    test_k8s.py --assay build/asan/cli/assay
"""
import argparse
import copy
import functools
import os
import re
import subprocess
import sys
import tempfile

import yaml

import checks
import kustomize
from manifests import ROOT, Manifests, Program

FLEETS = {"base": "jobs", "overlays/scaled": "jobs", "overlays/sasl": "overlays/sasl/jobs",
          "overlays/explain-alone": "jobs", "overlays/llm": "jobs",
          "overlays/one-topic": "jobs"}
LAG, TRACED = "overlays/scaled + components/coordinator-lag", "overlays/scaled + components/tracing"


@functools.cache
def load(name):
    """Returns a fleet and its Jobs, which share a cluster; with "+", one more component is applied."""
    folder, _, component = name.partition(" + ")
    objects = kustomize.render(ROOT / "k8s" / folder)
    if component:
        objects = kustomize.component(ROOT / "k8s" / component, objects)
    return Manifests(objects + [o for o in kustomize.render(ROOT / "k8s" / FLEETS[folder]) if o not in objects])


# --- tests of the checks ---


def at(kind, name, path, value=None):
    """Replaces a value at a path, or removes it."""

    def change(m):
        one = m.find(kind, name)
        try:
            kustomize.step(one, {"op": "remove", "path": path})
        except KeyError:
            assert value is not None, path
        if value is not None:
            kustomize.step(one, {"op": "add", "path": path, "value": value})

    change.__name__ = f"{kind} {name} {path} {'removed' if value is None else value}"
    return change


def config(old, new):
    def change(m):
        data = m.find("ConfigMap", "assay-config")["data"]
        assert old in data["config.yaml"]
        data["config.yaml"] = data["config.yaml"].replace(old, new)

    change.__name__ = f"config.yaml {old} {new}"
    return change


def environment(kind, name, variable, other, value):
    def change(m):
        (env,) = [e for e in kustomize.containers(m.find(kind, name))[0]["env"] if e["name"] == variable]
        env.update(name=other, value=value)

    change.__name__ = f"{name} {other}={value}"
    return change


POD, OWN = "/spec/template/spec", "/spec/template/spec/containers/0"
TRIGGER = "/spec/triggers/0"
WORDS, ROWS = ("Deployment", "assay-worker-words"), ("Deployment", "assay-worker-rows")
ALL = ("Deployment", "assay-worker-all")
SERVE, COORDINATOR = ("Deployment", "assay-serve"), ("StatefulSet", "assay-coordinator")
BUDGET = ("PodDisruptionBudget", "assay-serve")
MESSAGES = "ASSAY_COORDINATOR_TASK_MESSAGES"
SASL = "ASSAY_KAFKA_PROPERTY_SASL_"
SCALED = ("ScaledObject", "assay-worker-rows")
DOWN = "/spec/advanced/horizontalPodAutoscalerConfig/behavior/scaleDown"

SPOILED = [
    (checks.names, "base", at(*ROWS, f"{POD}/volumes/1/configMap/name", "assay")),
    (checks.names, "base", at(*ROWS, f"{POD}/volumes/0/secret/secretName", "databases")),
    (checks.names, "base", at(*COORDINATOR, "/spec/serviceName", "coordinator")),
    (checks.names, "base", at(*SERVE, "/metadata/name", "assay-worker-rows")),
    (checks.names, "base", at(*SERVE, "/metadata/namespace", "assay")),
    (checks.names, "overlays/scaled", at(*SCALED, "/spec/scaleTargetRef/name", "assay-worker")),
    (checks.names, "overlays/scaled", at(*ROWS, "/spec/replicas", 2)),
    (checks.names, "overlays/sasl", at("TriggerAuthentication", "assay-kafka", "/spec/secretTargetRef/0/key", "user")),
    (checks.names, "overlays/sasl", at("TriggerAuthentication", "assay-kafka", "/metadata/name", "kafka")),
    (checks.selectors, "base", at(*ROWS, "/spec/selector/matchLabels/assay~1pool", "words")),
    (checks.selectors, "base", at(*BUDGET, "/spec/selector/matchLabels/app.kubernetes.io~1component", "x")),
    (checks.selectors, "base", at(*BUDGET, "/spec/maxUnavailable", 2)),
    (checks.selectors, "base", at("Service", "assay-serve", "/spec/selector/app.kubernetes.io~1component", "server")),
    (checks.selectors, "base", at(*ROWS, f"{POD}/topologySpreadConstraints/0/matchLabelKeys", ["assay/pool"])),
    (checks.selectors, "overlays/scaled", at("PodMonitor", "assay", "/spec/selector/matchLabels", {"app": "assay"})),
    (checks.hardened, "base", at(*ROWS, f"{POD}/securityContext/runAsUser", 0)),
    (checks.hardened, "base", at(*COORDINATOR, f"{OWN}/securityContext/readOnlyRootFilesystem", False)),
    (checks.hardened, "base", at(*SERVE, f"{POD}/automountServiceAccountToken")),
    (checks.hardened, "base", at(*SERVE, f"{POD}/hostNetwork", True)),
    (checks.hardened, "base", at(*SERVE, f"{OWN}/volumeMounts/0/readOnly")),
    (checks.hardened, "base", at("Job", "assay-topics", f"{OWN}/resources/limits")),
    (checks.commands, "base", at(*COORDINATOR, f"{OWN}/args", ["coordinator", "--replicas", "3"])),
    (checks.commands, "base", at(*WORDS, f"{OWN}/args/2", "structure,grammar")),
    (checks.commands, "base", at("Job", "assay-topics", f"{OWN}/args", ["topics", "make"])),
    (checks.commands, "base", at("Job", "assay-doctor", f"{OWN}/args", ["doctor"])),
    (checks.commands, "overlays/sasl", environment(*ROWS, SASL + "MECHANISM", SASL + "KIND", "x")),
    (checks.commands, "overlays/sasl", environment(*ROWS, SASL + "PASSWORD", SASL + "PASSWORD", "file:/nowhere")),
    (checks.commands, "base", environment(*ROWS, "ASSAY_OBSERVE_LISTEN", "ASSAY_METRICS_LISTEN", ":9090")),
    (checks.configuration, "base", config("max_open", "max_opened")),
    (checks.configuration, "base",
     config("password_file: /run/secrets/assay-databases", "password_file: /run/secrets/dbs")),
    (checks.configuration, "base", at(*ROWS, f"{OWN}/volumeMounts/1/mountPath", "/etc")),
    (checks.configuration, "base", at(*ROWS, f"{OWN}/volumeMounts/0/mountPath", "/run/secrets/db")),
    (checks.service_links, "base", at(*ROWS, f"{POD}/enableServiceLinks")),
    (checks.families, "base", at(*ROWS, f"{OWN}/args/2", "execution,value")),
    (checks.families, "base", at(*ROWS, f"{OWN}/args/2", "execution,value,explain,join")),
    (checks.families, "base", config("coordinator:\n", "coordinator:\n  task_messages: request\n")),
    (checks.families, "overlays/one-topic", at(*ALL, f"{OWN}/args/2", "structure,join,execution,value,question")),
    (checks.instances, "base", at(*COORDINATOR, "/kind", "Deployment")),
    (checks.instances, "base", environment(*COORDINATOR, "ASSAY_COORDINATOR_INSTANCE", "ASSAY_COORDINATOR_GROUP", "g")),
    (checks.health, "base", environment(*ROWS, "ASSAY_OBSERVE_LISTEN", "ASSAY_OBSERVE_LISTEN", ":9100")),
    (checks.health, "base", at(*SERVE, f"{OWN}/args/2", ":8000")),
    (checks.health, "base", at(*SERVE, f"{OWN}/livenessProbe/httpGet/path", "/livez")),
    (checks.health, "base", at(*SERVE, f"{OWN}/livenessProbe/httpGet/path", "/readyz")),
    (checks.health, "base", at(*SERVE, f"{OWN}/startupProbe")),
    (checks.health, "base", at("Service", "assay-serve", "/spec/ports/0/targetPort", "web")),
    (checks.health, "overlays/scaled", at("PodMonitor", "assay", "/spec/podMetricsEndpoints/0/path", "/stats")),
    (checks.endings, "base", at(*SERVE, f"{POD}/terminationGracePeriodSeconds", 40)),
    (checks.endings, "base", config("worker:\n", "worker:\n  drain_ms: 60000\n")),
    (checks.endings, "base", at(*COORDINATOR, "/spec/minReadySeconds", 10)),
    (checks.threads, "base", at(*ROWS, f"{OWN}/args/4", "4")),
    (checks.threads, "base", at(*ROWS, f"{OWN}/args/4", "0")),
    (checks.network, "base", config("servers: kafka:9092", "servers: kafka:9093")),
    (checks.network, "base", config("redis: redis:6379", "redis: redis:6380")),
    (checks.network, "base", at("NetworkPolicy", "assay-serve", "/spec/ingress/0/ports/0/port", 80)),
    (checks.network, "base",
     at("NetworkPolicy", "assay-databases", "/spec/podSelector/matchExpressions/0/values", ["worker"])),
    (checks.scaling, "overlays/scaled", at(*SCALED, f"{TRIGGER}/metadata/topic", "assay.tasks.executions")),
    (checks.scaling, "overlays/scaled", at(*SCALED, TRIGGER)),
    (checks.scaling, "overlays/scaled", at(*SCALED, f"{TRIGGER}/metadata/consumerGroup", "assay-workers")),
    (checks.scaling, "overlays/scaled", at(*SCALED, f"{TRIGGER}/metadata/bootstrapServers", "broker:9092")),
    (checks.scaling, "overlays/scaled", at(*SCALED, f"{TRIGGER}/metadata/excludePersistentLag", "false")),
    (checks.scaling, "overlays/scaled", at(*SCALED, f"{TRIGGER}/metadata/excludePersistentLag", True)),
    (checks.scaling, "overlays/scaled", at(*SCALED, f"{TRIGGER}/useCachedMetrics")),
    (checks.scaling, "overlays/scaled", at(*SCALED, f"{TRIGGER}/metadata/allowIdleConsumers", "true")),
    (checks.scaling, "overlays/scaled", at(*SCALED, f"{TRIGGER}/metadata/lagThreshold", "200")),
    (checks.scaling, "overlays/scaled", at(*SCALED, "/spec/maxReplicaCount", 13)),
    (checks.scaling, "overlays/scaled", at(*SCALED, "/spec/minReplicaCount", 0)),
    (checks.scaling, "overlays/scaled", at(*SCALED, f"{DOWN}/stabilizationWindowSeconds", 300)),
    (checks.scaling, "overlays/scaled", config("task_partitions: 24", "task_partitions: 12")),
    (checks.scaling, "overlays/scaled", config("max_open: 512", "max_open: 64")),
    (checks.scaling, "overlays/scaled", config("processes: 30", "processes: 8")),
    (checks.scaling, "overlays/one-topic",
     at("ScaledObject", "assay-worker-all", f"{TRIGGER}/metadata/topic", "assay.tasks.execution")),
    (checks.scaling, "overlays/one-topic", environment(*COORDINATOR, MESSAGES, MESSAGES, "each")),
    (checks.network, TRACED,
     environment(*ROWS, "ASSAY_OBSERVE_OTLP", "ASSAY_OBSERVE_OTLP", "http://otel-collector:4317")),
    (checks.scaling, LAG, at("ScaledObject", "assay-coordinator", f"{TRIGGER}/metadata/lagThreshold", "500")),
    (checks.scaling, LAG, at("ScaledObject", "assay-coordinator", "/spec/maxReplicaCount", 25)),
    (checks.scaling, LAG, at("ScaledObject", "assay-coordinator", f"{DOWN}/selectPolicy", "Max")),
    (checks.image, "base", at(*ROWS, f"{OWN}/image", "assay:latest")),
]


# --- all tests ---


def spoiled(name, change):
    m = Manifests(copy.deepcopy(load(name).objects))
    change(m)
    return m


def same_as(command, folder):
    """Returns true if kustomize itself gives the same output for a folder."""

    def plain(text):
        objects = [o for o in yaml.safe_load_all(text) if o]
        lists = sorted(yaml.dump(_sorted(o)) for o in objects)
        return re.sub(r"(assay-config)-\w{10}\b", r"\1", "\n".join(lists))

    done = subprocess.run([*command, str(ROOT / "k8s" / folder)], capture_output=True, text=True, timeout=60)
    return not done.returncode and plain(done.stdout) == plain(yaml.dump_all(kustomize.render(ROOT / "k8s" / folder)))


def _sorted(value):
    """Sorts lists whose members have names by these names."""
    if isinstance(value, dict):
        return {k: _sorted(v) for k, v in value.items()}
    if not isinstance(value, list):
        return value
    named = value and all(isinstance(m, dict) and "name" in m for m in value)
    return [_sorted(m) for m in (sorted(value, key=lambda m: m["name"]) if named else value)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    tested, failed = 0, []
    with tempfile.TemporaryDirectory() as scratch:
        program = Program(parser.parse_args().assay, scratch)
        for check, name in [(c, n) for n in [*FLEETS, LAG, TRACED] for c in checks.ALL]:
            tested += 1
            failed += [f"{check.__name__} of {name}: {wrong}" for wrong in list(check(load(name), program))[:1]]
        for check, name, change in SPOILED:
            tested += 1
            if not list(check(spoiled(name, change), program)):
                failed.append(f"{check.__name__} does not notice {change.__name__} in {name}")
        for folder in [*FLEETS, *set(FLEETS.values())] if "ASSAY_TEST_KUSTOMIZE" in os.environ else []:
            tested += 1
            if not same_as(os.environ["ASSAY_TEST_KUSTOMIZE"].split(), folder):
                failed.append(f"kustomize makes something else of {folder}")
    for one in failed:
        print(f"[FAIL] {one}")
    print(f"Synthesis: Tested: {tested} | Passing: {tested - len(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
