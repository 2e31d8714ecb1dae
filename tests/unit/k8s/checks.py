"""Checks of the manifests against the program. Each check yields faults. test_k8s.py runs them on every overlay, and on
faulty overlays that the checks must detect."""
import re

import yaml

from manifests import EXTERNAL_SECRETS, ROOT, constant, environment

CLOSE_S = 10  # longest time to leave a group, after --drain-ms (CLOSE_MS, CLOSE_WAIT_MS in proto)


def matches(selector, labels):
    """Returns true if a label selector matches these labels."""
    if any(labels.get(k) != v for k, v in selector.get("matchLabels", {}).items()):
        return False
    return all(labels.get(e["key"]) in e["values"] for e in selector.get("matchExpressions", []))


def labels_of(template):
    return template["metadata"]["labels"]


# --- the manifests among each other ---


def names(m, program):
    """Each object that is referred to exists exactly once."""
    ids = [(o["kind"], o["metadata"]["name"]) for o in m.objects]
    yield from (f"{kind} {name} twice" for kind, name in set(ids) if ids.count((kind, name)) > 1)
    for who, one, template, container in m.pods():
        volumes = {v["name"]: v for v in template["spec"]["volumes"]}
        for volume in volumes.values():
            if "configMap" in volume and not m.find("ConfigMap", volume["configMap"]["name"]):
                yield f"{who}: no ConfigMap {volume['configMap']['name']}"
            if "secret" in volume and volume["secret"]["secretName"] not in EXTERNAL_SECRETS:
                yield f"{who}: nobody makes the Secret {volume['secret']['secretName']}"
        if volumes.keys() != {v["name"] for v in container["volumeMounts"]}:
            yield f"{who}: volumes {sorted(volumes)} are not those mounted"
        if "serviceName" in one["spec"] and not m.find("Service", one["spec"]["serviceName"]):
            yield f"{who}: no Service {one['spec']['serviceName']}"
    for scaled in m.of("ScaledObject"):
        target = scaled["spec"]["scaleTargetRef"]
        if not (one := m.find(target.get("kind", "Deployment"), target["name"])):
            yield f"ScaledObject of {target['name']}, which is not there"
        elif "replicas" in one["spec"]:
            yield f"{target['name']}: an apply would undo what KEDA does (replicas)"
        for trigger in scaled["spec"]["triggers"]:
            if ("authenticationRef" in trigger
                and not m.find("TriggerAuthentication", trigger["authenticationRef"]["name"])):
                yield f"no TriggerAuthentication {trigger['authenticationRef']['name']}"
    for reference in [r for a in m.of("TriggerAuthentication") for r in a["spec"]["secretTargetRef"]]:
        if reference["key"] not in EXTERNAL_SECRETS.get(reference["name"], ()):
            yield f"no {reference['key']} in the Secret {reference['name']}"
    if any("namespace" in o["metadata"] for o in m.objects):
        yield "a namespace, which is the user's to choose"


def selectors(m, program):
    """Selectors match the intended pods, and each process has one disruption budget."""
    for who, one, template, _ in m.processes():
        taken = [w for w, _, other, _ in m.pods() if matches(one["spec"]["selector"], labels_of(other))]
        if taken != [who]:
            yield f"{who} selects {taken}"
        budgets = [b for b in m.of("PodDisruptionBudget") if matches(b["spec"]["selector"], labels_of(template))]
        if len(budgets) != 1 or budgets[0]["spec"].get("maxUnavailable") != 1:
            yield f"{who} has {len(budgets)} budgets, and should have one with maxUnavailable 1"
        for spread in template["spec"]["topologySpreadConstraints"]:
            if not matches(spread["labelSelector"], labels_of(template)):
                yield f"{who}: its spread counts others"
            if set(spread["matchLabelKeys"]) & set(spread["labelSelector"]["matchLabels"]):
                yield f"{who}: the API server refuses a key in both matchLabelKeys and labelSelector"
    looks = [(o, o["spec"]["podSelector"]) for o in m.of("NetworkPolicy")]
    looks += [(o, o["spec"]["selector"]) for o in m.of("PodMonitor", "PodDisruptionBudget")]
    looks += [(o, {"matchLabels": o["spec"]["selector"]}) for o in m.of("Service")]
    for one, selector in looks:
        if not any(matches(selector, labels_of(t)) for _, _, t, _ in m.pods()):
            yield f"{one['kind']} {one['metadata']['name']} selects nothing"
    for _, _, template, _ in m.processes():
        if any(not matches(o["spec"]["selector"], labels_of(template)) for o in m.of("PodMonitor")):
            yield f"nobody reads the metrics of {labels_of(template)}"


