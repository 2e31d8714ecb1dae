"""Fills a costs file from a fleet on this machine (bench/fleet.py starts it): what one request costs each part, how long a
message and a transaction take, and, kept apart from those, what the fleet then did, which `check` compares with the model."""
import json
import os
import platform
import re
import sys
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import confluent_kafka as ck
import fleet

PINGS = 200
BUCKET = re.compile(r'(\w+)_bucket\{(?:family="(\w+)",)?le="([^"]+)"\} (\S+)')
SUM = re.compile(r'(\w+)_sum(?:\{family="(\w+)"\})? (\S+)')


def scrape(address):
    """{(histogram, family or ""): {upper bound: count up to it, "sum": seconds of all}}"""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    found = {}
    for name, family, bound, count in BUCKET.findall(text):
        found.setdefault((name, family), {})[float(bound)] = float(count)
    for name, family, seconds in SUM.findall(text):
        if (name, family) in found: found[name, family]["sum"] = float(seconds)
    return found


def grown(before, after, name, family=""):
    """Rows [upper bound in seconds, share, lower bound] of what was counted between two scrapes, and how many that were. The lowest bucket
    is as wide as most tasks are long: all of it has the value with which the sum is right."""
    new, old = after[name, family], before.get((name, family), {})
    grew = {bound: count - old.get(bound, 0) for bound, count in new.items()}
    seconds, bounds = grew.pop("sum"), sorted(grew)
    n, rows, below, low = grew[bounds[-1]], [], 0, 0.0
    for bound in bounds[:-1]:
        if grew[bound] > below: rows.append([bound, (grew[bound] - below) / n, low])
        below, low = grew[bound], bound
    if n and rows and rows[0][2] == 0.0:
        high, share, _ = rows[0]
        mean = (seconds / n - sum((row[0] + row[2]) / 2 * row[1] for row in rows[1:])) / share
        rows[0] = [min(high, max(0.0, mean)), share, min(high, max(0.0, mean))]
    return [[round(value, 7) for value in row] for row in rows], n


def hops(kafka, linger_ms):
    """Seconds from produce to poll of one message at a time, with the producer settings of the fleet."""
    producer = ck.Producer({"bootstrap.servers": kafka, "acks": "all", "enable.idempotence": True, "linger.ms": linger_ms,
                            "compression.type": "lz4"})
    consumer = ck.Consumer({"bootstrap.servers": kafka, "group.id": "hops", "enable.auto.commit": False})
    consumer.assign([ck.TopicPartition("assay.feedback", 0, ck.OFFSET_END)])
    consumer.poll(3)
    seconds = []
    for i in range(PINGS):
        began = time.monotonic()
        producer.produce("assay.feedback", b"x" * 500, str(i), partition=0)
        producer.poll(0)
        while not (message := consumer.poll(5)) or message.error():
            if time.monotonic() - began > 5: sys.exit("simulate.py: a message did not arrive within 5 s")
        seconds.append(time.monotonic() - began)
    consumer.close()
    return sorted(seconds)[5:-5]  # without the 5 fastest and slowest: a rare stall of the machine is not the transport's


def as_rows(seconds, buckets=20):
    """Rows [upper bound, share] with as many values in each."""
    ordered = sorted(seconds)
    return [[round(ordered[min(len(ordered) - 1, (i + 1) * len(ordered) // buckets)], 6), 1 / buckets] for i in range(buckets)]


class Meter:
    """CPU seconds of each part and the histograms, from now on."""

    def __init__(self, servers, parts, addresses):
        self.servers, self.parts, self.addresses = servers, parts, addresses
        self.cpu, self.seen = self.read(), {part: scrape(at) for part, at in addresses.items()}

    def read(self):
        kafka, redis = map(fleet.cpu_of, self.servers.pids())
        return {**{part: fleet.cpu_of(child.pid) for part, child in self.parts.items()}, "broker": kafka, "redis": redis,
                "driver": time.process_time()}

    def cpu_a_request(self, n):
        return {part: round((seconds - self.cpu[part]) / n, 7) for part, seconds in self.read().items()}

    def histogram(self, part, name, family=""):
        return grown(self.seen[part], scrape(self.addresses[part]), name, family)


def tasks(meter, requests):
    """Of each family: how many a request, and how long each took where little else ran."""
    found = {}
    for family in sorted(family for name, family in meter.seen["worker"] if name == "assay_process_duration_seconds"):
        rows, n = meter.histogram("worker", "assay_process_duration_seconds", family)
        if n: found[family] = {"a_request": round(n / requests, 4), "seconds": rows}
    return found


def costs(build, log, db_root, seconds):
    assay = os.path.join(build, "cli", "assay")
    requests = fleet.requests_of(log)
    with fleet.Servers() as servers:
        own = fleet.Fleet(servers, assay)
        at = {part: fleet.free_address() for part in ("coordinator", "worker")}
        parts = {"coordinator": own.start("coordinator", "--max-open", "256", "--instance", "0", "--listen", at["coordinator"]),
                 "worker": own.start("worker", "--db-root", db_root, "--redis", servers.redis, "--threads", "1",
                                     "--listen", at["worker"])}
        fleet.flood(servers, "warm", requests)
        hop = hops(servers.kafka, 5)
        meter = Meter(servers, parts, at)
        full = len(requests) / fleet.flood(servers, "full", requests)
        found = {"machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count(),
                             "load_before": os.getloadavg()[0], "log": os.path.basename(log)},
                 "cpu": {"full": meter.cpu_a_request(len(requests))}}
        found["candidates"] = [len(request["candidates"]) for request in requests]
        found["hop"] = as_rows(hop)
        measured = {"throughput": full}
        for share in (0.2, 0.5, 0.8):
            light = Meter(servers, parts, at)
            taken = fleet.open_loop(servers, f"load{share}", requests, share * full, seconds)
            p50, p95, _ = fleet.quantiles(taken)
            measured[f"{share}"] = {"rate": share * full, "p50": p50 / 1e3, "p95": p95 / 1e3}
            if share == 0.2:
                found["cpu"]["light"] = light.cpu_a_request(len(taken))
                found["commit"] = light.histogram("coordinator", "assay_transaction_duration_seconds")[0]
                found["task"] = tasks(light, len(taken))
        found["measured"] = measured
        own.stop()
    return found


def write(build, log, db_root, seconds, out):
    found = costs(build, log, db_root, seconds)
    counts = found.pop("candidates")
    found["candidates"] = [[n, round(counts.count(n) / len(counts), 6)] for n in sorted(set(counts))]
    with open(out, "w", encoding="utf-8") as file:
        file.write("{" + ",\n ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()) + "}\n")
