"""Injects faults into a fleet on real servers; a checker decides whether the guarantee held.

  run.py --assay FILE [--seed N] [--only NAME,...] [--short]          each scenario once; counts like a test
  run.py --assay FILE --minutes N [--seed N]                          scenarios repeatedly, with other seeds
  run.py --assay FILE --mutations [--only NAME,...]                   each guard of the protocol left out once
  run.py --list

A scenario is a row of SCENARIOS: its processes, its fault (faults.py), and the permitted deviations (checker.Bounds).
Requests are written at a steady rate during the fault. After its end every request must be answered within `settle_s`.
One scratch directory holds the log of each process, and run.log with each fault and its time.
"""
import argparse
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import checker
import databases
import faults
import generate
import topics
from checker import Bounds
from fleet import Fleet
from proxy import Proxy, addresses, pairs_of
from wait import wait_until

HERE = Path(__file__).resolve().parent
GROUPS = {"assay-coordinator": [topics.REQUESTS], "assay-worker": topics.ALL_TASKS}
JOIN_S = 60
STRICT = Bounds(repeats_after_answer=0, short_of_time=0.0)
POSTGRES = ("kafka", "redis", "postgres")  # the databases are in PostgreSQL


@dataclass(frozen=True)
class Scenario:
    name: str
    fault: callable
    load_s: float = 12
    rate: float = 20
    complete: bool = False  # the load begins after all have joined, since partitions move when a member joins
    settle_s: float = 90
    session_s: int = 6  # short sessions, so that a fault of ten seconds exceeds one
    coordinators: int = 2
    workers: tuple = ("", "")  # families of each worker; empty: all
    messages: str = "each"  # --task-messages of the coordinators
    producers: int = 1  # --producers of the coordinators
    mix: dict | None = None  # kinds of requests; None: generate.MIX
    proxied: bool = False  # coordinators connect to the brokers through a proxy
    redis: bool = True
    keeps: bool = False  # verdicts are cached for equal requests
    clock: bool = False  # the clock of our processes jumps (clock.c)
    deadly: bool = False  # requests of kind "crash" kill their workers; only in a build with -DASSAY_MUTATIONS=ON
    servers: tuple = ("kafka", "redis")
    extra: dict = field(default_factory=dict)  # kinds of requests in addition to the usual mix, with their numbers
    bounds: Bounds = Bounds()
    short: bool = False  # part of the set that every test run executes


SCENARIOS = (
    Scenario("calm", faults.nothing, load_s=8, complete=True, extra={"huge": 1}, bounds=STRICT, short=True),
    Scenario("kill coordinators", faults.kill_any("coordinator"), short=True),
    Scenario("kill workers", faults.kill_any("worker"), short=True),
    Scenario("kill coordinators that keep verdicts", faults.kill_any("coordinator"), keeps=True,
             mix={"plain": 2, "again": 3},
             bounds=Bounds(found=20), short=True),
    Scenario("kill workers of joined tasks", faults.kill_any("worker"), messages="request", short=True),
    Scenario("anything with joined tasks", faults.anything, load_s=30, proxied=True, messages="request", producers=2),
    Scenario("kill coordinators of several producers", faults.kill_any("coordinator"), producers=3, short=True),
    Scenario("terminate anybody", faults.terminate_any, short=True),
    Scenario("join and leave", faults.storm, load_s=15, short=True),
    Scenario("pause coordinators 10 s", faults.pause("coordinator", 10), load_s=15, short=True),
    Scenario("pause coordinators 40 s", faults.pause("coordinator", 40), load_s=60, rate=10),
    Scenario("pause workers 10 s", faults.pause("worker", 10), load_s=20),
    Scenario("pause workers 40 s", faults.pause("worker", 40), load_s=60, rate=10),
    Scenario("callers over HTTP", faults.kill_behind_callers, rate=5, short=True),
    Scenario("swallow answers", faults.swallow_answers, proxied=True, short=True),
    Scenario("cut requests", faults.cut_requests, proxied=True, short=True),
    Scenario("slow answers", faults.slow_answers, proxied=True),
    Scenario("cut off", faults.cut_off, load_s=20, proxied=True),
    Scenario("slow results", faults.slow_results, proxied=True),
    Scenario("broker dies", faults.restart_server("kafka-1"), short=True),
    Scenario("broker pauses 10 s", faults.pause_server("kafka-1", 10)),
    Scenario("broker pauses 40 s", faults.pause_server("kafka-1", 40), settle_s=150),
    Scenario("redis dies", faults.restart_server("redis"), short=True),
    Scenario("redis pauses 10 s", faults.pause_server("redis", 10)),
    Scenario("redis pauses 40 s", faults.pause_server("redis", 40)),
    Scenario("clock jumps", faults.jump_clock, clock=True),
    Scenario("anything", faults.anything, load_s=30, proxied=True),
    Scenario("postgres dies", faults.restart_server("postgres"), servers=POSTGRES, redis=False),
    Scenario("postgres pauses 10 s", faults.pause_server("postgres", 10), servers=POSTGRES),
    Scenario("postgres pauses 40 s", faults.pause_server("postgres", 40), servers=POSTGRES),
    Scenario("disk full", faults.fill_disk, servers=("kafka-small", "redis")),
    Scenario("leaders lost", faults.lose_leaders, load_s=90, servers=("kafka3", "redis"), settle_s=150),
)

