#!/usr/bin/python3
"""Measures the fleet on one machine, with real servers that this script starts and stops.

  fleet.py messages BUILD                          a worker that computes nothing, against librdkafka alone
  fleet.py judge    BUILD LOG --db-root DIR        CPU of a candidate against the embedded replay; latency under load,
  by stage fleet.py kept     BUILD LOG --db-root DIR        verdicts that were kept against judgements of the same
  requests fleet.py far      BUILD LOG --db-root DIR        latency with brokers that answer what belongs to a
  transaction 10 ms later, by producers fleet.py scale    BUILD                          1, 2, 4, 8 workers of a family
  slowed by 20 ms; recovery after kill -9

With --csv FILE the figures of judge and scale are also written to a file.

BUILD is a release build (build/release). `scale` needs one with -DASSAY_MUTATIONS=ON, whose workers can be slowed.
Latency is open loop: each request has a due time, whether or not the earlier ones were answered, and its latency counts
from that time. Kafka runs with the JVM options of its own scripts. It is warmed up for a minute, because its compiler
needs that long. The interpreter is Debian's, whose python3-confluent-kafka is used. Our own code runs only in the
measured processes.
"""
import argparse
import atexit
import json
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import confluent_kafka as ck

import results

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "tests", "live", "fleet"))
from ports import free_port  # noqa: E402
SERVERS = os.path.join(HERE, "..", "tests", "live", "servers.sh")
KAFKA_JVM = "-server -Xms1g -Xmx1g -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35"
WARM_S = 60
TICK = os.sysconf("SC_CLK_TCK")
PATIENCE = 120  # seconds without a verdict


class Servers:
    """Kafka and Redis in a scratch directory."""

    def __enter__(self):
        self.at = tempfile.mkdtemp(prefix="assay-bench.")
        subprocess.run([SERVERS, "start", self.at, "kafka", "redis"], check=True, stderr=subprocess.DEVNULL,
                       env={"ASSAY_TEST_KAFKA_JVM": KAFKA_JVM, **os.environ})
        self.env = {}
        with open(os.path.join(self.at, "env"), encoding="utf-8") as lines:
            for line in lines:
                name, _, value = line.removeprefix("export ").strip().partition("=")
                self.env[name] = value.strip("'")
        self.kafka, self.redis = self.env["ASSAY_TEST_KAFKA"], self.env["ASSAY_TEST_REDIS"]
        return self

    def pids(self):
        names = ["kafka-1", "redis"]
        return [int(subprocess.check_output([SERVERS, "pid", self.at, name])) for name in names]

    def __exit__(self, *_):
        subprocess.run([SERVERS, "stop", self.at], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.at, ignore_errors=True)


