"""Fills a costs file from a fleet on this machine, which bench/fleet.py starts. The costs are those of one request for
each part, and the duration of a transaction, at a fifth of the load and in a flood. The file also has, separately, the
behaviour of the fleet at each load. `check` compares this with the model."""
import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
# paths as a program in a build folder finds them
MODELS = os.environ.get("ASSAY_MODELS") or os.path.join(HERE, "..", "..", "models")
sys.path.insert(0, os.path.join(HERE, ".."))
import engine
import fleet
from engine import LIGHT

LOADS = (LIGHT, 0.5, 0.8)
FAMILIES = 6  # families that judge every candidate, if no language model is configured
READINGS, IDLE_S = 3, 6
FAR = {"delay_s": 0.010, "rate": 50, "threads": 2, "seconds": 8, "messages": "request"}  # settings of of_producers
QUIET = 0.05  # cores that other processes may use beyond the quietest window
SUM = re.compile(r'(\w+)_(sum|count)(?:\{(?:family|stage)="(\w+)"\})? (\S+)')


def scrape(address):
    """Returns {(histogram, family or stage or ""): {"sum": total seconds, "count": number}}."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    found = {}
    for name, what, label, value in SUM.findall(text): found.setdefault((name, label), {})[what] = float(value)
    return found


def mean_between(before, after, name, label=""):
    """Returns the mean seconds between two scrapes; None if nothing was counted."""
    new, old = after.get((name, label), {}), before.get((name, label), {})
    grew = {what: new.get(what, 0) - old.get(what, 0) for what in ("sum", "count")}
    return grew["sum"] / grew["count"] if grew["count"] else None


def cpu_of_threads(pid, name):
    """Returns the CPU seconds of a process's threads with that name: `coordinator`, or `worker-0` and so on."""
    seconds = 0.0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/stat", encoding="utf-8") as stat:
                before, _, after = stat.read().rpartition(")")
        except (FileNotFoundError, ProcessLookupError): continue  # the process has ended
        fields = after.split()
        if before.partition("(")[2].partition("-")[0] == name:
            seconds += (int(fields[11]) + int(fields[12])) / fleet.TICK
    return seconds


def cpu_of_children(pid):
    """Returns the CPU seconds of ended and running children, including their own children."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as stat: fields = stat.read().rpartition(")")[2].split()
    seconds, children = (int(fields[13]) + int(fields[14])) / fleet.TICK, []
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/children", encoding="utf-8") as names:
                children += names.read().split()
        except (FileNotFoundError, ProcessLookupError): continue
    for child in children:
        try: seconds += fleet.cpu_of(child) + cpu_of_children(child)
        except (FileNotFoundError, ProcessLookupError): continue
    return seconds


def runs_of_threads(pid, but=""):
    """Returns (seconds on a core, runs) of a process's threads so far, without those with a name."""
    seconds = runs = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/comm", encoding="utf-8") as comm: name = comm.read().strip()
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="utf-8") as stat:
                nanoseconds, _, n = map(int, stat.read().split())
        except (FileNotFoundError, ProcessLookupError): continue
        if but and name.partition("-")[0] == but: continue
        seconds, runs = seconds + nanoseconds / 1e9, runs + n
    return seconds, runs


def cpu_of_machine():
    """Returns the CPU seconds of all processes of the machine so far."""
    with open("/proc/stat", encoding="utf-8") as stat: fields = list(map(int, stat.readline().split()[1:9]))
    return (sum(fields) - fields[3] - fields[4]) / fleet.TICK  # idle, iowait


