"""The exact model: every request, message, task and transaction of a fleet is an event.

Exact: threads that do one thing at a time in order, partitions by key, one candidate of a request after the other, the wait
for a transaction (settle.c: COMMIT_MS, WORK_SHARE, BATCH_MAX), a coordinator that does nothing else while it commits, a limit
of open requests, and cores that are shared equally by whatever runs. Approximate: a message takes as long as one alone does
(`hop`), families of a candidate are drawn apart from each other, and the CPU of a message is that of a request in equal parts."""
import bisect
import collections
import heapq
import itertools
import random

COMMIT_S, WORK_SHARE, COMMIT_MOST_S, BATCH_MAX = 0.1, 4, 1.0, 5000  # proto/bus/kafka/exactly_once


class Draw:
    """Values of a histogram: rows [upper bound, share]. Within a bucket all values are as likely."""

    def __init__(self, rows):
        self.highs = [row[0] for row in rows]
        self.lows = [row[2] if len(row) > 2 else low for row, low in zip(rows, [0.0, *self.highs])]
        self.until = list(itertools.accumulate(row[1] for row in rows))

    def __call__(self, chance):
        i = min(bisect.bisect_left(self.until, chance.random() * self.until[-1]), len(self.highs) - 1)
        return chance.uniform(self.lows[i], self.highs[i])

    def moment(self, power):
        """The mean of the values' `power`."""
        shares = [b - a for a, b in zip([0.0, *self.until], self.until)]
        return sum(share * (high ** (power + 1) - low ** (power + 1)) / ((power + 1) * (high - low)) if high > low else share * high ** power
                   for share, low, high in zip(shares, self.lows, self.highs)) / self.until[-1]


class Clock:
    """Runs what is due, in order of time, then of when it was asked for."""

    def __init__(self): self.now, self.events, self.order = 0.0, [], itertools.count()

    def after(self, seconds, then, *arguments): heapq.heappush(self.events, (self.now + seconds, next(self.order), then, arguments))

    def run(self):
        while self.events:
            self.now, _, then, arguments = heapq.heappop(self.events)
            then(*arguments)


class Cores:
    """So many cores, shared equally: n bursts of CPU each go at min(1, cores / n)."""

    def __init__(self, clock, cores):
        self.clock, self.cores, self.served, self.since, self.bursts, self.version, self.order = clock, cores, 0.0, 0.0, [], 0, itertools.count()
        self.busy = 0.0  # core seconds

    def speed(self): return min(1.0, self.cores / len(self.bursts)) if self.bursts else 0.0

    def catch_up(self):
        passed = (self.clock.now - self.since) * self.speed()
        self.served += passed
        self.busy += passed * len(self.bursts)
        self.since = self.clock.now

    def plan(self):
        self.version += 1
        if self.bursts: self.clock.after(max(0.0, (self.bursts[0][0] - self.served) / self.speed()), self.end, self.version)

    def use(self, seconds, then, *arguments):
        self.catch_up()
        heapq.heappush(self.bursts, (self.served + seconds, next(self.order), then, arguments))
        self.plan()

    def end(self, version):
        if version != self.version: return
        self.catch_up()
        _, _, then, arguments = heapq.heappop(self.bursts)
        self.plan()
        then(*arguments)


class Thread:
    """Does one thing at a time, in order. A thing is called with what to call when it is over."""

    def __init__(self): self.queue, self.busy = collections.deque(), False

    def do(self, thing):
        self.queue.append(thing)
        if not self.busy: self.next()

    def next(self):
        self.busy = bool(self.queue)
        if self.busy: self.queue.popleft()(self.next)


class Coordinator:
    """One thread: reads, decides and commits (once.c)."""

    def __init__(self, fleet):
        self.fleet, self.thread, self.settled, self.open, self.waiting = fleet, Thread(), [], 0, collections.deque()
        self.ended, self.took, self.planned = -1.0, 0.0, False

    def take(self, request):
        if self.open >= self.fleet.max_open: return self.waiting.append(request)
        self.open += 1
        self.fleet.next_candidate(self, request)

    def settle(self, request):
        self.settled.append(request)
        self.plan()

    def plan(self):
        if self.planned or not self.settled: return
        pause = max(self.fleet.commit, min(WORK_SHARE * self.took, COMMIT_MOST_S))
        if len(self.settled) >= BATCH_MAX: pause = 0.0
        self.planned = True
        self.fleet.clock.after(max(0.0, self.ended + pause - self.fleet.clock.now), self.thread.do, self.transact)

    def transact(self, over):
        batch, self.settled = self.settled[:BATCH_MAX], self.settled[BATCH_MAX:]
        self.took = self.fleet.transaction(self.fleet.chance)
        self.fleet.clock.after(self.took, self.committed, batch, over)

    def committed(self, batch, over):
        self.ended, self.planned = self.fleet.clock.now, False
        for request in batch: self.fleet.visible(request)
        self.open -= len(batch)
        while self.waiting and self.open < self.fleet.max_open: self.take(self.waiting.popleft())
        self.plan()
        over()