def cpu_of(pid):
    """Returns the CPU seconds of a process and its threads so far, without its children."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK


class Fleet:
    """Our processes, connected to those servers."""

    def __init__(self, servers, assay, partitions=8, task_partitions=8):
        self.servers, self.assay, self.children = servers, assay, []
        atexit.register(self.stop)  # stops the processes if a measurement fails
        subprocess.run([assay, "topics", "create", "--servers", servers.kafka, "--partitions", str(partitions),
                        "--task-partitions", str(task_partitions)], check=True, stdout=subprocess.DEVNULL)

    def start(self, *arguments, servers=None, **environment):
        child = subprocess.Popen([self.assay, *arguments, "--servers", servers or self.servers.kafka, "--quiet"],
                                 stdout=subprocess.DEVNULL, env={**os.environ, **environment})
        self.children.append(child)
        return child

    def cpu(self):
        return sum(cpu_of(child.pid) for child in self.children if child.poll() is None)

    def stop(self):
        for child in self.children:
            child.send_signal(signal.SIGTERM)
        for child in self.children:
            try:
                child.wait(40)
            except subprocess.TimeoutExpired:
                child.kill()


class Verdicts(threading.Thread):
    """Reads verdicts that are committed from now on. Notes when each id was first seen."""

    def __init__(self, kafka):
        super().__init__(daemon=True)
        self.consumer = ck.Consumer({"bootstrap.servers": kafka, "group.id": "bench", "enable.auto.commit": False,
                                     "isolation.level": "read_committed", "fetch.wait.max.ms": 10})
        topic = self.consumer.list_topics("assay.verdicts", timeout=20).topics["assay.verdicts"]
        ends = [ck.TopicPartition("assay.verdicts", p, self.consumer.get_watermark_offsets(
            ck.TopicPartition("assay.verdicts", p), timeout=20)[1]) for p in topic.partitions]
        self.consumer.assign(ends)
        self.seen, self.ending = {}, False

    def run(self):
        while not self.ending:
            message = self.consumer.poll(0.05)
            if message and not message.error():
                self.seen.setdefault(message.key().decode(), time.monotonic())

    def wait(self, n):
        """Waits until n different ids were seen."""
        last, since = -1, time.monotonic()
        while len(self.seen) < n:
            if len(self.seen) != last:
                last, since = len(self.seen), time.monotonic()
            if time.monotonic() - since > PATIENCE:
                sys.exit(f"fleet.py: {n - last} of {n} verdicts are missing")
            time.sleep(0.02)

    def close(self):
        self.ending = True
        self.join()
        self.consumer.close()


class Requests:
    """Sends requests with new ids to the fleet."""

    def __init__(self, kafka, run):
        self.producer = ck.Producer({"bootstrap.servers": kafka, "acks": "all", "linger.ms": 2,
                                     "enable.idempotence": True})
        self.run, self.n = run, 0

    def send(self, request):
        name = f"{self.run}-{self.n}"
        self.n += 1
        self.producer.produce("assay.requests", json.dumps({**request, "id": name}), name)
        self.producer.poll(0)
        return name


def requests_of(log):
    with open(log, encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [{key: row[key] for key in ("db", "question", "evidence", "candidates") if key in row} for row in rows]


def quantiles(values):
    ordered = sorted(values)
    return tuple(ordered[min(len(ordered) - 1, int(len(ordered) * q))] for q in (0.50, 0.95, 0.99))


# --- judge ------------------------------------------------------------------------------------------------------------


def embedded(assay, log, db_root, candidates):
    """Returns the CPU seconds for a candidate of the replay in one process."""
    child = subprocess.Popen([assay, "replay", log, "--db-root", db_root, "--quiet", "--format", "jsonl", "--out",
                              "/dev/null", "--force"])
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    return (usage.ru_utime + usage.ru_stime) / candidates


def flood(servers, run, requests):
    """Sends all requests as fast as possible. Returns the seconds from the first to the last verdict."""
    verdicts, out = Verdicts(servers.kafka), Requests(servers.kafka, run)
    verdicts.start()
    began = time.monotonic()
    for request in requests:
        out.send(request)
    out.producer.flush(60)
    verdicts.wait(len(requests))
    seconds = max(verdicts.seen.values()) - began
    verdicts.close()
    return seconds


def warm(servers, requests, seconds=WARM_S):
    began = time.monotonic()
    flood(servers, f"warm{time.time_ns()}", requests)
    while time.monotonic() < began + seconds:
        flood(servers, f"warm{time.time_ns()}", requests)


def open_loop(servers, run, requests, rate, seconds):
    """Returns latencies in milliseconds, from the due time of each request, at this many requests a second."""
    verdicts, out, due, chance = Verdicts(servers.kafka), Requests(servers.kafka, run), {}, random.Random(run)
    verdicts.start()
    out.send(requests[0])  # warms up the bench's own clients, whose connection takes a second
    out.producer.flush(60)
    verdicts.wait(1)
    began = at = time.monotonic()
    while at < began + seconds:
        at += chance.expovariate(rate)
        wait = at - time.monotonic()
        if wait > 0:
            out.producer.poll(wait)
        wait = at - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        due[out.send(chance.choice(requests))] = at
    out.producer.flush(60)
    verdicts.wait(1 + len(due))
    verdicts.close()
    return [(verdicts.seen[name] - at) * 1000 for name, at in due.items()]


STAGES = ("request_read", "judge", "task_read", "result_read", "commit_wait", "write", "commit")


def stages_of(addresses):
    """Returns {stage: (buckets, total seconds, count)} of these processes so far."""
    out = {}
    for address in addresses:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
            text = answer.read().decode()
        for stage in STAGES:
            name, label = "assay_stage_duration_seconds", f'{{stage="{stage}"'
            rows = [line.rpartition(" ") for line in text.splitlines() if line.startswith(name) and label in line]
            if not rows:
                continue
            buckets = [(float(row.split('le="')[1].split('"')[0]), float(n)) for row, _, n in rows if "_bucket{" in row]
            total = next(float(n) for row, _, n in rows if row.startswith(name + "_sum{"))
            out[stage] = (buckets, total, buckets[-1][1])
    return out


def show_stages(before, after):
    """Prints the duration of each stage between two readings. Quantiles are as exact as the buckets."""
    for stage in STAGES:
        buckets, total, n = after[stage]
        earlier, total_before, n_before = before.get(stage, ([(bound, 0) for bound, _ in buckets], 0, 0))
        if n == n_before:
            continue
        between = [(bound, count - past) for (bound, count), (_, past) in zip(buckets, earlier)]
        print(f"    {stage:12s} mean {1e3 * (total - total_before) / (n - n_before):6.1f} ms, half within "
              f"{1e3 * bound_of(between, 0.5):g}, 95 % within {1e3 * bound_of(between, 0.95):g}")


def judge(args):
    assay = os.path.join(args.build, "cli", "assay")
    requests = requests_of(args.log)
    candidates = sum(len(request["candidates"]) for request in requests)
    with Servers() as servers:
        fleet = Fleet(servers, assay)
        addresses = [free_address(), free_address()]
        fleet.start("coordinator", "--max-open", "256", "--instance", "0", "--listen", addresses[0],
                    "--task-messages", args.task_messages)
        fleet.start("worker", "--db-root", args.db_root, "--redis", servers.redis, "--threads", str(args.threads),
                    "--listen", addresses[1])
        warm(servers, requests)
        ours, theirs, alone, rates = [], [], [], []
        for i in range(args.runs):
            before, servers_before = fleet.cpu(), sum(map(cpu_of, servers.pids()))
            rates.append(len(requests) / flood(servers, f"run{i}", requests))
            ours.append((fleet.cpu() - before) / candidates)
            theirs.append((sum(map(cpu_of, servers.pids())) - servers_before) / candidates)
            alone.append(embedded(assay, args.log, args.db_root, candidates))
        print(f"{len(requests)} requests, {candidates} candidates, {args.runs} runs, medians")
        print(f"CPU ms a candidate: fleet {1e3 * statistics.median(ours):.3f}, embedded "
              f"{1e3 * statistics.median(alone):.3f}, ratio "
              f"{statistics.median(o / a for o, a in zip(ours, alone)):.2f} (claim: at most 1.25); Kafka and Redis "
              f"{1e3 * statistics.median(theirs):.3f}")
        full = args.full or statistics.median(rates)
        print(f"throughput: {statistics.median(rates):.0f} requests/s")
        rows = [{"measure": "all at once", "requests_per_s": statistics.median(rates),
                 "fleet_ms_a_candidate": 1e3 * statistics.median(ours),
                 "embedded_ms_a_candidate": 1e3 * statistics.median(alone),
                 "servers_ms_a_candidate": 1e3 * statistics.median(theirs)}]
        for share in (0.2, 0.5, 0.8):
            before, cpu, servers_cpu = stages_of(addresses), fleet.cpu(), sum(map(cpu_of, servers.pids()))
            latencies = open_loop(servers, f"load{share}", requests, share * full, args.seconds)
            p50, p95, p99 = quantiles(latencies)
            cpu, servers_cpu = fleet.cpu() - cpu, sum(map(cpu_of, servers.pids())) - servers_cpu
            print(f"latency at {100 * share:.0f} % load ({share * full:.0f}/s): p50 {p50:.0f} ms, p95 {p95:.0f} ms, "
                  f"p99 {p99:.0f} ms; CPU ms a request: fleet {1e3 * cpu / len(latencies):.2f}, Kafka and Redis "
                  f"{1e3 * servers_cpu / len(latencies):.2f}")
            show_stages(before, stages_of(addresses))
            rows.append({"measure": "open loop", "load_pct": 100 * share, "requests_per_s": share * full, "p50_ms": p50,
                         "p95_ms": p95, "p99_ms": p99})
        fleet.stop()
        results.save(args.csv, [{"task_messages": args.task_messages, **row} for row in rows])


# --- kept -------------------------------------------------------------------------------------------------------------


def lookups(address):
    """Returns {outcome: number} of the lookups of verdicts so far."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as answer:
        rows = [line.rpartition(" ") for line in answer.read().decode().splitlines()
                if line.startswith("assay_verdict_cache_total{")]
    return {row.split('"')[1]: float(n) for row, _, n in rows}


