"""Checks deploy/compose.yaml and the Dockerfile against the program, without a container engine. Each check also runs
on a faulty copy.

    test_compose.py --assay build/asan/cli/assay
"""
import argparse
import copy
import re
import sys
import tempfile
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "k8s"))
from checks import CLOSE_S, port_of  # noqa: E402
from manifests import ROOT, Program  # noqa: E402
from verify import verify  # noqa: E402

FILE, DOCKERFILE = ROOT / "deploy/compose.yaml", ROOT / "deploy/Dockerfile"


class Compose:
    """The compose file, with its services in the form of manifests.Program's containers."""

    def __init__(self, content):
        self.services, self.dockerfile = content["services"], content["dockerfile"]

    def config(self):
        return ""  # all settings are in the environment and on the command lines

    def ours(self):
        """Yields (name, service, container) of the services that run the program."""
        for name, service in self.services.items():
            if service["image"] == "assay":
                env = [{"name": k, "value": str(v)} for k, v in service.get("environment", {}).items()]
                yield name, service, {"args": service["command"], "env": env}

    def processes(self):
        return [one for one in self.ours() if one[2]["args"][0] != "topics"]

    def workers(self):
        return [one for one in self.ours() if one[2]["args"][0] == "worker"]


def mounts(service):
    """Returns the mount points of a service's volumes."""
    return [v.rsplit(":", 2)[1] for v in service.get("volumes", [])]


def here(service, container):
    """Returns the container in a form for this machine: with a local folder in place of each volume."""
    folder = str(ROOT / "deploy")
    return {**container,
            "env": [{**e, "value": folder} if e["value"] in mounts(service) else e for e in container["env"]]}


def commands(compose, program):
    """The program accepts every command line with its environment: it runs until it connects to the brokers."""
    ours = list(compose.ours())
    for (who, _, container), done in zip(ours, program.dry_all(compose, [here(*one[1:]) for one in ours])):
        if done.returncode != 2 or "(unreachable)" not in done.stdout + done.stderr:
            yield f"{who}: assay {' '.join(container['args'])}: {(done.stdout + done.stderr).strip()[-300:]}"
        yield from (f"{who}: no setting is {e['name']}" for e in container["env"] if not program.knows(e["name"]))


def health(compose, program):
    """A health check requests an existing page at the port where its process listens."""
    pages = set(re.findall(r'{"(/\w+)", "text', (ROOT / "server/health.c").read_text()))
    for who, service, container in compose.processes():
        script = service.get("healthcheck", {}).get("test", [""])[-1]
        asked = re.search(r"/dev/tcp/127\.0\.0\.1/(\d+) .*GET (/\w+) ", script)
        listens = program.settings(compose, container).get(("observe", "listen"))
        if not asked or not listens or int(asked[1]) != port_of(listens) or asked[2] not in pages:
            yield f"{who}: listens at {listens or 'nothing'}, and the check is {script}"


def image(compose, program):
    """Only one service builds the image. Each build labels it anew, and the next `up` restarts services with another
    image."""
    builds = [(who, service["build"]) for who, service, _ in compose.ours() if "build" in service]
    if [who for who, _ in builds] != ["topics"]:
        yield f"built by {[who for who, _ in builds]}, and all wait for topics"
    for who, build in builds:
        context = (FILE.parent / build["context"]).resolve()
        if context != ROOT or not (context / build["dockerfile"]).exists():
            yield f"{who}: there is no {build}"


def dockerfile(compose, program):
    """Every engine can build it: Podman and Buildah run each step by /bin/sh. The image's user is nobody, by number."""
    if re.search(r"^SHELL", compose.dockerfile, re.M):
        yield "SHELL"
    users = re.findall(r"^(USER|FROM)\b *(\d*)", compose.dockerfile, re.M)
    if users[-1][0] != "USER" or int(users[-1][1] or 0) == 0:
        yield f"runs as {users[-1]}"


def hardened(compose, program):
    """The services have only the rights that the image needs."""
    for who, service, _ in compose.processes():
        own = (service.get("read_only"), service.get("cap_drop"), service.get("security_opt"))
        if own != (True, ["ALL"], ["no-new-privileges:true"]):
            yield f"{who}: {own}"
        yield from (f"{who}: {v} can be written" for v in service.get("volumes", []) if not v.endswith(":ro"))


def endings(compose, program):
    """A process that receives SIGTERM has enough time to end."""
    for who, service, container in compose.processes():
        drain_s = int(program.settings(compose, container)[container["args"][0], "drain_ms"]) / 1000
        if int(service.get("stop_grace_period", "10s").removesuffix("s")) < drain_s + CLOSE_S:
            yield f"{who}: killed before it has drained ({drain_s:.0f} s)"


def families(compose, program):
    """Each family except llm has workers and is in one pool. Family llm has none, because no model is configured."""
    served = [f for _, _, c in compose.workers()
              for f in str(program.settings(compose, c)["judge", "family"]).split(",")]
    if sorted(served) != sorted(set(program.families()) - {"llm"}):
        yield f"served are {sorted(served)}"


def instances(compose, program):
    """Each coordinator has its own name."""
    names = [c["args"] for _, _, c in compose.ours() if c["args"][0] == "coordinator"]
    if not names or len({tuple(n) for n in names}) != len(names) or not all("--instance" in n for n in names):
        yield f"coordinators are {names}"


def listeners(text):
    """Returns {name: (host, port)}."""
    return {name: (host, int(port)) for name, host, port in re.findall(r"(\w+)://([^:,]*):(\d+)", text)}