class Request:
    __slots__ = ("due", "key", "left")

    def __init__(self, due, key, left): self.due, self.key, self.left = due, key, left


class Fleet:
    """`costs` is a costs file (docs/scaling.md); `load`, between 0 and 1, says which CPU of a message it takes: that of `light`, where
    batches are small, up to that of `full`."""

    def __init__(self, costs, seed, *, coordinators=1, threads=1, partitions=8, cores=2, load=0.2, max_open=256, commit=COMMIT_S, slow_s=0.0):
        self.clock, self.chance = Clock(), random.Random(seed)
        self.cores, self.max_open, self.commit, self.slow_s = Cores(self.clock, cores), max_open, commit, slow_s
        self.partitions, self.threads = partitions, [Thread() for _ in range(threads)]
        self.coordinators = [Coordinator(self) for _ in range(coordinators)]
        self.hop, self.transaction = Draw(costs["hop"]), Draw(costs["commit"])
        self.counts = Draw([[n, share, n] for n, share in costs["candidates"]])
        # Statements that are the same are asked once, so a request visits workers less often than it has candidates, but once.
        candidates, self.visits = self.counts.moment(1), max(task["a_request"] for task in costs["task"].values())
        self.asked = (self.visits - 1) / (candidates - 1) if candidates > 1 else 1.0
        self.tasks = [(task["a_request"] / self.visits, Draw(task["seconds"])) for task in costs["task"].values()]
        light, full = costs["cpu"]["light"], costs["cpu"]["full"]
        self.cpu = {part: light[part] + (full[part] - light[part]) * load for part in full}
        # What a worker does beside its tasks, messages above all: its CPU but for theirs.
        self.beside = max(0.0, self.cpu["worker"] / self.visits - sum(share * draw.moment(1) for share, draw in self.tasks))
        self.turns = 1 / (self.visits + 1)  # a coordinator's turns of a request, and so the CPU of one
        self.taken, self.verdicts = [], 0

    def start(self, due):
        self.clock.after(due - self.clock.now, self.arrive, Request(due, self.chance.randrange(self.partitions), self.draw_visits()))

    def draw_visits(self):
        return 1 + sum(self.chance.random() < self.asked for _ in range(int(self.counts(self.chance)) - 1))

    def arrive(self, request):
        self.cores.use(self.cpu["driver"], lambda: None)
        self.message(self.coordinators[request.key % len(self.coordinators)].take, request)

    def message(self, then, *arguments):
        """Produce to poll; the brokers' CPU is used meanwhile, and the message is there when both are over."""
        both = []
        def one():
            both.append(1)
            if len(both) == 2: then(*arguments)
        self.clock.after(self.hop(self.chance), one)
        self.cores.use((self.cpu["broker"] + self.cpu["redis"]) * self.turns / 2, one)

    def next_candidate(self, coordinator, request):
        def turn(over):
            self.cores.use(self.cpu["coordinator"] * self.turns, turned, over)
        def turned(over):
            if request.left:
                request.left -= 1
                self.message(self.threads[request.key % len(self.threads)].do, lambda done: self.evaluate(coordinator, request, done))
            else:
                coordinator.settle(request)
            over()
        coordinator.thread.do(turn)

    def evaluate(self, coordinator, request, over):
        seconds = self.beside + sum(draw(self.chance) for share, draw in self.tasks if share == 1.0 or self.chance.random() < share)
        def done():
            self.message(self.next_candidate, coordinator, request)
            over()
        self.cores.use(seconds, self.clock.after, self.slow_s, done)  # ASSAY_SLOW_MS sleeps

    def visible(self, request):
        self.verdicts += 1
        self.taken.append(self.clock.now - request.due)


def open_loop(costs, seed, rate, seconds, **how):
    """The fleet after requests came at random, so many a second."""
    fleet, at = Fleet(costs, seed, **how), 0.0
    while at < seconds:
        at += fleet.chance.expovariate(rate)
        fleet.start(at)
    fleet.clock.run()
    return fleet


def flood(costs, seed, requests, **how):
    """Requests a second of so many that are all there at once."""
    return requests / max(flood_times(costs, seed, requests, **how))


def flood_times(costs, seed, requests, **how):
    """When each verdict was there, of requests that came at once."""
    fleet = Fleet(costs, seed, load=1.0, **how)
    for _ in range(requests): fleet.start(0.0)
    fleet.clock.run()
    return fleet.taken


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