def kept(args):
    assay = os.path.join(args.build, "cli", "assay")
    requests = requests_of(args.log)
    kinds = {"judged": [{**request, "cache": False} for request in requests], "kept": requests}
    with Servers() as servers:
        fleet, address = Fleet(servers, assay), free_address()
        shared = ["--redis", servers.redis, "--verdict-cache", "--verdict-cache-bytes", "262144"]
        fleet.start("coordinator", *shared, "--max-open", "256", "--instance", "0", "--listen", address)
        fleet.start("worker", *shared, "--db-root", args.db_root, "--threads", str(args.threads))
        for i in range(3):  # the states of all databases are published within a second of the first task
            flood(servers, f"warm{i}", requests)
            time.sleep(2)
        print(f"{len(requests)} requests, {args.runs} runs, medians")
        for kind, asked in kinds.items():
            cpu, theirs, rates, before = [], [], [], lookups(address)
            for i in range(args.runs):
                began, servers_began = fleet.cpu(), sum(map(cpu_of, servers.pids()))
                rates.append(len(asked) / flood(servers, f"{kind}{i}", asked))
                cpu.append((fleet.cpu() - began) / len(asked))
                theirs.append((sum(map(cpu_of, servers.pids())) - servers_began) / len(asked))
            came = {name: n - before[name] for name, n in lookups(address).items() if n > before[name]}
            p50, p95, p99 = quantiles(open_loop(servers, f"{kind}-load", asked, args.rate, args.seconds))
            print(f"{kind}: {', '.join(f'{name} {n:.0f}' for name, n in came.items()) or 'not looked for'}; CPU ms a "
                  f"request: fleet {1e3 * statistics.median(cpu):.3f}, Kafka and Redis "
                  f"{1e3 * statistics.median(theirs):.3f}; {statistics.median(rates):.0f} requests/s; "
                  f"latency at {args.rate:g}/s: p50 {p50:.1f} ms, p95 {p95:.1f} ms, p99 {p99:.1f} ms")
        fleet.stop()