class Meter:
    """Measures CPU seconds of each part and the histograms from now on."""

    def __init__(self, servers, parts, addresses):
        self.servers, self.parts, self.addresses = servers, parts, addresses
        self.before, self.seen = self.read(), {part: scrape(at) for part, at in addresses.items()}
        self.began, self.machine = time.monotonic(), cpu_of_machine()

    def read(self):
        """Returns {what: {part: ...}} so far. `own_cpu` is the part of `cpu` without the Kafka library's threads. Its
        own threads are named after the part, and children do the work of a thread. `protocol_cpu` is that of the
        library's threads that run transactions. `runs` are those of the broker's and the library's threads."""
        kafka, redis = self.servers.pids()
        pids = {part: child.pid for part, child in self.parts.items()}
        cpu = {**{part: fleet.cpu_of(pid) + cpu_of_children(pid) for part, pid in pids.items()},
               "broker": fleet.cpu_of(kafka),
               "redis": fleet.cpu_of(redis), "driver": time.process_time()}
        return {"cpu": cpu, "own_cpu": {part: cpu_of_threads(pid, part) + cpu_of_children(pid)
                                        for part, pid in pids.items()},
                "protocol_cpu": {"coordinator": cpu_of_threads(pids["coordinator"], "rdk:main")},
                "runs": {"broker": runs_of_threads(kafka),
                         **{part: runs_of_threads(pid, part) for part, pid in pids.items()},
                         "driver": runs_of_threads(os.getpid())}}

    def costs(self, n):
        """Returns the costs of each of n requests, and the seconds of a run. `others` are the cores that other
        processes used meanwhile."""
        now, machine, seconds = self.read(), cpu_of_machine() - self.machine, time.monotonic() - self.began
        found = {"others": round((machine - sum(now["cpu"].values()) + sum(self.before["cpu"].values())) / seconds, 3)}
        for key in ("cpu", "own_cpu", "protocol_cpu"):
            found[key] = {part: round((seconds - self.before[key][part]) / n, 7) for part, seconds in now[key].items()}
        found["runs"] = {part: round((now["runs"][part][0] - seconds) / max(1, now["runs"][part][1] - runs), 8)
                         for part, (seconds, runs) in self.before["runs"].items()}
        return found

    def stages(self):
        """Returns {stage: mean seconds}."""
        now, found = {part: scrape(at) for part, at in self.addresses.items()}, {}
        for stage in fleet.STAGES:
            part = "worker" if stage == "task_read" else "coordinator"
            seconds = mean_between(self.seen[part], now[part], "assay_stage_duration_seconds", stage)
            if seconds is not None: found[stage] = round(seconds, 6)
        return found


def work_of(build, log, db_root):
    """Returns, for each request of the log, (number of judged candidates, seconds of a worker's thread for them). Uses
    `assay replay`, and takes the least of READINGS of the log. An earlier reading makes the indexes, which a fleet has
    already."""
    with tempfile.TemporaryDirectory(prefix="assay-simulate.") as at:
        again, out = os.path.join(at, "log.jsonl"), os.path.join(at, "verdicts.jsonl")
        with open(log, encoding="utf-8") as lines: text = lines.read()
        with open(again, "w", encoding="utf-8") as lines: lines.write(text * (1 + READINGS))
        subprocess.run([os.path.join(build, "cli", "assay"), "replay", again, "--db-root", db_root, "--quiet",
                        "--workers", "1", "--format", "jsonl",
                        "--out", out], check=True)
        with open(out, encoding="utf-8") as lines: verdicts = [json.loads(line) for line in lines]
    n = len(verdicts) // (1 + READINGS)
    readings = [verdicts[i * n:(i + 1) * n] for i in range(1, 1 + READINGS)]
    return [[of[0]["iterations"], round(min(verdict["timings"]["worker_ms"] for verdict in of) / 1e3, 6)]
            for of in zip(*readings) if of[0]["iterations"]]