# Each guard of the protocol is left out once (in a build with -DASSAY_MUTATIONS=ON), under the fault that it protects
# from. With the guard the scenario must pass; without it the checker must find the named fault.
_SPLIT = ("structure,join,execution,value,question", "explain")
_DEADLY = Bounds(poison=10)  # requests that are open whenever their owners die come under suspicion
HOLES = Scenario("take over with holes", faults.take_over_with_holes, load_s=14, workers=_SPLIT)
# Few requests, so that all open ones stay open, and tasks with a result need not be repeated. A few exceptions are
# permitted: during the catch-up a partition may move between two restarting members. Without `r` all tasks, 140 and
# more, are repeated.
ANSWERED = Scenario(
    "take over with answers",
    faults.take_over_with_holes,
    load_s=14,
    rate=4,
    workers=_SPLIT,
    bounds=Bounds(repeats_after_answer=30),
)
REFUSED = Scenario("refused offsets", faults.refuse_offsets, proxied=True)
LATE = Scenario("late commit", faults.late_commit, coordinators=1, proxied=True)
UNSENT = Scenario("killed before it was sent", faults.kill_before_sent, proxied=True, bounds=_DEADLY)
FORGED = Scenario("forged results", faults.forge_results, load_s=8, mix={"plain": 3, "slow": 1})
EMPTIED = Scenario("group empties", faults.empty_group, load_s=60, rate=40, proxied=True, session_s=2)
WATCHED = Scenario("whose offsets", faults.nothing, load_s=5, proxied=True)
# A candidate that ends its worker is tried alone after a while: its family is unavailable, and the others give the
# verdict. There are more such candidates than partitions, so that some share one and must not hide each other.
CRASHING = Scenario(
    "a candidate crashes", faults.nothing, deadly=True, extra={"crash": 5}, workers=("", "", ""), settle_s=180
)
SCENARIOS += (HOLES, ANSWERED, REFUSED, LATE, UNSENT, FORGED, EMPTIED)
CONTROLS = (WATCHED, CRASHING)  # of a build with -DASSAY_MUTATIONS=ON in which no guard is left out
MUTATIONS = {
    "no_bitmap": (HOLES, {"twice"}),
    "end_instead_of_r": (ANSWERED, {"work"}),
    "bit_before_commit": (REFUSED, {"lost"}),
    "producer_reused": (LATE, {"twice"}),
    "no_flush": (UNSENT, {"lost"}),
    "index_keys": (FORGED, {"content"}),
    "old_attempt": (FORGED, {"content"}),
    # "group empties" shows the consequence if its timing is right. The proxy sees every attempt.
    "metadata_anew": (WATCHED, {"unfenced"}),
}


