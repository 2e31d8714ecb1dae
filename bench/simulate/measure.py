"""Fills a costs file from a fleet on this machine (bench/fleet.py starts it): what one request costs each part, how long a
message and a transaction take, and, kept apart from those, what the fleet then did, which `check` compares with the model."""
import json
import os
import platform
import re
import sys
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS = os.environ.get("ASSAY_MODELS") or os.path.join(HERE, "..", "..", "models")  # as a program in a build folder finds them
sys.path.insert(0, os.path.join(HERE, ".."))
import fleet
from engine import LIGHT

LOADS = (LIGHT, 0.5, 0.8)
BUCKET = re.compile(r'(\w+)_bucket\{(?:(?:family|stage)="(\w+)",)?le="([^"]+)"\} (\S+)')
SUM = re.compile(r'(\w+)_sum(?:\{(?:family|stage)="(\w+)"\})? (\S+)')


def scrape(address):
    """{(histogram, family or stage or ""): {upper bound: count up to it, "sum": seconds of all}}"""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    found = {}
    for name, label, bound, count in BUCKET.findall(text):
        found.setdefault((name, label), {})[float(bound)] = float(count)
    for name, label, seconds in SUM.findall(text):
        if (name, label) in found: found[name, label]["sum"] = float(seconds)
    return found


def grown(before, after, name, label=""):
    """Rows [upper bound in seconds, share, lower bound] of what was counted between two scrapes, and how many that were. Buckets are wide:
    values lie around the place in theirs, the same in each, with which the sum is right."""
    new, old = after[name, label], before.get((name, label), {})
    grew = {bound: count - old.get(bound, 0) for bound, count in new.items()}
    seconds, bounds = grew.pop("sum"), sorted(grew)
    n, rows, below, low = grew[bounds[-1]], [], 0, 0.0
    for bound in bounds[:-1]:
        if grew[bound] > below: rows.append((low, bound, (grew[bound] - below) / n))
        below, low = grew[bound], bound
    least, most = sum(share * low for low, _, share in rows), sum(share * high for _, high, share in rows)
    place = min(1.0, max(0.0, (seconds / n - least) / (most - least))) if rows else 0.0
    half = min(place, 1 - place)
    rows = [(low + (place + half) * (high - low), share, low + (place - half) * (high - low)) for low, high, share in rows]
    return [[round(value, 7) for value in row] for row in rows], n


def cpu_of_threads(pid, name):
    """CPU seconds of a process's threads of that name: `coordinator`, or `worker-0` and so on."""
    seconds = 0.0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/stat", encoding="utf-8") as stat: before, _, after = stat.read().rpartition(")")
        except (FileNotFoundError, ProcessLookupError): continue  # it has ended
        fields = after.split()
        if before.partition("(")[2].partition("-")[0] == name: seconds += (int(fields[11]) + int(fields[12])) / fleet.TICK
    return seconds


def cpu_of_children(pid):
    """CPU seconds of those that have ended and those that run, theirs included."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat: fields = stat.read().rpartition(")")[2].split()
    seconds, children = (int(fields[13]) + int(fields[14])) / fleet.TICK, []
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/children", encoding="utf-8") as names: children += names.read().split()
        except (FileNotFoundError, ProcessLookupError): continue
    for child in children:
        try: seconds += fleet.cpu_of(child) + cpu_of_children(child)
        except (FileNotFoundError, ProcessLookupError): continue
    return seconds


class Meter:
    """CPU seconds of each part and the histograms, from now on."""

    def __init__(self, servers, parts, addresses):
        self.servers, self.parts, self.addresses = servers, parts, addresses
        self.cpu, self.own, self.seen = self.read(), self.read_own(), {part: scrape(at) for part, at in addresses.items()}

    def read(self):
        kafka, redis = map(fleet.cpu_of, self.servers.pids())
        return {**{part: fleet.cpu_of(child.pid) + cpu_of_children(child.pid) for part, child in self.parts.items()}, "broker": kafka,
                "redis": redis, "driver": time.process_time()}

    def read_own(self):
        """Of that what is not the Kafka library's threads': theirs are named after the part, and children do a thread's work."""
        return {part: cpu_of_threads(child.pid, part) + cpu_of_children(child.pid) for part, child in self.parts.items()}

    def put_cpu(self, found, load, n):
        """Of each of n requests."""
        for key, now, before in (("cpu", self.read(), self.cpu), ("own_cpu", self.read_own(), self.own)):
            found.setdefault(key, {})[load] = {part: round((seconds - before[part]) / n, 7) for part, seconds in now.items()}

    def histogram(self, part, name, label=""):
        return grown(self.seen[part], scrape(self.addresses[part]), name, label)


