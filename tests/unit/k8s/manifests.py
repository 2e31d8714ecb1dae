"""The contents of the manifests and the properties of the program: the two sides that checks.py compares."""
import os
import re
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

import kustomize

ROOT = Path(__file__).resolve().parents[3]
STAYS = ("Deployment", "StatefulSet")
EXTERNAL_SECRETS = {  # docs/kubernetes.md says how to create them
    "assay-databases": {"shop", "ca.crt"},
    "assay-llm": {"key"},
    "assay-kafka": {"username", "password", "ca.crt"},
}


class Manifests:
    """The objects of one kustomization."""

    def __init__(self, objects):
        self.objects = objects

    def of(self, *kinds):
        return [o for o in self.objects if o["kind"] in kinds]

    def find(self, kind, name):
        return next((o for o in self.of(kind) if o["metadata"]["name"] == name), None)

    def pods(self):
        """Yields (owner, workload, pod template, its only container)."""
        for one in self.of(*STAYS, "Job"):
            (container,) = kustomize.containers(one)
            yield f"{one['kind']} {one['metadata']['name']}", one, one["spec"]["template"], container

    def processes(self):
        return [pod for pod in self.pods() if pod[1]["kind"] in STAYS]

    def workers(self):
        return [pod for pod in self.pods() if pod[3]["args"][0] == "worker"]

    def config(self):
        return self.find("ConfigMap", "assay-config")["data"]["config.yaml"]


class Program:
    """The real assay program: its options, and its reaction to a command line."""

    def __init__(self, binary, scratch):
        self.binary = binary
        self.scratch = Path(scratch)
        self.sections = self._sections(self.run(["docs", "configuration"]).stdout)
        self.version = self.run(["--version"]).stdout.split()[1]
        self.seen, self.prepared, self.lock = {}, None, threading.Lock()

    def run(self, args, env=None):
        clean = {k: v for k, v in os.environ.items() if not k.startswith("ASSAY_")}
        clean |= {"ASSAY_SYSCONFDIR": str(self.scratch), "XDG_CONFIG_HOME": str(self.scratch / "none")}
        return subprocess.run([self.binary, *args], env=clean | (env or {}), capture_output=True, text=True, timeout=60)

    @staticmethod
    def _sections(docs):
        """Returns {section: {key: {"flag", "variable", "takes", "default"}}} from the tables of `assay docs
        configuration`."""
        sections, keys = {}, {}
        for line in docs.splitlines():
            if line.startswith("## "):
                keys = sections.setdefault(line[3:], {})
            elif row := re.match(r"\| `(\w+)` \| `--([\w-]+)` \| `(\w+)[^|]*` \| ([^|]+) \| `?([^|`]*)`? \|", line):
                keys[row[1]] = dict(zip(("flag", "variable", "takes", "default"), row.groups()[1:]))
        return sections

    def knows(self, variable):
        """Returns true if a name in the environment belongs to a setting."""
        if variable.startswith("ASSAY_KAFKA_PROPERTY_"):
            return True  # librdkafka checks the property when the command runs
        return any(row["variable"] == variable for keys in self.sections.values() for row in keys.values())

    def families(self):
        return self.sections["judge"]["family"]["takes"].removeprefix("list: ").split()

    def settings(self, manifests, container=None):
        """Returns (section, key) -> value, from the ConfigMap, the container's environment and its flags."""
        env = environment(container) if container else {}
        printed = self.dry(manifests, ["config", "print"], env).stdout
        got = {(s, k): v for s, keys in yaml.safe_load(printed).items() if s != "signals" for k, v in keys.items()}
        return got | dict(self._flags(container["args"]) if container else [])

    def _flags(self, args):
        order = [args[0], *self.sections]
        for flag, value in zip(args, args[1:]):
            if flag.startswith("--"):
                at = next((s, k) for s in order for k, row in self.sections.get(s, {}).items()
                          if row["flag"] == flag[2:])
                yield at, value

    def dry(self, manifests, args, env):
        """Runs a command with everything that a pod has except servers, so every connection fails. A local folder has
        the files of its Secrets."""
        config = re.sub(r"host=\S+", "host=127.0.0.1 port=1 connect_timeout=2", self._here(manifests.config()))
        env = {name: self._here(value) for name, value in env.items()}
        key = (config, tuple(args), tuple(sorted(env.items())))
        if key not in self.seen:
            self._prepare(config)
            nobody = {"ASSAY_KAFKA_SERVERS": "127.0.0.1:1",
                      "ASSAY_KAFKA_CONNECT_MS": "100"} if args[0] != "config" else {}
            self.seen[key] = self.run(args, env | nobody)
        return self.seen[key]

    def dry_all(self, manifests, containers):
        """Runs the commands concurrently, since each of them waits for the brokers."""
        with ThreadPoolExecutor() as threads:
            return list(threads.map(lambda c: self.dry(manifests, c["args"], environment(c)), containers))

    def _here(self, text):
        return text.replace("/run/secrets", str(self.scratch / "secrets"))

    def _prepare(self, config):
        with self.lock:
            if self.prepared != config:
                for secret, names in EXTERNAL_SECRETS.items():
                    for name in names:
                        self._write(f"secrets/{secret}/{name}", certificates() if name == "ca.crt" else "a-secret")
                self._write("assay/config.yaml", config)
            self.prepared = config

    def _write(self, name, text):
        path = self.scratch / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def certificates():
    path = Path("/etc/ssl/certs/ca-certificates.crt")
    return path.read_text() if path.exists() else ""


def environment(container):
    """Returns the variables of a container, with placeholders for values that only a cluster has."""
    return {e["name"]: e.get("value", "made-up-0") for e in container.get("env", [])}


def constant(path, name):
    """Returns a number that the sources name."""
    return int(re.search(rf"\b{name} = (\d+)", (ROOT / path).read_text())[1])