# --- far --------------------------------------------------------------------------------------------------------------


def delaying(servers, seconds):
    """Returns (broker address for coordinators, proxy at this address). The proxy delays replies to requests of a
    transaction."""
    sys.path.insert(0, os.path.join(HERE, "..", "tests", "live", "fleet"))
    import proxy

    between = proxy.Proxy(proxy.pairs_of(servers.env["ASSAY_TEST_KAFKA_PROXIED"]), lambda *_: None)
    for api in (proxy.PRODUCE, proxy.ADD_PARTITIONS, proxy.ADD_OFFSETS, proxy.TXN_OFFSET_COMMIT, proxy.END_TXN):
        between.add(proxy.Rule(proxy.DELAY, api, count=sys.maxsize, seconds=seconds,
                               transactional=True if api == proxy.PRODUCE else None))
    return proxy.addresses(between.pairs), between


def far_once(servers, address, assay, args, requests, producers, run):
    """Returns latency quantiles of a fleet whose coordinator has this many producers. The first run warms the broker
    up."""
    fleet = Fleet(servers, assay)
    fleet.start("coordinator", "--max-open", "512", "--task-messages", args.task_messages, "--producers",
                str(producers), servers=address)
    fleet.start("worker", "--db-root", args.db_root, "--redis", servers.redis, "--threads", str(args.threads))
    warm(servers, requests, 0 if run else WARM_S)
    found = quantiles(open_loop(servers, f"far{run}", requests, args.rate, args.seconds))
    fleet.stop()
    return found