def tasks(meter, requests):
    """Of each family: how many a request, and how long each took where little else ran."""
    found = {}
    for family in sorted(label for name, label in meter.seen["worker"] if name == "assay_process_duration_seconds"):
        rows, n = meter.histogram("worker", "assay_process_duration_seconds", family)
        if n: found[family] = {"a_request": round(n / requests, 4), "seconds": rows}
    return found


def costs(build, log, db_root, seconds):
    assay, load_before = os.path.join(build, "cli", "assay"), os.getloadavg()[0]
    requests = fleet.requests_of(log)
    with fleet.Servers() as servers:
        own = fleet.Fleet(servers, assay)
        at = {part: fleet.free_address() for part in ("coordinator", "worker")}
        parts = {"coordinator": own.start("coordinator", "--max-open", "256", "--instance", "0", "--listen", at["coordinator"]),
                 "worker": own.start("worker", "--db-root", db_root, "--redis", servers.redis, "--threads", "1",
                                     "--listen", at["worker"])}
        fleet.flood(servers, "warm", requests)
        meter = Meter(servers, parts, at)
        full = len(requests) / fleet.flood(servers, "full", requests)
        with open(os.path.join(MODELS, "decision.json"), encoding="utf-8") as file: strategy = json.load(file)["strategy"]
        found = {"strategy": strategy,
                 "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count(),
                             "load_before": load_before, "log": os.path.basename(log)}}
        meter.put_cpu(found, "full", len(requests))
        counts = [len(request["candidates"]) for request in requests]
        found["candidates"] = [[n, round(counts.count(n) / len(counts), 6)] for n in sorted(set(counts))]
        found["measured"] = {"throughput": full}
        for load in LOADS:
            meter = Meter(servers, parts, at)
            taken = fleet.open_loop(servers, f"load{load}", requests, load * full, seconds)
            p50, p95, _ = fleet.quantiles(taken)
            found["measured"][f"{load}"] = {"rate": load * full, "p50": p50 / 1e3, "p95": p95 / 1e3}
            if load == LIGHT:
                meter.put_cpu(found, "light", len(taken))
                found["request_hop"], found["hop"] = (meter.histogram("coordinator", "assay_stage_duration_seconds", stage)[0]
                                                      for stage in ("request_read", "result_read"))
                found["commit"] = meter.histogram("coordinator", "assay_transaction_duration_seconds")[0]
                found["task"] = tasks(meter, len(taken))
        own.stop()
    return found


def keep_workers(found, out):
    """The rows of `bench/fleet.py scale`, which takes another build, stay as they are, with what they are of."""
    if not os.path.exists(out): return
    with open(out, encoding="utf-8") as file: before = json.load(file)
    if "workers" in before["measured"]:
        found["measured"]["workers"] = before["measured"]["workers"]
        found["machine"]["workers"] = before["machine"].get("workers", "of an earlier build")


def write(build, log, db_root, seconds, out):
    found = costs(build, log, db_root, seconds)
    keep_workers(found, out)
    with open(out, "w", encoding="utf-8") as file:
        file.write("{" + ",\n ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()) + "}\n")