def hardened(m, program):
    """Every pod has only the rights that the image needs."""
    user = int(re.search(r"^USER (\d+)", (ROOT / "deploy/Dockerfile").read_text(), re.M)[1])
    pod = {"runAsNonRoot": True, "runAsUser": user, "runAsGroup": user, "fsGroup": user}
    pod["seccompProfile"] = {"type": "RuntimeDefault"}
    own = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    for who, _, template, container in m.pods():
        spec = template["spec"]
        if spec.get("securityContext") != pod or container.get("securityContext") != own:
            yield f"{who}: securityContext is not as it should be"
        if spec.get("automountServiceAccountToken") is not False:
            yield f"{who}: has a token of the API server"
        if {"hostNetwork", "hostPID", "hostIPC"} & spec.keys():
            yield f"{who}: shares the host's"
        if any(not v.get("readOnly") for v in container["volumeMounts"]):
            yield f"{who}: mounts something to write to"
        resources = container.get("resources", {})
        if {"cpu", "memory"} - resources.get("requests", {}).keys() or list(resources.get("limits", {})) != ["memory"]:
            yield f"{who}: wants requests of CPU and memory, and a limit of memory only"


# --- the manifests and the program ---


def commands(m, program):
    """The program accepts every command line with its environment and configuration: it runs until it connects to the
    brokers."""
    pods = list(m.pods())
    for (who, _, _, container), done in zip(pods, program.dry_all(m, [pod[3] for pod in pods])):
        want = "cannot be opened" if container["args"][0] == "doctor" else "(unreachable)"
        if done.returncode != 2 or want not in done.stdout + done.stderr:
            yield f"{who}: assay {' '.join(container['args'])}: {(done.stdout + done.stderr).strip()[-300:]}"
        yield from (f"{who}: no setting is {v}" for v in environment(container) if not program.knows(v))


def configuration(m, program):
    """The ConfigMap is a configuration at the program's path, and so are the files that it names."""
    done = program.dry(m, ["config", "check"], {})
    if done.returncode or done.stderr:
        yield f"config.yaml: {done.stderr.strip()}"
    for who, _, template, container in m.pods():
        mounts = {v["mountPath"]: v["name"] for v in container["volumeMounts"]}
        if mounts.get("/etc/assay") != "config":
            yield f"{who}: no configuration in /etc/assay"
        named = " ".join(environment(container).values())
        if container["args"][0] in ("worker", "doctor"):
            named += m.config()
        secrets = {v["name"]: v["secret"]["secretName"] for v in template["spec"]["volumes"] if "secret" in v}
        for path, name in re.findall(r"(/run/secrets/[\w-]+)/([\w.-]+)", named):
            if name not in EXTERNAL_SECRETS.get(secrets.get(mounts.get(path)), ()):
                yield f"{who}: nothing is mounted that has {path}/{name}"


def service_links(m, program):
    """A Service with one of our names would give every pod variables that the program refuses, so such variables must
    be disabled."""
    refused = program.run(["config", "check"], {"ASSAY_SERVE_SERVICE_HOST": "10.0.0.1"}).returncode
    for who, _, template, _ in m.pods():
        if refused and template["spec"].get("enableServiceLinks") is not False:
            yield f"{who}: does not start where there is a Service assay-serve (enableServiceLinks)"


def families_of(m, program, container):
    return str(program.settings(m, container)["judge", "family"]).split(",")


def sends_requests(m, program):
    """Returns true if coordinators send the tasks of a request in one message, to assay.tasks.all."""
    return any(program.settings(m, c)["coordinator", "task_messages"] == "request" for *_, c in m.pods()
               if c["args"][0] == "coordinator")


def reads_all(m, program, container):
    """Returns true if a worker reads assay.tasks.all: one that serves all families except llm."""
    return set(program.families()) - {"llm"} <= set(families_of(m, program, container))


def families(m, program):
    """Each family has workers and is in one pool. Family llm has workers only if coordinators send it tasks. Whole
    requests have a reader if they are sent."""
    served = [f for *_, c in m.workers() for f in families_of(m, program, c)]
    if sends_requests(m, program) and not any(reads_all(m, program, c) for *_, c in m.workers()):
        yield "nobody reads assay.tasks.all"
    yield from (f"nobody serves {f}" for f in program.families() if f not in served and f != "llm")
    for who, _, _, container in m.processes():
        asks = program.settings(m,
                                container).get(("consult",
                                                "llm_when")) if container["args"][0] == "coordinator" else None
        if container["args"][0] == "coordinator" and bool(asks) != ("llm" in served):
            yield (f"{who}: models are asked {asks or 'never'}, and "
                   f"{'somebody' if 'llm' in served else 'nobody'} serves llm")
    yield from (f"{f} is served twice" for f in set(served) if served.count(f) > 1)