class Running:
    """A coordinator and a worker with one thread, both warm."""

    def __init__(self, servers, build, requests, db_root, messages):
        self.servers, self.requests = servers, requests
        self.fleet = fleet.Fleet(servers, os.path.join(build, "cli", "assay"))
        self.db_root, self.messages, self.addresses, self.parts = db_root, messages, {}, {}
        for part in ("coordinator", "worker"): self.parts[part] = self.start(part)
        fleet.warm(servers, self.requests)

    def idle(self):
        """Returns {part: cores} while there are no requests."""
        before, began = self.meter().before["cpu"], time.monotonic()
        time.sleep(IDLE_S)
        now, seconds = self.meter().before["cpu"], time.monotonic() - began
        return {part: round((now[part] - before[part]) / seconds, 5) for part in ("broker", *self.parts)}

    def start(self, part, instance=0):
        at = fleet.free_address()
        self.addresses.setdefault(part, at)
        own = (("--max-open", "256", "--instance", str(instance), "--task-messages", self.messages)
               if part == "coordinator" else
               ("--db-root", self.db_root, "--redis", self.servers.redis, "--threads", "1"))
        return self.fleet.start(part, *own, "--listen", at)

    def meter(self): return Meter(self.servers, self.parts, self.addresses)


def quiet(windows):
    """Returns the windows in which other processes used hardly more of the machine than in the quietest, whatever their
    results."""
    least = min(window["others"] for window in windows)
    return [window for window in windows if window["others"] <= least + QUIET]


def mean_of(found):
    """Returns the mean of several dictionaries with the same shape, whose leaves are numbers."""
    if isinstance(found[0], dict): return {key: mean_of([one[key] for one in found if key in one]) for key in found[0]}
    return round(statistics.fmean(found), 8)


def of_loads(running, seconds, rounds):
    """Returns (costs at the light load and in a flood, measured behaviour). Loads rise in one round and fall in the
    next, because a broker becomes faster with time. Only the quiet windows count."""
    servers, requests, floods, at = running.servers, running.requests, [], {load: [] for load in LOADS}
    for i in range(rounds + 1):
        meter = running.meter()
        rate = len(requests) / fleet.flood(servers, f"full{i}", requests)
        floods.append({"rate": rate, **meter.costs(len(requests)), "stages": meter.stages()})
    floods = quiet(floods)
    full = statistics.median(flood["rate"] for flood in floods)
    for i in range(rounds):
        for load in LOADS if i % 2 == 0 else LOADS[::-1]:
            meter = running.meter()
            taken = fleet.open_loop(servers, f"load{load}-{i}", requests, load * full, seconds)
            p50, p95, _ = fleet.quantiles(taken)
            at[load].append({"p50": round(p50 / 1e3, 6), "p95": round(p95 / 1e3, 6), **meter.costs(len(taken)),
                             "stages": meter.stages()})
    at = {load: quiet(rows) for load, rows in at.items()}
    flood = mean_of([{key: of[key] for key in ("cpu", "own_cpu", "stages")} for of in floods])
    mean = {load: mean_of([{key: of[key] for key in ("cpu", "own_cpu", "protocol_cpu", "runs", "stages")}
                           for of in rows]) for load, rows in at.items()}
    costs = {"cpu": {"light": mean[LIGHT]["cpu"], "full": flood["cpu"]},
             "own_cpu": {"light": mean[LIGHT]["own_cpu"], "full": flood["own_cpu"]},
             "protocol_cpu": mean[LIGHT]["protocol_cpu"]["coordinator"], "runs": mean[LIGHT]["runs"],
             "transaction": {stage: mean[LIGHT]["stages"][stage] for stage in ("write", "commit")}}
    measured = {"throughput": [round(flood["rate"], 1) for flood in floods], "flood_stages": flood["stages"],
                **{str(load): {"rate": round(load * full, 2), "p50": [of["p50"] for of in rows],
                               "p95": [of["p95"] for of in rows],
                               "others": [of["others"] for of in rows],
                               "cpu": mean[load]["cpu"], "stages": mean[load]["stages"]} for load, rows in at.items()}}
    return costs, measured


