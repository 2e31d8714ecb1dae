"""The exact model: every request, message, task and transaction of a fleet is an event.

Exact: threads that do one thing at a time in order; partitions by key; which candidates of a request are out (decide.c: all, or one
after the other while workers are busy); batches of a worker, its answers in one message (lanes.c, dispatch.c); when a transaction
begins and that it runs beside the reader (settle.c); a limit of open requests; cores that are shared equally by whatever runs.
Approximate: a message takes as long as one alone does (`hop`), families of a candidate are drawn apart from each other, the CPU of a
message is that of a request in equal parts, and a candidate that is slow holds its thread (`--slow-threads 0`)."""
import bisect
import collections
import heapq
import itertools
import random

COMMIT_S, MARKERS_S, WORK_SHARE, COMMIT_MOST_S, BATCH_MAX = 0.1, 0.004, 4, 1.0, 5000  # proto/bus/kafka/exactly_once/settle.c
IDLE_WAIT_S, WAIT_SHARE, WINDOW = 0.020, 32, 16  # coordinator/coordinator.c, coordinator/core.c
TASKS, RESULTS = 12 * 7, 16  # worker/internal.h: BATCH, OUTBOX


LIGHT = 0.2  # of the throughput: batches are small, and the light costs are measured


def cpu_at(load, light, full):
    """CPU seconds a request at a load between 0 and 1. A fleet takes CPU for each request and, beside that, for what it does so often
    a second (polls, transactions, batches of what came meanwhile). Both measured loads thus say a line of CPU a second, and below the
    light one a request costs as there: no batch has less than one."""
    load = max(load, LIGHT)
    of_full = (load - LIGHT) / (1 - LIGHT)
    return (light * LIGHT * (1 - of_full) + full * of_full) / load


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
    """Does one thing at a time, in order; `idle` is called when there is none. A thing is called with what to call when it is over."""

    def __init__(self, idle=lambda: None): self.queue, self.busy, self.idle = collections.deque(), False, idle

    def do(self, thing):
        self.queue.append(thing)
        if not self.busy: self.next()

    def next(self):
        self.busy = bool(self.queue)
        if self.busy: self.queue.popleft()(self.next)
        else: self.idle()


class Coordinator:
    """One thread reads and decides, and one transaction at a time runs beside it (once.c, settle.c)."""

    def __init__(self, fleet):
        self.fleet, self.thread, self.settled, self.open, self.waiting = fleet, Thread(self.plan), [], 0, collections.deque()
        self.ended, self.took, self.transacting, self.due, self.batches = -COMMIT_MOST_S, 0.0, False, None, []
        self.wait_s = 0.0  # of a first answer, a moving mean (core.c: note_wait)

    def take(self, request):
        if self.open >= self.fleet.max_open: return self.waiting.append(request)
        self.open += 1
        self.turn(1, self.send, request)

    def turn(self, parts, then, *arguments):
        """So many of the equal parts of what a request costs a coordinator: its thread's, and beside it the library's."""
        fleet = self.fleet
        def begin(over): fleet.cores.use(fleet.own["coordinator"] * fleet.turns * parts, done, over)
        def done(over):
            then(*arguments)
            over()
        fleet.cores.use(fleet.library["coordinator"] * fleet.turns * parts, lambda: None)
        self.thread.do(begin)

    def send(self, request):
        most = WINDOW if self.fleet.all_at_once or self.wait_s < IDLE_WAIT_S else 1
        n = min(request.left, max(0, most - request.out))
        request.left, request.out = request.left - n, request.out + n
        worker = self.fleet.workers[request.task_key % len(self.fleet.workers)]
        if n: self.fleet.message(n, worker.take, [Candidate(request, self.fleet.clock.now) for _ in range(n)])

    def answer(self, candidates):
        """What one message had."""
        request = candidates[0].request
        for candidate in candidates:
            wait = max(0.0, self.fleet.clock.now - candidate.sent - candidate.first_task)
            self.wait_s += (wait - self.wait_s) / WAIT_SHARE
        request.out -= len(candidates)
        if request.left: self.send(request)
        elif not request.out: self.settle(request)

    def settle(self, request):
        self.open -= 1
        self.settled.append(request)
        if self.waiting: self.take(self.waiting.popleft())
        self.plan()

    def plan(self):
        """Who has nothing to read commits at once."""
        now = self.fleet.clock.now
        if self.transacting or not self.settled: return
        pause = MARKERS_S if not self.thread.busy else max(self.fleet.commit, min(WORK_SHARE * self.took, COMMIT_MOST_S))
        due = now if len(self.settled) >= BATCH_MAX else max(now, self.ended + pause)
        if due <= now: self.transact()
        elif self.due is None or due < self.due:
            self.due = due
            self.fleet.clock.after(due - now, self.look, due)

    def look(self, due):
        if due != self.due: return
        self.due = None
        self.plan()

    def transact(self):
        batch, self.settled, self.due = self.settled[:BATCH_MAX], self.settled[BATCH_MAX:], None
        self.transacting, self.took = True, self.fleet.transaction(self.fleet.chance)
        self.batches.append(len(batch))
        self.fleet.cores.use(self.fleet.message_cpu * len(batch), lambda: None)
        self.fleet.clock.after(self.took, self.committed, batch)

    def committed(self, batch):
        self.ended, self.transacting = self.fleet.clock.now, False
        for request in batch: self.fleet.visible(request)
        self.plan()


