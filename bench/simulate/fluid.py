"""The approximate model, for more requests than can be followed one by one. In each step of time it computes how many
requests of each lane wait, are open, and are judged. A lane is a share of the load with its own partitions and threads.
Requests that share threads are in one lane.

These parts are exact: conservation, limits on open requests, KEDA's rules. These are approximate: within a step the
state is steady; the wait for a thread is that of Poisson arrivals at a single thread (Pollaczek-Khinchine), apart from
the backlog, which is worked off in order; all candidates of a request are sent at once and return in one message; the
threads of slow ones (`--slow-ms`) are either full or not. The parts are as large as the scenario says. Machines have
enough cores (`core_hours` gives their number)."""
import math
from dataclasses import dataclass, field

import engine

KEDA_POLL_S, KEDA_DOUBLES_S, KEDA_SETTLES_S, KEDA_HALVES_S = 30, 60, 600, 120  # k8s/components/keda/workers.yaml
MESSAGES = "request"  # --task-messages: at these rates the work of a broker depends on messages
LAG_THRESHOLD, WORKER_COMMIT_S = 100, 1.0


@dataclass
class Lane:
    """`share` of the load; `slow_s` is added to `slow_share` of its candidates. `threads` and `coordinators` are its
    own workers' threads and coordinators (0: its share)."""
    share: float = 1.0
    slow_s: float = 0.0
    slow_share: float = 1.0
    threads: float = 1.0
    coordinators: float = 0.0


@dataclass
class Scenario:
    """`away` is (from, to, share): between these seconds, that share of all partitions cannot be reached."""
    rate: float
    threads: int
    coordinators: int
    max_open: int = 512
    seconds: int = 600
    swing: float = 0.0
    pods: tuple = ()  # (threads of a pod, least, most), if KEDA scales
    lanes: list = field(default_factory=lambda: [Lane()])
    away: tuple = (0, 0, 0.0)

    def rate_at(self, t): return self.rate * (1 - self.swing * math.cos(2 * math.pi * t / 86400))


class Service:
    """The service of a request, from the costs: its visits to workers, thread seconds of each, and seconds without any
    load."""

    def __init__(self, costs, slow_s=0.0, slow_share=1.0, load="light", partitions=8):
        self.fleet = fleet = engine.Fleet(costs, 0, load=float(load == "full"), partitions=partitions,
                                          messages=MESSAGES)
        self.visits = fleet.visits
        rows = [(visits, self.visit_of(seconds * fleet.scale / visits + fleet.beside, slow_s, slow_share))
                for visits, seconds in fleet.work]
        self.judged, self.judged2 = (sum((visits * leads) ** power for visits, (leads, _) in rows) / len(rows)
                                     for power in (1, 2))
        self.visit = self.judged / self.visits
        self.aside = sum(visits * aside for visits, (_, aside) in rows) / len(rows) / self.visits
        self.own = fleet.own["coordinator"]
        self.turns = (self.own * fleet.turns, self.own * (1 - fleet.turns))  # turns at arrival, turns for results
        last = (1 - (1 - slow_share) ** self.visits) * self.aside / slow_share if slow_share else 0.0
        hops = (fleet.message_s("coordinator", "worker", engine.LINGER_S),
                fleet.message_s("worker", "coordinator", engine.LINGER_S))
        # the tasks: each topic is a separate request, one after the other
        self.open = (sum(hops) + (fleet.topics - 1) * sum(fleet.cost["broker"].seconds[:2]) + self.judged + last
                     + self.own)
        self.still = (fleet.message_s("driver", "coordinator", engine.DRIVER_LINGER_S) + self.open
                      + fleet.transaction_s() + fleet.read_s())

    @staticmethod
    def visit_of(seconds, slow_s, slow_share):
        """Returns (seconds of the leading thread, seconds of a thread beside it) for a candidate of a request with that
        many, of which a share is slow."""
        slow = seconds + slow_s
        leads = min(slow, max(seconds, engine.SLOW_S))
        return (1 - slow_share) * seconds + slow_share * leads, slow_share * (slow - leads)

    def transaction(self, rate):
        """Returns the seconds of a transaction, at this rate of verdicts for one coordinator. It contains what arrived
        during the previous one."""
        took = self.fleet.transaction_s()
        for _ in range(5): took = self.fleet.transaction_s(max(1.0, rate * (took + engine.MARKERS_S)))
        return took

    def commit_wait(self, rate):
        """Returns the seconds until the transaction of a verdict begins, at this rate of verdicts for one coordinator.
        If it has nothing to read, this is the rest of the current cycle, if any. Otherwise it also waits until all is
        read, but at most as long as under load."""
        if not rate: return 0.0
        took = self.transaction(rate)
        cycle, pause = took + engine.MARKERS_S, max(engine.COMMIT_S, engine.WORK_SHARE * took)
        under_way = cycle / (cycle + math.exp(-rate * cycle) / rate)
        busy = rate * self.own
        until_read = self.reader_wait(rate) / (1 - busy) if busy < 1 else math.inf
        return min(under_way * cycle / 2 + until_read, (pause + took) / 2)

    def reader_wait(self, rate):
        return queued(2 * rate, sum(self.turns) / 2, sum(turn ** 2 for turn in self.turns) / 2)

    def workers_pass(self, threads):
        """Returns the requests a second that this many threads can handle, each with engine.SLOW_THREADS beside it."""
        return threads / self.visits * min(1 / self.visit, (1 + engine.SLOW_THREADS) / (self.visit + self.aside))

    def wait(self, rate, threads, coordinators):
        """Returns the seconds that a request waits for others: at its worker's thread, at its coordinator's thread, and
        for its transaction."""
        each = rate / coordinators
        return (queued(rate / threads, self.judged, self.judged2) + 2 * self.reader_wait(each)
                + self.commit_wait(each) +
                self.transaction(each) - self.transaction(0.0))