def network(compose, program):
    """Every address has a listener: inside under the name of the service, outside at a published port."""
    kafka = compose.services["kafka"]["environment"]
    advertised, listens = listeners(kafka["KAFKA_ADVERTISED_LISTENERS"]), listeners(kafka["KAFKA_LISTENERS"])
    if any(listens.get(name, ("", 0))[1] != port for name, (_, port) in advertised.items()):
        yield f"Kafka listens at {listens} and says {advertised}"
    inside = {f"{host}:{port}" for host, port in advertised.values() if host in compose.services}
    published = {p.rsplit(":", 1)[-1] for p in compose.services["kafka"]["ports"]}
    if {str(port) for host, port in advertised.values() if host == "localhost"} != published:
        yield f"Kafka publishes {published} and says {advertised}"
    checked = re.search(r"localhost/(\d+)", compose.services["kafka"]["healthcheck"]["test"][-1])
    if not checked or f"kafka:{checked[1]}" not in inside:
        yield "Kafka is not checked where it is asked"
    if any(b not in published for b in re.findall(r"-b localhost:(\d+)", FILE.read_text())):
        yield "the file's own commands ask another port"
    for who, service, container in compose.ours():
        settings = program.settings(compose, container)
        if settings["kafka", "servers"] not in inside:
            yield f"{who} asks {settings['kafka', 'servers']}, Kafka is at {inside}"
        if container["args"][0] == "worker" and settings["redis", "redis"].split(":")[0] not in compose.services:
            yield f"{who}: no service is {settings['redis', 'redis']}"
        if (container["args"][0] == "serve"
            and str(port_of(settings["serve", "http"])) not in service["ports"][0].rsplit(":", 1)):
            yield f"{who}: publishes {service['ports']}"


def databases(compose, program):
    """Workers search for databases where they are mounted."""
    for who, service, container in compose.workers():
        roots = program.settings(compose, container)["database", "db_root"]
        if not roots or not set(roots) <= set(mounts(service)):
            yield f"{who} looks in {roots}, mounted is {mounts(service)}"


ALL = [commands, health, image, dockerfile, hardened, endings, families, instances, network, databases]

SPOILED = [  # check, path in the file, new value or none
    (commands, "services/serve/command", ["serve", "--port", ":8080"]),
    (commands, "services/topics/command", ["topics", "make"]),
    (commands, "services/worker-rows/environment/ASSAY_METRICS_LISTEN", ":9100"),
    (health, "services/serve/environment", {"ASSAY_KAFKA_SERVERS": "kafka:9092"}),  # the original content
    (health, "services/worker-rows/environment/ASSAY_OBSERVE_LISTEN", "127.0.0.1:9101"),
    (health, "services/serve/healthcheck", None),
    (health, "services/serve/healthcheck/test",
     ["CMD", "bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9100 && echo GET /ready >&3"]),
    # the original content, with the other files
    (image, "services/serve/build", {"context": "..", "dockerfile": "deploy/Dockerfile"}),
    (image, "services/topics/build", None),
    (image, "services/topics/build/context", "."),
    (dockerfile, "dockerfile", DOCKERFILE.read_text() + 'SHELL ["/bin/bash", "-c"]\n'),
    (dockerfile, "dockerfile", DOCKERFILE.read_text() + "USER root\n"),
    (hardened, "services/serve/read_only", None),
    (hardened, "services/worker-rows/volumes", ["/databases:/databases"]),
    (endings, "services/coordinator-0/stop_grace_period", None),
    (endings, "services/serve/command", ["serve", "--http", ":8080", "--drain-ms", "60000"]),
    (families, "services/worker-rows/command", ["worker", "--family", "execution,value"]),
    (families, "services/worker-rows/command", ["worker", "--family", "execution,value,explain,join"]),
    (instances, "services/coordinator-1/command", ["coordinator", "--instance", "0"]),
    (network, "services/kafka/environment/KAFKA_LISTENERS", "INSIDE://:9092,CONTROLLER://:9093,OUTSIDE://:9095"),
    (network, "services/kafka/ports", ["127.0.0.1:9092:9092"]),
    (network, "services/kafka/healthcheck/test", ["CMD", "bash", "-c", "exec 3<>/dev/tcp/localhost/9093"]),
    (network, "services/topics/environment/ASSAY_KAFKA_SERVERS", "broker:9092"),
    (network, "services/worker-rows/environment/ASSAY_REDIS_REDIS", "cache:6379"),
    (network, "services/serve/ports", ["127.0.0.1:8080:80"]),
    (databases, "services/worker-rows/environment/ASSAY_DATABASE_DB_ROOT", "/data"),
    (databases, "services/worker-words/volumes", None),
]


def spoiled(content, path, value):
    content = copy.deepcopy(content)
    *steps, last = path.split("/")
    at = content
    for step in steps:
        at[step] = copy.copy(at[step])  # a fault in a shared anchor affects only this copy
        at = at[step]
    assert value is not None or last in at, path
    at.pop(last, None)
    if value is not None:
        at[last] = value
    return Compose(content)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--assay", required=True)
    content = yaml.safe_load(FILE.read_text()) | {"dockerfile": DOCKERFILE.read_text()}
    cases = [(check, f"{path}: {value}", spoiled(content, path, value)) for check, path, value in SPOILED]
    with tempfile.TemporaryDirectory() as scratch:
        return verify(ALL, cases, Compose(content), Program(parser.parse_args().assay, scratch))


if __name__ == "__main__":
    sys.exit(main())