class Servers:
    """Kafka, Redis and PostgreSQL of tests/live/servers.sh, reused by the next scenario if they are healthy."""

    script = HERE.parent / "servers.sh"

    def __init__(self, directory):
        self.directory, self.kinds, self.environment = Path(directory), None, {}

    def want(self, kinds):
        if self.kinds != kinds:
            self.stop()
            shutil.rmtree(self.directory, ignore_errors=True)
            self.do("start", *kinds)
            self.kinds = kinds
            self.environment = dict(self._environment())

    def _environment(self):
        for line in (self.directory / "env").read_text().splitlines():
            name, _, value = line.removeprefix("export ").partition("=")
            yield name, value.strip("'")

    def do(self, command, *arguments):
        subprocess.run([self.script, command, self.directory, *arguments], check=True, stdout=subprocess.DEVNULL)

    def signal(self, name, number):
        pid = int((self.directory / name / "pid").read_text())
        os.killpg(pid, number)

    def fill_disk(self):
        with open(self.directory / "kafka-1/data/filler", "wb") as file:
            try:
                while file.write(b"x" * (1 << 20)):
                    file.flush()
            except OSError:
                pass

    def await_death(self, name, seconds=60):
        pid = int((self.directory / name / "pid").read_text())

        def is_dead():
            try:
                os.killpg(pid, 0)
            except ProcessLookupError:
                return True
            return False

        wait_until(is_dead, seconds, f"the death of {name}")

    def free_disk(self):
        (self.directory / "kafka-1/data/filler").unlink()
        self.do("kill", "kafka-1")

    def stop(self):
        if self.kinds:
            self.do("stop")
        self.kinds = None