class Worker:
    """One thread of a worker: takes what has come, small requests first (lanes.c); answers when there are RESULTS or all is done, those of
    a request in one message (dispatch.c)."""

    def __init__(self, fleet): self.fleet, self.queue, self.batch, self.judged, self.results, self.busy = fleet, [], [], [], 0, False

    def take(self, candidates):
        self.queue += candidates
        if not self.busy: self.poll()

    def poll(self):
        most = max(1, TASKS // self.fleet.families)
        batch, self.queue = self.queue[:most], self.queue[most:]
        n = collections.Counter(candidate.request for candidate in batch)
        self.batch = sorted(batch, key=lambda candidate: (n[candidate.request], candidate.request.number), reverse=True)
        self.busy = bool(batch)
        if batch: self.judge()

    def judge(self):
        if not self.batch:
            self.flush(self.judged)
            return self.poll()
        candidate, fleet = self.batch.pop(), self.fleet
        tasks = [draw(fleet.chance) * fleet.scale for share, draw in fleet.tasks if share == 1.0 or fleet.chance.random() < share]
        candidate.first_task = (tasks[0] if tasks else 0.0) + fleet.slow_s
        fleet.cores.use(fleet.beside + sum(tasks), fleet.clock.after, fleet.slow_s, self.answer, candidate)  # ASSAY_SLOW_MS sleeps

    def answer(self, candidate):
        self.judged.append(candidate)
        self.results += self.fleet.families
        if self.results >= RESULTS:
            rest = self.results - RESULTS  # of this candidate, whose last results are for the next time
            self.flush(self.judged[:-1] if rest else self.judged)
            self.results = rest
        self.judge()

    def flush(self, candidates):
        self.judged, self.results = self.judged[len(candidates):], 0
        fleet = self.fleet
        fleet.cores.use(fleet.library["worker"] / fleet.visits * len(candidates), lambda: None)
        for request, some in itertools.groupby(candidates, lambda candidate: candidate.request):
            some = list(some)
            coordinator = fleet.coordinators[request.key % len(fleet.coordinators)]
            fleet.message(len(some), coordinator.turn, len(some), coordinator.answer, some)


class Request:
    """`key`: its partition; `task_key`: that of its tasks, whose key is where it stands in its own."""
    __slots__ = ("number", "due", "key", "task_key", "left", "out")

    def __init__(self, number, due, key, task_key, left):
        self.number, self.due, self.key, self.task_key, self.left, self.out = number, due, key, task_key, left, 0


class Candidate:
    __slots__ = ("request", "sent", "first_task")

    def __init__(self, request, sent): self.request, self.sent, self.first_task = request, sent, 0.0


class Fleet:
    """`costs` is a costs file (docs/scaling.md); `load`, between 0 and 1, says which CPU a request takes (cpu_at)."""

    def __init__(self, costs, seed, *, coordinators=1, threads=1, partitions=8, cores=2, load=0.0, max_open=256, commit=COMMIT_S, slow_s=0.0):
        self.clock, self.chance = Clock(), random.Random(seed)
        self.cores, self.max_open, self.commit, self.slow_s = Cores(self.clock, cores), max_open, commit, slow_s
        self.hop, self.transaction = Draw(costs["hop"]), Draw(costs["commit"])
        self.request_hop = Draw(costs.get("request_hop", costs["hop"]))
        self.counts = Draw([[n, share, n] for n, share in costs["candidates"]])
        # Statements that are the same are asked once, so a request visits workers less often than it has candidates, but once.
        candidates, self.visits = self.counts.moment(1), max(task["a_request"] for task in costs["task"].values())
        self.asked = (self.visits - 1) / (candidates - 1) if candidates > 1 else 1.0
        self.all_at_once = costs["strategy"] == "rerank"  # rules.c: evaluate_all; the others may stop at a candidate
        self.cpu, self.own = ({part: cpu_at(load, light, parts["full"][part]) for part, light in parts["light"].items()}
                              for parts in (costs["cpu"], costs.get("own_cpu", costs["cpu"])))
        self.library = {part: max(0.0, self.cpu[part] - own) for part, own in self.own.items()}
        self.families = len(costs["task"])
        self.tasks = [(costs["task"][family]["a_request"] / self.visits, Draw(costs["task"][family]["seconds"]))
                      for family in sorted(costs["task"], key=lambda family: family != "execution")]
        # A task takes the CPU of its thread, and what its duration was beyond that it waited for a core: the model has its own waits. What
        # a thread does beside its tasks is its CPU but for theirs.
        mean, cpu = sum(share * draw.moment(1) for share, draw in self.tasks), self.own["worker"] / self.visits
        self.scale, self.beside = min(1.0, cpu / mean), max(0.0, cpu - mean)
        self.turns = 1 / (self.visits + 1)  # a coordinator's turns of a request, and so the CPU of one
        self.message_cpu = (self.cpu["broker"] + self.cpu["redis"]) * self.turns / 2  # request, tasks and results by candidate, verdict
        self.partitions, self.workers = partitions, [Worker(self) for _ in range(threads)]
        self.coordinators = [Coordinator(self) for _ in range(coordinators)]
        self.taken, self.verdicts, self.started = [], 0, 0

    def start(self, due):
        self.started += 1
        key, task_key = (self.chance.randrange(self.partitions) for _ in range(2))
        self.clock.after(due - self.clock.now, self.arrive, Request(self.started, due, key, task_key, self.draw_visits()))

    def draw_visits(self):
        return 1 + sum(self.chance.random() < self.asked for _ in range(int(self.counts(self.chance)) - 1))

    def arrive(self, request):
        self.cores.use(self.cpu["driver"], lambda: None)
        self.message(1, self.coordinators[request.key % len(self.coordinators)].take, request, hop=self.request_hop)

    def message(self, parts, then, *arguments, hop=None):
        """Produce to poll; the brokers' CPU is used meanwhile, and the message is there when both are over."""
        both = []
        def one():
            both.append(1)
            if len(both) == 2: then(*arguments)
        self.clock.after((hop or self.hop)(self.chance), one)
        self.cores.use(self.message_cpu * parts, one)

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