def queued(rate, mean, square):
    """Returns the mean wait for one thread, with random arrivals at this rate, from two moments of the service time."""
    return rate * square / (2 * (1 - rate * mean)) if rate * mean < 1 else math.inf


class Keda:
    """Scales pods by lag, at each poll."""

    def __init__(self, least, most):
        self.pods, self.least, self.most, self.asked, self.up, self.down = least, least, most, [], 0.0, 0.0

    def poll(self, t, lag):
        wanted = min(self.most, max(self.least, math.ceil(lag / LAG_THRESHOLD)))
        self.asked = [(at, n) for at, n in self.asked if at > t - KEDA_SETTLES_S] + [(t, wanted)]
        if wanted > self.pods and t - self.up >= KEDA_DOUBLES_S: self.pods, self.up = min(wanted, 2 * self.pods), t
        most = max(n for _, n in self.asked)
        if most < self.pods and t - self.down >= KEDA_HALVES_S: self.pods, self.down = max(most, self.pods // 2), t


class Run:
    """Simulates one lane over time."""

    def __init__(self, costs, scenario, lane):
        self.of, self.lane, self.service = scenario, lane, Service(costs, lane.slow_s, lane.slow_share, "full")
        self.waiting, self.cut_off, self.arrived, self.judged, self.most_waiting = 0.0, 0.0, 0.0, 0.0, 0.0
        self.coordinators = scenario.coordinators * (lane.coordinators or lane.share)
        self.keda = Keda(*scenario.pods[1:]) if scenario.pods else None
        self.least_pods, self.most_pods, self.pod_seconds = math.inf, 0, 0.0
        self.latencies, self.rate = [], 0.0  # (seconds, requests) of each step; requests judged a second in the last

    def limits(self, threads):
        """Returns the requests a second that each part could handle."""
        of, service = self.of, self.service
        return {"workers": service.workers_pass(threads),
                "coordinators": self.coordinators / service.own,
                "max_open": self.coordinators * of.max_open / service.open}

    def step(self, t, seconds):
        if self.keda and t % KEDA_POLL_S < seconds: self.keda.poll(t, self.lag)
        pods = self.keda.pods if self.keda else 0
        threads = (pods * self.of.pods[0] if pods else self.of.threads) * self.lane.threads
        self.least_pods, self.most_pods = min(self.least_pods, pods), max(self.most_pods, pods)
        self.pod_seconds += pods * seconds
        begins, ends, share = self.of.away
        there = 1 - share if begins <= t < ends else 1.0
        rate, most = self.of.rate_at(t) * self.lane.share, min(self.limits(threads).values())
        self.arrived += rate * seconds
        self.cut_off += rate * (1 - there) * seconds
        if there == 1.0: self.waiting, self.cut_off = self.waiting + self.cut_off, 0.0
        reached = self.waiting + rate * there * seconds
        passed = min(reached, most * there * seconds)
        self.waiting = reached - passed
        self.judged += passed
        self.rate = passed / seconds
        self.most_waiting = max(self.most_waiting, self.waiting + self.cut_off)
        wait = self.service.wait(min(rate, 0.98 * most), threads, self.coordinators)
        self.latencies.append((self.service.still + wait + self.waiting / (most * there), rate * there * seconds))
        if there < 1.0: self.latencies.append((ends - t + self.service.still + wait, rate * (1 - there) * seconds))

    @property
    def lag(self):
        """Returns the tasks of a family that are not committed yet: those of open requests, and those of the second
        during which workers do not commit."""
        return min(self.coordinators * self.of.max_open,
                   self.waiting + self.rate * (self.service.still + WORKER_COMMIT_S / 2))

    def result(self):
        limits = self.limits(self.of.threads * self.lane.threads)
        first = min(limits, key=limits.get)
        rate = self.of.rate * (1 + self.of.swing) * self.lane.share
        total = sum(n for _, n in self.latencies)
        ordered, below, p95 = sorted(self.latencies), 0.0, 0.0
        for p95, n in ordered:
            below += n
            if below >= 0.95 * total: break
        return {"rate": rate, "threads": self.of.threads * self.lane.threads,
                "latency_mean_s": sum(s * n for s, n in ordered) / total, "latency_p95_of_steps_s": p95,
                "most_waiting": self.most_waiting, "judged": self.judged, "left": self.waiting + self.cut_off,
                "first_limit": first, "first_limit_rate": limits[first],
                "busy_workers": rate / limits["workers"], "busy_coordinators": rate / limits["coordinators"],
                "open_used": rate / limits["max_open"],
                **({"pods": [self.least_pods, self.most_pods]} if self.keda else {})}


def run(costs, scenario, step_s=1):
    """Returns a row of results for each lane, and the cores of all."""
    runs = [Run(costs, scenario, lane) for lane in scenario.lanes]
    for i in range(int(scenario.seconds / step_s)):
        for one in runs: one.step(i * step_s, step_s)
    for one in runs:
        assert abs(one.arrived - one.judged - one.waiting
                   - one.cut_off) < 1e-6 * one.arrived, "a request was lost or judged twice"
    return {"lanes": [one.result() for one in runs], "core_hours_a_million": core_hours(costs)}


def core_hours(costs):
    """Returns the core hours of a million verdicts, by part. The driver has those of the callers."""
    return {part: seconds * 1e6 / 3600 for part, seconds in costs["modes"][MESSAGES]["cpu"]["full"].items()
            if part != "driver"}