class Run:
    """One scenario with one seed, from the first request to the result of the checker."""

    def __init__(self, scenario, seed, servers, assay, directory, mutation=None):
        self.scenario, self.seed, self.servers, self.assay = scenario, seed, servers, assay
        self.mutation = {"ASSAY_MUTATION": mutation} if mutation else {}
        self.directory = Path(directory)
        self.directory.mkdir(parents=True)
        self.rng = random.Random(f"{seed} {scenario.name}")
        self.began, self.n_faults, self.notes, self.live = time.monotonic(), 0, [], []
        self.over, self.end_live = threading.Event(), threading.Event()
        self.journal = open(self.directory / "run.log", "w", buffering=1)
        self.kafka = servers.environment["ASSAY_TEST_KAFKA"]
        self.proxy, self.callers = None, None

    # --- functions for the faults ---

    def log(self, text):
        self.n_faults += 1
        self.journal.write(f"{time.monotonic() - self.began:8.3f} {text}\n")

    def note(self, name, text):
        self.notes.append((name, text))

    def wait(self, seconds):
        """Waits. Returns false once no more requests arrive; faults end then."""
        return not self.over.wait(seconds)

    @staticmethod
    def stand_still(seconds):
        """Waits after SIGSTOP. The fault is the duration of the pause itself, so this wait has a fixed time. All other
        waits are for an observable event (wait.py), or end with the requests (wait)."""
        time.sleep(seconds)

    def kill(self, name, stay_dead=False):
        self.log(f"kill -9 {name}")
        self.fleet.kill(name, stay_dead)

    def pause(self, name, seconds):
        self.log(f"SIGSTOP {name} for {seconds} s")
        self.fleet.pause(name)
        self.stand_still(seconds)
        self.fleet.resume(name)
        self.log(f"{name} goes on")

    def set_clock(self, offset):
        self.log(f"clock {offset:+} s")
        with open(self.directory / "clock", "r+b" if (self.directory / "clock").exists() else "wb") as file:
            file.write(struct.pack("=q", offset))  # in place, since the file is mapped

    def _look_at_offsets(self):
        if not self.proxy:
            return
        if self.proxy.nobodys:
            self.note("unfenced", f"{self.proxy.nobodys} transactions sent offsets without a membership")
        if not self.proxy.members + self.proxy.nobodys:
            self.note("harness", "the proxy saw no transactions")

    # --- start ---

    def go(self):
        """Returns the detected faults; an empty list means that the guarantee held."""
        try:
            self._start()
            self._load()
            self._settle()
        finally:
            self._stop()
        evidence = self._evidence()
        self._look_at_offsets()
        if self.scenario.deadly and not self.fleet.aborts:
            self.note("harness", "no worker died of its candidate")
        found = self.notes + checker.check(evidence, self.scenario.bounds)
        self.figures = {"faults": self.n_faults, **checker.summary(evidence)}
        self.journal.write(f"{self.figures}\n" + "".join(f"{name}: {text}\n" for name, text in found))
        return found

    def _start(self):
        s = self.scenario
        redis = self.servers.environment.get("ASSAY_TEST_REDIS") if s.redis else None
        through = self.kafka
        if s.proxied:
            pairs = pairs_of(self.servers.environment["ASSAY_TEST_KAFKA_PROXIED"])
            self.proxy, through = Proxy(pairs, self.log), addresses(pairs)
        where = self._databases()
        self.fleet = Fleet(self.assay, self.kafka, self.directory, where, s.session_s, redis, self._clock())
        self.fleet.topics(4)
        self.since = {t: topics.ends(self.kafka, t) for t in self._topics()}
        keeps = ["--redis", redis, "--verdict-cache"] if s.keeps else []
        for i in range(s.coordinators):
            later = ["--rows-later"] if s.messages != "each" else []  # so that both ways are used
            options = ["--task-messages", s.messages, "--producers", str(s.producers), *later, *keeps]
            self.fleet.coordinator(f"coordinator-{i}", *options, servers=through, environment=self.mutation)
        crash = {"ASSAY_CRASH_ON": "crash_here"} if s.deadly else {}
        for i, families in enumerate(s.workers):
            options = ["--family", families] if families else []
            self.fleet.worker(f"worker-{i}", "--threads", "1", *keeps, *options, environment=crash, may_abort=s.deadly)
        if s.complete:
            self._wait_for_all()
        self.reader = threading.Thread(target=self._read_live, daemon=True)
        self.reader.start()

    def _wait_for_all(self):
        for group, n in (("assay-coordinator", self.scenario.coordinators),
                         ("assay-worker", len(self.scenario.workers))):
            wait_until(lambda: topics.is_complete(self.kafka, group, n), JOIN_S, f"{n} members of {group}", look_s=0.5)

    def _databases(self):
        postgres = self.servers.environment.get("ASSAY_TEST_POSTGRES")
        if postgres:
            return databases.in_postgres(postgres, self.servers.directory / "catalogue.yaml")
        return databases.as_files(self.directory.parent / "databases")

    def _clock(self):
        if not self.scenario.clock:
            return {}
        self.set_clock(0)
        library = self.directory / "clock.so"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", HERE / "clock.c", "-o", library], check=True)
        return {"LD_PRELOAD": str(library), "ASSAY_TEST_CLOCK": str(self.directory / "clock")}

    def _topics(self):
        return [topics.REQUESTS, topics.VERDICTS, topics.LETTERS, topics.RESULTS, *topics.ALL_TASKS]

    def _read_live(self):
        since = self.since[topics.VERDICTS]
        for record in topics.follow(self.kafka, topics.VERDICTS, True, since, self.end_live):
            self.live.append(record)

    # --- load, and its end ---

    def _load(self):
        fault = threading.Thread(target=self._fault)
        fault.start()
        writer = Writer(self.kafka)
        stream = generate.Generator(self.seed, self.scenario.mix, f"s{self.seed}-{self.directory.name}")
        requests = iter(stream)
        step, end = 1 / self.scenario.rate, time.monotonic() + self.scenario.load_s
        extra = [kind for kind, n in self.scenario.extra.items() for _ in range(n)]
        while time.monotonic() < end:
            writer.write(stream.make(extra.pop()) if extra else next(requests))
            time.sleep(step)
        self.over.set()
        fault.join()
        if self.proxy:
            self.proxy.clear()
        writer.close()
        self.written = writer.written
        self.journal.write(f"{time.monotonic() - self.began:8.3f} {self.written} requests written, all gets well\n")

    def _fault(self):
        try:
            self.scenario.fault(self)
        except Exception as error:  # a fault that could not be injected is no passed test
            self.note("harness", f"{self.scenario.fault}: {error!r}")

    def _settle(self):
        """Waits until every request is read and committed, at most settle_s."""
        self.lag = {}

        def is_settled():
            for group, names in GROUPS.items():
                self.lag.update(topics.lag(self.kafka, group, names))
            return not any(self.lag.values())

        try:
            wait_until(is_settled, self.scenario.settle_s, "an end of the lag", look_s=0.5)
        except TimeoutError:
            pass  # the checker reports the lag
        self.journal.write(f"{time.monotonic() - self.began:8.3f} settled: {self.lag}\n")

    def _stop(self):
        self.over.set()
        if hasattr(self, "fleet"):
            self.fleet.close()
        if self.proxy:
            self.proxy.close()
        self.end_live.set()
        if hasattr(self, "reader"):
            self.reader.join(30)

    # --- final state ---

    def _evidence(self):
        def read(topic, committed):
            return topics.read(self.kafka, topic, committed, self.since[topic])

        requests, committed = read(topics.REQUESTS, True), read(topics.VERDICTS, True)
        (self.directory / "verdicts.jsonl").write_bytes(b"".join(r.value + b"\n" for r in committed))
        tasks = [t for topic in topics.ALL_TASKS for r in read(topic, True) for t in topics.tasks(r, 2)]
        return checker.Evidence(
            requests=requests,
            committed=committed,
            uncommitted=read(topics.VERDICTS, False),
            letters=read(topics.LETTERS, True),
            live=self.live,
            expected=self._expected(requests),
            lag=self.lag,
            tasks=tasks,
            results=[t for r in read(topics.RESULTS, True) for t in topics.tasks(r, 3)],
            owners=self.fleet.owners(),
            peak_rss={p.name: p.peak_rss for p in self.fleet.places.values()},
            leftovers=self.fleet.leftovers(),
            deaths=self.fleet.deaths,
            answers=self.callers.answers if self.callers else {},
            unanswered=self.callers.unanswered if self.callers else [],
        )

    def _expected(self, requests):
        """Returns the verdicts of the engine in one process on the same lines."""
        asked = [r for r in requests if checker.KINDS[checker.kind_of(r)][1]]
        log, out = self.directory / "requests.jsonl", self.directory / "expected.jsonl"
        log.write_bytes(b"".join(r.value + b"\n" for r in asked))
        command = [self.assay, "replay", log, *self._databases(), "--out", out]
        subprocess.run([*command, "--format", "jsonl", "--force", "--quiet"], check=False)
        verdicts = [json.loads(line) for line in out.read_text().splitlines()]
        return {asked[v["line"] - 1].at: v for v in verdicts}