def far(args):
    assay = os.path.join(args.build, "cli", "assay")
    requests = requests_of(args.log)
    with Servers() as servers:
        address, _ = delaying(servers, args.delay_ms / 1e3)
        for i, producers in enumerate(args.producers * args.runs):
            p50, p95, p99 = far_once(servers, address, assay, args, requests, producers, i)
            print(f"{producers} producers, {args.delay_ms:g} ms more for each call, {args.rate:g}/s: p50 {p50:.0f} ms, "
                  f"p95 {p95:.0f} ms, p99 {p99:.0f} ms", flush=True)


# --- scale ------------------------------------------------------------------------------------------------------------

SMALL = {"db": "podcasts", "question": "How many shows are there?", "candidates": ["SELECT count(*) FROM show"]}
MARGIN = 2.0  # seconds at both ends that do not count


def sample_root(at):
    """Builds the bundled sample database."""
    folder = os.path.join(at, "databases", "podcasts")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(HERE, "..", "deploy", "samples", "podcasts.sql"), encoding="utf-8") as sql:
        subprocess.run(["sqlite3", os.path.join(folder, "podcasts.sqlite")], stdin=sql, check=True)
    return os.path.dirname(folder)


def steady_rate(times):
    """Returns verdicts a second, without the first and last seconds."""
    low, high = min(times) + MARGIN, max(times) - MARGIN
    return sum(low <= t <= high for t in times) / (high - low)


def slow_worker(fleet, args, root):
    return fleet.start("worker", "--db-root", root, "--family", "structure", "--threads", "1",
                       "--slow-threads", "0", ASSAY_SLOW_MS=str(args.slow_ms))


def scale_once(servers, assay, args, root, workers):
    fleet = Fleet(servers, assay, 8, 48)
    fleet.start("coordinator", "--family", "structure", "--max-open", "1024")
    for _ in range(workers):
        slow_worker(fleet, args, root)
    flood(servers, f"warm{workers}", [SMALL] * 20 * workers)
    verdicts, out = Verdicts(servers.kafka), Requests(servers.kafka, f"scale{workers}")
    verdicts.start()
    n = int(workers * args.seconds * 1000 / args.slow_ms)
    for _ in range(n):
        out.send(SMALL)
    out.producer.flush(60)
    verdicts.wait(n)
    verdicts.close()
    fleet.stop()
    return steady_rate(verdicts.seen.values())


def recovery(servers, assay, args, root, workers):
    """Returns the seconds from kill -9 of a worker, and the start of another, until verdicts reach 95 % of the earlier
    rate."""
    fleet = Fleet(servers, assay, 8, 48)
    fleet.start("coordinator", "--family", "structure", "--max-open", "1024", "--deadline-ms", "-1")
    victims = [slow_worker(fleet, args, root) for _ in range(workers)]
    flood(servers, "warm-kill", [SMALL] * 20 * workers)
    verdicts, out = Verdicts(servers.kafka), Requests(servers.kafka, "kill")
    verdicts.start()
    n = int(workers * 60 * 1000 / args.slow_ms)
    for _ in range(n):
        out.send(SMALL)
    out.producer.flush(60)
    time.sleep(10)
    killed = time.monotonic()
    victims[0].kill()
    slow_worker(fleet, args, root)
    verdicts.wait(n)
    verdicts.close()
    fleet.stop()
    times = sorted(verdicts.seen.values())
    before = sum(killed - 5 <= t < killed for t in times) / 5
    for step in range(400):
        at = killed + step * 0.25
        if sum(at <= t < at + 3 for t in times) / 3 >= 0.95 * before and step * 0.25 >= 0.5:
            return at - killed, before
    return None, before