def instances(m, program):
    """A coordinator's name is unique and survives its pod: only the pods of a StatefulSet have such names."""
    for who, one, _, container in m.processes():
        if container["args"][0] != "coordinator":
            continue
        source = [e.get("valueFrom") for e in container["env"] if e["name"] == "ASSAY_COORDINATOR_INSTANCE"]
        if one["kind"] != "StatefulSet" or source != [{"fieldRef": {"fieldPath": "metadata.name"}}]:
            yield f"{who}: its processes have no lasting names of their own"


def port_of(address):
    return int(str(address).rsplit(":", 1)[1])


def health(m, program):
    """Probes, Services and monitors request existing pages at the port where the program listens."""
    pages = set(re.findall(r'{"(/\w+)", "text', (ROOT / "server/health.c").read_text()))
    wanted = {"startupProbe": "/healthz", "livenessProbe": "/healthz", "readinessProbe": "/readyz"}
    for who, _, template, container in m.processes():
        ports = {p["name"]: p["containerPort"] for p in container["ports"]}
        settings = program.settings(m, container)
        listens = {"observe": port_of(settings["observe", "listen"])}
        if container["args"][0] == "serve":
            listens["http"] = port_of(settings["serve", "http"])
        if ports != listens:
            yield f"{who}: listens at {listens} and says {ports}"
        for probe, path in wanted.items():
            get = container.get(probe, {}).get("httpGet", {})
            if get.get("path") != path or path not in pages or get.get("port") != "observe":
                yield f"{who}: {probe} asks {get}"
        for service in m.of("Service"):
            if matches({"matchLabels": service["spec"]["selector"]}, labels_of(template)):
                targets = {p["targetPort"] for p in service["spec"]["ports"]}
                yield from (f"{who} has no port {target}" for target in targets - ports.keys())
        for end in [e for o in m.of("PodMonitor") for e in o["spec"]["podMetricsEndpoints"]]:
            if end["port"] != "observe" or end["path"] not in pages:
                yield f"{who}: metrics are not at {end}"


def endings(m, program):
    """A process that receives SIGTERM has enough time to end, and a rollout waits until a new one counts as healthy."""
    sound_s = constant("proto/bus/kafka/crashes.h", "CRASHES_SOUND_MS") // 1000
    for who, one, template, container in m.processes():
        drain_s = int(program.settings(m, container)[container["args"][0], "drain_ms"]) / 1000
        before = container.get("lifecycle", {}).get("preStop", {}).get("exec", {}).get("command", ["sleep", "0"])
        if template["spec"].get("terminationGracePeriodSeconds", 30) < drain_s + int(before[1]) + CLOSE_S:
            yield f"{who}: killed before it has drained ({drain_s:.0f} s, after {' '.join(before)})"
        if one["spec"].get("minReadySeconds", 0) < sound_s:
            yield f"{who}: a rollout goes on before {sound_s} s"


def threads(m, program):
    """Each thread of a worker has a core. Otherwise the program would use as many threads as the node has cores."""
    for who, _, _, container in m.workers():
        threads = int(program.settings(m, container)["worker", "threads"])
        waits = str(program.settings(m, container)["judge", "family"]) == "llm"  # waits for models most of the time
        if not waits and not 0 < threads <= int(container["resources"]["requests"]["cpu"]):
            yield f"{who}: {threads} threads"


def network(m, program):
    """The network policies permit the connections that the configuration needs."""
    settings = program.settings(m)
    needs = {
        "coordinator": [settings["kafka", "servers"]],
        "serve": [settings["kafka", "servers"]],
        "topics": [settings["kafka", "servers"]],
        "worker": [settings["kafka", "servers"], settings["redis", "redis"], ":5432"],
        "doctor": [":5432"],
    }
    policies = m.of("NetworkPolicy")
    for who, _, template, container in m.pods() if policies else []:
        own = [p["spec"] for p in policies if matches(p["spec"]["podSelector"], labels_of(template))]
        ports = lambda way: {p["port"] for spec in own for rule in spec.get(way, []) for p in rule["ports"]}
        traces = program.settings(m, container).get(("observe", "otlp"))
        for need in needs[container["args"][0]] + ([traces] if traces else []):
            if port_of(need) not in ports("egress"):
                yield f"{who} cannot reach port {port_of(need)}"
        for port in container.get("ports", []):
            if port["containerPort"] not in ports("ingress"):
                yield f"nobody reaches {who} at {port['name']}"
        if 53 not in ports("egress"):
            yield f"{who} cannot look up names"