class Writer:
    """Writes requests so that each is in the log once, whatever happens to the brokers."""

    def __init__(self, servers):
        from confluent_kafka import Producer

        settings = {"bootstrap.servers": servers, "enable.idempotence": True, "linger.ms": 5, "log_level": 0}
        settings.update({"message.timeout.ms": 150_000, "message.max.bytes": 70 << 20, "compression.type": "lz4"})
        self.producer, self.written, self.failed = Producer(settings), 0, []

    def write(self, request):
        arguments = {"headers": request.record_headers(), "on_delivery": self._delivered}
        if request.value is not None:
            arguments["value"] = request.value
        if request.key is not None:
            arguments["key"] = request.key
        self.producer.produce(topics.REQUESTS, **arguments)
        self.producer.poll(0)

    def _delivered(self, error, _):
        if error:
            self.failed.append(error)
        else:
            self.written += 1

    def close(self):
        if self.producer.flush(160) or self.failed:
            raise RuntimeError(f"requests could not be written: {self.failed[:3]}")


# --- command line ---


class Session:
    def __init__(self, arguments):
        self.arguments = arguments
        self.directory = Path(arguments.directory) if arguments.directory else self._passing_folder()
        self.directory.mkdir(parents=True, exist_ok=True)
        self.servers = Servers(self.directory / "servers")
        self.count, self.failed = 0, []

    @staticmethod
    def _passing_folder():
        """Creates a folder that PostgreSQL, running as another user, can traverse. An existing folder of another owner
        is unchanged."""
        directory = Path(tempfile.mkdtemp(prefix="assay-soak."))
        directory.chmod(0o755)
        return directory

    def one(self, scenario, seed, mutation=None, wanted=frozenset()):
        self.count += 1
        name = f"{scenario.name}, seed {seed}"
        began = time.monotonic()
        try:
            self.servers.want(scenario.servers)
            directory = self.directory / f"{self.count:03}"
            run = Run(scenario, seed, self.servers, self.arguments.assay, directory, mutation)
            found, figures = run.go(), run.figures
        except Exception as error:  # a scenario that could not be run counts as failed
            found, figures = [("harness", repr(error))], {}
        took = time.monotonic() - began
        if mutation:
            name, found = f"{mutation}: {name}", self._caught(found, wanted)
        counted = "".join(f", {k} {v}" for k, v in figures.items())
        print(f"{'[FAIL]' if found else '[PASS]'} {name}: {took:.0f} s{counted}")
        for fault, text in found[:10]:
            print(f"    {fault}: {text}")
        if len(found) > 10:
            print(f"    and {len(found) - 10} more in {self.directory}/{self.count:03}/run.log")
        sys.stdout.flush()
        if found:
            self.failed.append(name)
            self.servers.stop()  # remains of this scenario may affect the next one
        return not found

    def _caught(self, found, wanted):
        """Inverts the outcome for a mutation: the checker must find the fault."""
        self.servers.stop()  # whatever it left behind
        seen = [text for name, text in found if name in wanted]
        if not seen:
            return [("missed", f"the guard was left out, and nobody saw it; found: {found[:3]}")]
        print(f"    {len(seen)} times, as in: {seen[0][:200]}")
        return []

    def close(self):
        self.servers.stop()
        if not self.failed and not self.arguments.directory:
            shutil.rmtree(self.directory)
        print(f"Synthesis: Tested: {self.count} | Passing: {self.count - len(self.failed)}")
        return 1 if self.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--assay", type=lambda text: Path(text).resolve(), help="the program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="scenarios, by the beginning of their names")
    parser.add_argument("--short", action="store_true", help="the set that every test run has")
    parser.add_argument("--mutations", action="store_true", help="leave each guard out once; needs such a build")
    parser.add_argument("--minutes", type=float, help="go on for so long, with other seeds")
    parser.add_argument(
        "--directory", help="scratch directory, which stays; PostgreSQL's user must be able to enter it (default: one "
        "that goes when all passed)"
    )
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()
    chosen = [s for s in SCENARIOS if s.short or not arguments.short]
    if arguments.only:
        chosen = [s for s in SCENARIOS if any(s.name.startswith(n) for n in arguments.only.split(","))]
    if arguments.list:
        print(*(f"{s.name}{' (short)' if s.short else ''}" for s in chosen), sep="\n")
        return 0
    session = Session(arguments)
    try:
        for scenario in CONTROLS if arguments.mutations else ():
            if not arguments.only or any(scenario.name.startswith(n) for n in arguments.only.split(",")):
                session.one(scenario, arguments.seed)
        for name, (scenario, wanted) in MUTATIONS.items() if arguments.mutations else ():
            if not arguments.only or name in arguments.only.split(","):
                session.one(scenario, arguments.seed, name, wanted)
        if arguments.mutations:
            return session.close()
        end, seed = time.monotonic() + 60 * (arguments.minutes or 0), arguments.seed
        while True:
            for scenario in chosen:
                if not arguments.minutes or time.monotonic() < end:
                    session.one(scenario, seed)
            seed += 1
            if time.monotonic() >= end:
                break
    except BaseException:
        session.servers.stop()
        raise
    return session.close()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