def of_members(running, rate):
    """Returns {event: seconds that the slowest request waited for it}, at this many requests a second."""
    found, others = {}, {}
    def join(part): others[part] = running.start(part, 1)
    def leave(part): others[part].terminate()
    for name, seconds, happens, part in (("worker_joins", 6, join, "worker"), ("worker_leaves", 6, leave, "worker"),
                                         ("coordinator_joins", 8, join, "coordinator"),
                                         ("coordinator_leaves", 8, leave, "coordinator")):
        threading.Timer(2.0, happens, (part,)).start()
        taken = fleet.open_loop(running.servers, name, running.requests, rate, seconds)
        found[name] = round((max(taken) - statistics.median(taken)) / 1e3, 3)
    return found


def of_workers(servers, build, seconds):
    """Returns rows of `bench/fleet.py scale`: workers with one family and one thread, each task slowed by 20 ms."""
    args = argparse.Namespace(seconds=seconds, slow_ms=20)
    root, assay = fleet.sample_root(servers.at), os.path.join(build, "cli", "assay")
    return [{"workers": n, "rate": round(fleet.scale_once(servers, assay, args, root, n), 1)} for n in (1, 2, 4, 8)]


def of_producers(servers, build, requests, db_root):
    """Returns rows of `bench/fleet.py far`."""
    assay, rows = os.path.join(build, "cli", "assay"), []
    address, _ = fleet.delaying(servers, FAR["delay_s"])
    args = argparse.Namespace(task_messages=FAR["messages"], db_root=db_root, threads=FAR["threads"], rate=FAR["rate"],
                              seconds=FAR["seconds"])
    for i, producers in enumerate((1, 4)):
        p50, p95, _ = fleet.far_once(servers, address, assay, args, requests, producers, i)
        rows.append({"producers": producers, "p50": round(p50 / 1e3, 6), "p95": round(p95 / 1e3, 6)})
    return {**FAR, "rows": rows}


def measure(args):
    load_before = os.getloadavg()[0]
    requests = fleet.requests_of(args.log)
    with open(os.path.join(MODELS, "decision.json"), encoding="utf-8") as file: strategy = json.load(file)["strategy"]
    found = {"strategy": strategy, "families": FAMILIES, "requests": len(requests),
             "machine": {"processor": platform.processor() or platform.machine(), "cores": os.cpu_count(),
                         "load_before": load_before,
                         "log": os.path.basename(args.log)},
             "work": work_of(args.build, args.log, args.db_root), "modes": {}, "measured": {}}
    with fleet.Servers() as servers:
        if args.what == "producers":
            found["measured"]["producers"] = of_producers(servers, args.build, requests, args.db_root)
            return found
        if args.what == "workers":
            found["measured"]["workers"] = of_workers(servers, args.build, args.seconds)
            return found
        running = Running(servers, args.build, requests, args.db_root, args.task_messages)
        if args.what == "members":
            found["stops"] = of_members(running, LIGHT * len(requests) / fleet.flood(servers, "full", requests))
        else:
            found["idle"] = running.idle()
            found["modes"][args.task_messages], found["measured"][args.task_messages] = of_loads(running, args.seconds,
                                                                                                 args.rounds)
        running.fleet.stop()
    return found


def write(args):
    """Writes the file. Keeps what it has on other modes of messages, on members and on workers."""
    found, before, mode = measure(args), {}, args.task_messages
    if os.path.exists(args.out):
        with open(args.out, encoding="utf-8") as file: before = json.load(file)
    found = {**before, **found, **{key: {**before.get(key, {}), **found[key]} for key in ("modes", "measured")}}
    if args.what == "loads" and mode == engine.MESSAGES[0]:
        found.update(engine.calibrate(found, 1, found["measured"][mode][str(LIGHT)]["rate"], mode))
    with open(args.out, "w", encoding="utf-8") as file:
        file.write("{" + ",\n ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in found.items()) + "}\n")