def scale(args):
    assay = os.path.join(args.build, "cli", "assay")
    with Servers() as servers:
        root = sample_root(servers.at)
        one, rows = None, []
        for workers in (1, 2, 4, 8):
            rate = scale_once(servers, assay, args, root, workers)
            one = one or rate
            rows.append({"workers": workers, "verdicts_per_s": rate, "of_linear": rate / one / workers})
            print(f"{workers} workers of {args.slow_ms} ms: {rate:.1f} verdicts/s, {rate / one / workers:.2f} of "
                  "linear "
                  "(claim: at least 0.90)")
        results.save(args.csv, rows)
        seconds, before = recovery(servers, assay, args, root, 4)
        said = "not within 100 s" if seconds is None else f"{seconds:.1f} s"
        print(f"after kill -9 of one worker of 4, with another started: {said} to the full rate of {before:.0f}/s")


# --- messages ---------------------------------------------------------------------------------------------------------


def free_address():
    return f"127.0.0.1:{free_port()}"


def histogram(text, name):
    """Returns (upper bound, cumulative count) of each bucket of a Prometheus histogram without labels; empty if there
    is none."""
    rows = [line.split('le="')[1].split('"} ') for line in text.splitlines() if line.startswith(name + "_bucket")]
    return [(float(bound), float(count)) for bound, count in rows]


def bound_of(buckets, share):
    """Returns the upper bound below which that share lies, as exact as the buckets are."""
    return next(bound for bound, count in buckets if count >= share * buckets[-1][1])


def messages(args):
    """Measures messages. Reads the coordinator's own figures as long as it answers."""
    with Servers() as servers:
        address, text = free_address(), ""
        child = subprocess.Popen([os.path.join(args.build, "bench", "bench_fleet_messages"),
                                  os.path.join(args.build, "cli", "assay"), servers.kafka, "--runs", str(args.runs),
                                  "--listen", address, "--broker", str(servers.pids()[0]),
                                  "--log-dir", os.path.join(servers.at, "kafka-1", "data"),
                                  *(["--encoding", args.encoding] if args.encoding else [])])
        while child.poll() is None:
            time.sleep(0.5)
            try:
                with urllib.request.urlopen(f"http://{address}/metrics", timeout=2) as answer:
                    text = answer.read().decode()
            except OSError:
                pass
        buckets = histogram(text, "assay_transaction_duration_seconds")
        if buckets:
            print(f"commit (begin to end) of {buckets[-1][1]:.0f} transactions: p50 up to "
                  f"{1e3 * bound_of(buckets, 0.5):g} ms, "
                  f"p99 up to {1e3 * bound_of(buckets, 0.99):g} ms")
        sys.exit(child.returncode)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for run in (messages, judge, kept, far, scale):
        command = commands.add_parser(run.__name__)
        command.add_argument("build")
        command.add_argument("--runs", type=int, default=3)
        command.add_argument("--seconds", type=float, default=20)
        command.add_argument("--slow-ms", type=int, default=20)
        command.set_defaults(run=run)
        if run is messages:
            command.add_argument("--encoding", choices=("json", "msgpack"), help="of the requests; else both in turns")
        if run in (judge, scale):
            results.add_option(command)
        if run in (kept, far):
            command.add_argument("--rate", type=float, default=50)
        if run is far:
            command.add_argument("--delay-ms", type=float, default=10)
            command.add_argument("--producers", nargs="+", default=["1", "4"])
        if run in (judge, kept, far):
            command.add_argument("log")
            command.add_argument("--db-root", required=True)
            command.add_argument("--threads", type=int, default=2)
            command.add_argument("--task-messages", default="each", help="of the coordinator")
            command.add_argument("--full", type=float, help="requests/s of which the loads are shares; else as "
                                 "measured")
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