def asyncapi():
    """Yields (topic, group); tests/unit/cli/test_asyncapi.c compares it with the code."""
    text = yaml.safe_load((ROOT / "proto/asyncapi.yaml").read_text())
    for operation in text["operations"].values():
        if operation["action"] == "receive":
            address = text["channels"][operation["channel"]["$ref"].rsplit("/", 1)[1]]["address"]
            yield address, operation["bindings"]["kafka"]["groupId"]["const"]


def scaling(m, program):
    """The scaling metric is the lag of the served families, and its bounds give every useful number of pods and no
    more."""
    groups = dict(asyncapi())
    most_processes = 0
    for scaled in m.of("ScaledObject"):
        target, spec = scaled["spec"]["scaleTargetRef"], scaled["spec"]
        who, _, _, container = next(p for p in m.pods()
                                    if p[1] is m.find(target.get("kind", "Deployment"), target["name"]))
        settings, part = program.settings(m, container), container["args"][0]
        if part == "worker":
            whole = sends_requests(m, program) and reads_all(m, program, container)
            own = ["assay.tasks.all"] if whole else [f"assay.tasks.{f}" for f in families_of(m, program, container)]
            group, threads, partitions = (groups["assay.tasks.{family}"], int(settings["worker", "threads"]),
                                          "task_partitions")
            most_processes += spec["maxReplicaCount"]
        else:
            own, group, threads, partitions = ["assay.requests"], groups["assay.requests"], 1, "partitions"
        topics = [t["metadata"]["topic"] for t in spec["triggers"]]
        if sorted(topics) != sorted(own):
            yield f"{who} serves {own} and is scaled on {topics}"
        if not 0 < spec["minReplicaCount"] < spec["maxReplicaCount"]:
            yield f"{who}: from {spec['minReplicaCount']} to {spec['maxReplicaCount']}"
        if spec["maxReplicaCount"] * threads > settings["topics", partitions]:
            yield f"{who}: more than the {settings['topics', partitions]} partitions can be shared among"
        for trigger in spec["triggers"]:
            yield from (f"{who}: {wrong}"
                        for wrong in _trigger(m, trigger, settings, group, part, spec["maxReplicaCount"]))
        down = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]["scaleDown"]
        patience = down.get("stabilizationWindowSeconds", 0) * 1000
        if (down.get("selectPolicy") != "Disabled"
            and patience < constant("coordinator/coordinator.c", "DEFAULT_DEADLINE_MS")):
            yield f"{who}: taken away while it may wait for a deadline"
        if part == "coordinator" and down.get("selectPolicy") != "Disabled":
            yield f"{who}: taken away, and missed for session.timeout.ms each time"
    if most_processes and program.settings(m)["worker", "processes"] < most_processes:
        yield f"worker.processes is less than the {most_processes} that there may be"


def _trigger(m, trigger, settings, group, part, most):
    meta = trigger["metadata"]
    if trigger["type"] != "kafka" or any(not isinstance(v, str) for v in meta.values()):
        yield "KEDA's scaler `kafka` takes texts only"
    if meta["bootstrapServers"] != settings["kafka", "servers"]:
        yield f"asks {meta['bootstrapServers']}, and the fleet is at {settings['kafka', 'servers']}"
    if meta["consumerGroup"] != group or settings[part, "group"] != group:
        yield f"group {meta['consumerGroup']}, not {group}"
    if meta.get("excludePersistentLag") != "true" or trigger.get("useCachedMetrics") is not True:
        yield "a message that kills would scale for ever (excludePersistentLag, useCachedMetrics)"
    if meta.get("limitToPartitionsWithLag") != "true" or "allowIdleConsumers" in meta:
        yield "more pods than partitions that have something (limitToPartitionsWithLag)"
    coordinators = m.find("StatefulSet", "assay-coordinator")["spec"].get("replicas", 3)
    open_at_once = coordinators * settings["coordinator", "max_open"]
    threshold = int(meta["lagThreshold"])
    if part == "worker" and threshold * most > open_at_once:
        yield f"{open_at_once} open requests need not make the lag that asks for {most} ({threshold} each)"
    if part == "coordinator" and threshold <= settings["coordinator", "max_open"]:
        yield f"a lag of {threshold} is what one has that keeps up"


def image(m, program):
    """The image is of this version."""
    for who, _, _, container in m.pods():
        if container["image"].rpartition(":")[2] != program.version:
            yield f"{who} runs {container['image']}, this is {program.version}"


ALL = [names, selectors, hardened, commands, configuration, service_links, families, instances, health, endings,
       threads, network,
       scaling, image]
