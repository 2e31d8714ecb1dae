"""The exact model of the fleet. Every request, message, batch, task and transaction is an event.

These parts are exact: threads that do one thing at a time, in order; partitions by key; which candidates of a request
are in flight (decide.c: all, or one after the other while workers are busy); messages of tasks by topic
(coordinator.c); batches of a worker, and its results in one message (lanes.c, dispatch.c); when a transaction begins,
and that it runs beside the reader (settle.c); a limit on open requests.

Three queues make a busy fleet slow. First, a message waits in its partition's batch (linger), then for the library's
thread, then for the broker. The broker handles one request of a connection at a time. Messages that arrive meanwhile
join the batch, so batches grow as the broker slows down. Second, a consumer's fetch returns the messages that exist,
and later ones wait for the next fetch. Third, a transaction is a sequence of such requests. All of these are bursts of
CPU on shared cores, which are divided among groups of processes first (Cores).

These parts are approximate: all requests to a broker have the same cost, and so do all messages, all candidates of a
request, and all families."""
import collections
import heapq
import itertools
import math
import random

# proto/bus/kafka/exactly_once/settle.c
COMMIT_S, MARKERS_S, WORK_SHARE, COMMIT_MOST_S, BATCH_MAX = 0.1, 0.004, 4, 1.0, 5000
IDLE_WAIT_S, WAIT_SHARE, WINDOW = 0.020, 32, 16  # coordinator/coordinator.c, coordinator/core.c
TASKS, JOINED, RESULTS = 12 * 7, 30, 30  # worker/internal.h: BATCH; proto/message: MSG_MAX_JOINED; OUTBOX
LINGER_S, TRANSACTION_LINGER_S, DRIVER_LINGER_S = 0.005, 0.001, 0.002  # producer.c, txn.c, bench/fleet.py
# librdkafka's fetch.wait.max.ms, and the maximum of requests in flight of an idempotent producer
FETCH_WAIT_S, DRIVER_FETCH_WAIT_S, IN_FLIGHT = 0.5, 0.010, 5
SESSION_S = 15.0  # session.timeout.ms of both groups
FAILURES, PAUSE_S, MOST_PAUSE_S, PROBE_S = 5, 1.0, 30.0, 0.1  # worker/db_breakers.c
RETRY_S, MOST_RETRY_S, ANSWER_S = 0.020, 2.0, 0.3  # worker/dispatch.c
SLOW_S, SLOW_THREADS = 0.020, 2  # cli/settings/options.c
MESSAGES = ("each", "family", "request")  # coordinator --task-messages
FOREVER = float("inf")
MOST_SHORT = 64  # cores; with more, no burst waits for a core, and searching them takes time
SLICE_S, MIGRATION_S = 0.0007, 0.0005  # Linux: of one core, more with more; what ran that recently stays where it is
IDLE_EVERY_S = 0.010
ROUNDS, LIGHT_S = 6, 20  # rounds of calibrate, and seconds of its light load


LIGHT = 0.2  # share of the throughput at which batches are small; the light costs are measured there


def cpu_at(load, light, full):
    """Returns the CPU seconds of a request at a load between 0 and 1. A fleet uses CPU for each request. It also uses
    CPU for regular work (polls, transactions, batches). The two measured loads give a linear function of CPU a second.
    Below the light load a request costs as much as there, because no batch has less than one message."""
    load = max(load, LIGHT)
    of_full = (load - LIGHT) / (1 - LIGHT)
    return (light * LIGHT * (1 - of_full) + full * of_full) / load


class Clock:
    """Runs events in order of their due time, then in the order in which they were scheduled."""

    def __init__(self): self.now, self.events, self.order = 0.0, [], itertools.count()

    def after(self, seconds, then, *arguments):
        heapq.heappush(self.events, (self.now + seconds, next(self.order), then, arguments))

    def run(self):
        while self.events:
            self.now, _, then, arguments = heapq.heappop(self.events)
            then(*arguments)


class Group:
    """CPU bursts that wait for a core, of processes that share a part of the machine. `used` is the CPU time so far, on
    a clock that does not fall behind."""

    def __init__(self): self.ready, self.running, self.used = collections.deque(), 0, 0.0


class Cores:
    """Cores, each with its own queue, as in Linux. A burst that becomes ready goes to an idle core, otherwise to any.
    An idle core takes a burst that has waited at another core for MIGRATION_S. A burst keeps its core for a slice, or
    until it is over. Then the group with the least use of that core gets it; within the group, the burst that has
    waited longest. A burst may consist of runs of so many seconds each, as of threads that wake each other. After each
    run it waits again."""

    def __init__(self, clock, cores):
        self.clock, self.slice, self.chance = clock, SLICE_S * (1 + math.log2(min(cores, 8))), random.Random(cores)
        self.idle, self.groups = list(range(cores))[::-1], [{} for _ in range(cores)]
        self.busy = self.waited = 0.0  # core seconds, and seconds that bursts waited

    def use(self, seconds, then, *arguments, group="", run=FOREVER): self.wait(group, seconds, run, then, arguments)

    def wait(self, group, *burst):
        core = self.idle[-1] if self.idle else self.chance.randrange(len(self.groups))
        self.put(core, group, burst)
        if self.idle: self.next(self.idle.pop())

    def put(self, core, name, burst):
        groups = self.groups[core]
        of = groups.setdefault(name, Group())
        if not of.ready and not of.running:
            of.used = max(of.used, min((other.used for other in groups.values() if other.ready or other.running),
                                       default=0.0))
        of.ready.append((self.clock.now, burst))

    def find(self, core):
        """Returns the group that is next on this core."""
        waiting = [item for item in self.groups[core].items() if item[1].ready]
        return min(waiting, key=lambda item: item[1].used)[0] if waiting else None

    def steal(self, core):
        if len(self.groups) > MOST_SHORT: return None
        for other in range(len(self.groups)):
            for name, of in self.groups[other].items():
                if other == core or not of.ready or self.clock.now - of.ready[0][0] < MIGRATION_S: continue
                self.put(core, name, of.ready.popleft()[1])
                return name
        return None

    def next(self, core):
        name = self.find(core)
        if name is None: name = self.steal(core)
        if name is None: return self.idle.append(core)
        of = self.groups[core][name]
        since, (seconds, run, then, arguments) = of.ready.popleft()
        now = min(seconds, run, self.slice)
        of.used += now
        of.running += 1
        self.waited += self.clock.now - since
        self.clock.after(now, self.over, core, name, now, seconds, run, then, arguments)

    def over(self, core, name, now, seconds, run, then, arguments):
        self.groups[core][name].running -= 1
        self.busy += now
        if seconds - now > 1e-12:
            if now == self.slice or run == FOREVER: self.put(core, name, (seconds - now, run, then, arguments))
            else: self.wait(name, seconds - now, run, then, arguments)
        else: then(*arguments)
        self.next(core)


class Thread:
    """Does one thing at a time, in order. `idle` is called when there is nothing to do. Each thing receives a callback
    for its end."""

    def __init__(self, idle=lambda: None): self.queue, self.busy, self.idle = collections.deque(), False, idle

    def do(self, thing):
        self.queue.append(thing)
        if not self.busy: self.next()

    def next(self):
        self.busy = bool(self.queue)
        if self.busy: self.queue.popleft()(self.next)
        else: self.idle()


class Cost:
    """CPU seconds of a part: for a request to a broker, for a message in it, and for a request of the transaction
    protocol. Counts all of them."""

    def __init__(self, *seconds): self.seconds, self.counted = seconds, [0, 0, 0]

    def of(self, requests=0, messages=0, protocol=0):
        numbers = (requests, messages, protocol)
        for i, n in enumerate(numbers): self.counted[i] += n
        return sum(n * seconds for n, seconds in zip(numbers, self.seconds))


class Client:
    """An instance of the Kafka library: its thread, and its connection. A broker handles one request of the connection
    at a time."""
    far_s = 0.0  # delay of each reply, and of those behind it

    def __init__(self, fleet, part):
        self.fleet, self.part, self.thread, self.connection = fleet, part, Thread(), Thread()

    def library(self, numbers, then, *arguments):
        self.run(self.thread, self.part, "fleet", numbers, 0.0, then, arguments)

    def broker(self, numbers, then, *arguments):
        self.run(self.connection, "broker", "broker", numbers, self.far_s, then, arguments)

    def run(self, thread, part, group, numbers, late, then, arguments):
        fleet = self.fleet
        def begin(over):
            fleet.cores.use(fleet.cost[part].of(*numbers), answered, over, group=group, run=fleet.runs[part])
        def answered(over): fleet.clock.after(late, done, over) if late else done(over)
        def done(over):
            then(*arguments)
            over()
        thread.do(begin)

    def ask(self, then):
        """A request of the transaction protocol and its reply."""
        self.library((0, 0, 1), lambda: self.broker((0, 0, 1), then))


class Producer(Client):
    """Batches by partition. A batch is a separate request (librdkafka), and contains what arrives until it is sent."""

    def __init__(self, fleet, part, linger, transacts=False):
        super().__init__(fleet, part)
        self.linger, self.transacts, self.open, self.ready, self.in_flight = (linger, transacts, {},
                                                                              collections.deque(), 0)
        if transacts: self.far_s = fleet.far_s

    def send(self, partition, consumer, message, then=None):
        """Sends a message. `then` is called when the broker has stored it."""
        if partition not in self.open:
            self.open[partition] = []
            self.fleet.clock.after(self.linger, self.is_ready, partition)
        self.open[partition].append((consumer, message, then))

    def is_ready(self, partition):
        self.ready.append(partition)
        self.next()

    def next(self):
        if not self.ready or self.in_flight == IN_FLIGHT: return
        batch = self.open.pop(self.ready.popleft())
        self.in_flight += 1
        self.library((1, len(batch)), self.broker_takes, batch)
        self.next()

    def broker_takes(self, batch):
        """For a partition of a transaction, the broker looks up the coordinator."""
        self.broker((1, len(batch), int(self.transacts)), self.is_safe, batch)

    def is_safe(self, batch):
        self.in_flight -= 1
        for consumer, some in itertools.groupby(batch, key=lambda item: item[0]):
            some = list(some)
            if consumer: consumer.put([message for _, message, _ in some])
            for _, _, then in some:
                if then: then()
        self.next()


class Consumer(Client):
    """One fetch at a time. The broker answers it when there are messages, or after `wait`. There is none while the
    partitions of the group are reassigned (stop)."""

    def __init__(self, fleet, part, take, wait=FETCH_WAIT_S):
        super().__init__(fleet, part)
        self.take, self.wait, self.there, self.fetching, self.stopped, self.parked = take, wait, [], False, 0, 0

    def put(self, messages):
        self.there += ((message, self.fleet.clock.now) for message in messages)
        self.fetch()

    def fetch(self):
        """Half of the broker's cost of a fetch is the reply. The other half is the next fetch, for which no component
        waits."""
        if self.fetching or self.stopped: return
        self.fetching = True
        some, cost = [], self.fleet.cost["broker"]
        def answer(over):
            some.extend(self.there)
            self.there = []
            self.run_broker(cost.of(1, len(some)) - cost.seconds[0] / 2, answered, over)
        def answered(over):
            over()
            self.library((1, len(some)), come_again)
        def come_again():
            self.connection.do(lambda over: self.run_broker(cost.seconds[0] / 2, parked, over))
            for message, appended in some: self.take(message, appended)
        def parked(over):
            over()
            self.park()
        self.connection.do(answer)

    def run_broker(self, seconds, then, *arguments):
        self.fleet.cores.use(seconds, then, *arguments, group="broker", run=self.fleet.runs["broker"])

    def park(self):
        self.fetching = False
        self.parked += 1
        if self.there: self.fetch()
        elif not self.fleet.is_over(): self.fleet.clock.after(self.wait, self.nothing, self.parked)

    def nothing(self, parked):
        if parked == self.parked and not self.fleet.is_over(): self.fetch()

    def stop(self, seconds):
        self.stopped += 1
        self.fleet.clock.after(seconds, self.go_on)

    def go_on(self):
        self.stopped -= 1
        if self.there: self.fetch()


class Coordinator:
    """One thread reads and decides. Transactions run beside it, one at a time for each share of its partitions (once.c,
    settle.c)."""

    def __init__(self, fleet):
        self.fleet, self.thread, self.open, self.waiting, self.batches = (fleet, Thread(self.plan), 0,
                                                                          collections.deque(), [])
        self.wait_s = 0.0  # wait for a first result, as a moving mean (core.c: note_wait)
        self.consumer = Consumer(fleet, "coordinator", self.take_message)
        self.tasks = Producer(fleet, "coordinator", LINGER_S)
        self.committers = [Committer(self) for _ in range(fleet.producers)]

    def take_message(self, message, appended):
        if isinstance(message, Request): return self.take(message, appended)
        self.turn("result_read", appended, len(message) / self.fleet.families, self.answer, message)

    def take(self, request, appended):
        if self.open >= self.fleet.max_open: return self.waiting.append((request, appended))
        self.open += 1
        self.turn("request_read", appended, 1, self.begin, request)

    def turn(self, stage, since, parts, then, *arguments):
        """Uses the CPU of several of the equal parts of a request's work on the coordinator's thread."""
        fleet = self.fleet
        def begin(over):
            fleet.note(stage, fleet.clock.now - since)
            fleet.cores.use(fleet.own["coordinator"] * fleet.turns * parts, done, over, group="fleet")
        def done(over):
            then(*arguments)
            over()
        self.thread.do(begin)

    def begin(self, request):
        left = request.deadline - self.fleet.clock.now
        if left <= 0: return self.decide(request, late=True)
        if left < FOREVER: self.fleet.clock.after(left, self.expire, request)
        self.send(request)

    def expire(self, request):
        """core_tick: the request expires. Results of its candidates in flight are then ignored."""
        if not request.decided: self.decide(request, late=True)

    def send(self, request):
        most = WINDOW if self.fleet.all_at_once or self.wait_s < IDLE_WAIT_S else 1
        n = min(request.left, max(0, most - request.out))
        request.left, request.out = request.left - n, request.out + n
        tasks = [Task(candidate, family) for candidate in (Candidate(request, self.fleet) for _ in range(n))
                 for family in range(self.fleet.families)]
        if self.fleet.messages == "each": groups = [[task] for task in tasks]
        elif self.fleet.messages == "request": groups = [tasks[i:i + JOINED] for i in range(0, len(tasks), JOINED)]
        else: groups = [[task for task in tasks if task.family == family] for family in range(self.fleet.families)]
        for group in groups:
            if group: self.fleet.send_tasks(self, request, group)

    def answer(self, tasks):
        """Handles the results of one message."""
        request = tasks[0].candidate.request
        for task in tasks:
            candidate = task.candidate
            candidate.left -= 1
            request.late |= task.unavailable
            if candidate.left: continue
            wait = max(0.0, self.fleet.clock.now - candidate.sent - candidate.first_task)
            self.wait_s += (wait - self.wait_s) / WAIT_SHARE
            request.out -= 1
        if request.decided: return
        if request.left: self.send(request)
        elif not request.out: self.decide(request)

    def decide(self, request, late=False):
        request.decided = True
        request.late |= late
        self.settle(request)

    def settle(self, request):
        self.open -= 1
        request.settled = self.fleet.clock.now
        of = self.committers[request.key // len(self.fleet.coordinators) % len(self.committers)]
        of.settled.append(request)
        if self.waiting: self.take(*self.waiting.popleft())
        of.plan()

    def plan(self):
        for of in self.committers: of.plan()


class Committer:
    """A transactional producer of a coordinator, with the settled records of its partitions."""

    def __init__(self, coordinator):
        self.coordinator, self.fleet, self.settled = coordinator, coordinator.fleet, []
        self.ended, self.took, self.transacting, self.due = -COMMIT_MOST_S, 0.0, False, None
        self.producer = Producer(self.fleet, "coordinator", 0.0, transacts=True)

    def plan(self):
        """Plans a commit. It is immediate if there is nothing to read."""
        now = self.fleet.clock.now
        if self.transacting or not self.settled: return
        pause = (MARKERS_S if not self.coordinator.thread.busy
                 else max(self.fleet.commit, min(WORK_SHARE * self.took, COMMIT_MOST_S)))
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
        self.transacting = True
        self.coordinator.batches.append(len(batch))
        Transaction(self, batch).begin()

    def committed(self, took):
        self.ended, self.transacting, self.took = self.fleet.clock.now, False, took
        self.plan()


class Transaction:
    """A transaction: adds its partitions, writes outputs (a request for each partition), adds and writes offsets, and
    ends. These requests are sequential (txn.c). Then the broker writes markers, and readers of committed records may
    read."""

    def __init__(self, committer, batch):
        self.of, self.batch, self.left, self.fleet = committer, batch, len(batch), committer.fleet
        self.began = self.fleet.clock.now
        for request in batch: self.fleet.note("commit_wait", self.began - request.settled)

    def begin(self): self.fleet.clock.after(self.fleet.transaction_wait, self.of.producer.ask, self.write)

    def write(self):
        producer = self.of.producer
        for request in self.batch: producer.open.setdefault(request.key, []).append((None, request, self.one_is_safe))
        producer.ready += producer.open
        producer.next()

    def one_is_safe(self):
        self.left -= 1
        if self.left: return
        self.written = self.fleet.clock.now
        self.fleet.note("write", self.written - self.began)
        ask = self.of.producer.ask
        ask(lambda: ask(lambda: ask(self.end)))

    def end(self):
        now = self.fleet.clock.now
        self.fleet.note("commit", now - self.written)
        partitions = len({request.key for request in self.batch})
        cost = self.fleet.cost["broker"].of(0, partitions, 1)
        self.fleet.cores.use(cost, self.fleet.reader.put, self.batch, group="broker", run=self.fleet.runs["broker"])
        self.of.committed(now - self.began)


class Worker:
    """One thread of a worker. It takes the tasks that have arrived, small requests first (lanes.c also alternates
    databases). It answers when there are RESULTS of them, or all are done; those of a request share a message
    (dispatch.c)."""

    def __init__(self, fleet):
        self.fleet, self.queue, self.batch, self.results, self.busy, self.at_a_time = (fleet, collections.deque(), [],
                                                                                       [], False, TASKS)
        self.consumer = Consumer(fleet, "worker", self.take)
        self.producer = Producer(fleet, "worker", LINGER_S)
        self.breaker, self.aside = Breaker(fleet), 0

    def take(self, tasks, appended):
        """Takes messages. `appended` is None if they are redelivered."""
        if appended is not None:
            for task in tasks: task.appended = appended
        self.queue.append(tasks)
        if self.busy: return
        self.busy = True
        self.fleet.clock.after(0.0, self.poll)  # together with the other messages of the fetch

    def poll(self):
        messages = [self.queue.popleft() for _ in range(min(len(self.queue), self.at_a_time))]
        tasks = [task for message in messages for task in message]
        self.busy = bool(tasks)
        if not tasks: return
        n = collections.Counter(task.candidate.request.number for task in tasks)
        tasks.sort(key=lambda task: (n[task.candidate.request.number], task.candidate.request.number,
                                     task.candidate.number, task.family))
        self.batch = [list(group) for _, group in itertools.groupby(tasks, key=lambda task: task.candidate)][::-1]
        families = self.fleet.families
        self.at_a_time = min(TASKS, max(families, TASKS * len(messages) // len(tasks) // families * families))
        self.judge()

    def judge(self):
        if not self.batch:
            self.flush()
            return self.poll()
        tasks, fleet = self.batch.pop(), self.fleet
        request = tasks[0].candidate.request
        for task in tasks: fleet.note("task_read", fleet.clock.now - task.appended)
        if fleet.clock.now >= request.deadline:
            self.put_results(tasks, unavailable=True)
            return fleet.clock.after(0.0, self.judge)
        if request.away and self.breaker.holds_up(self, tasks): return
        cpu = request.cpu * len(tasks) / fleet.families
        tasks[0].candidate.first_task = request.cpu / fleet.families + fleet.slow_s
        judging = Judging(self, tasks)
        # sleeps that ASSAY_SLOW_MS adds
        fleet.cores.use(cpu, fleet.clock.after, fleet.slow_s, judging.over, False, group="fleet")
        fleet.clock.after(SLOW_S, judging.overtake)

    def die(self, until_s):
        """The worker ends. When the group notices this, its tasks go to another worker, or to itself again."""
        held = [*self.queue, *self.batch]
        self.queue.clear()
        self.batch = []
        self.consumer.stop(until_s)
        self.consumer.put(held)

    def put_results(self, tasks, unavailable):
        for task in tasks:
            task.unavailable = unavailable
            self.results.append(task)
            if len(self.results) == RESULTS: self.flush()

    def flush(self):
        for request, some in itertools.groupby(self.results, lambda task: task.candidate.request):
            coordinator = self.fleet.coordinators[request.key % len(self.fleet.coordinators)]
            self.producer.send(request.key, coordinator.consumer, list(some))
        self.results = []


class Judging:
    """A candidate in a worker's thread. If it is slow, another thread takes the lead, if one is free (lanes.c)."""

    def __init__(self, worker, tasks): self.worker, self.tasks, self.ended, self.aside = worker, tasks, False, False

    def overtake(self):
        if self.ended or self.worker.aside >= self.worker.fleet.slow_threads: return
        self.aside = True
        self.worker.aside += 1
        self.worker.judge()

    def over(self, unavailable=None):
        """A task is over. `unavailable` is None if the tasks were nacked."""
        worker, self.ended = self.worker, True
        if unavailable is not None: worker.put_results(self.tasks, unavailable)
        if not self.aside: return worker.judge()
        worker.aside -= 1
        worker.flush()


class Request:
    """A request. `key` is its partition; `task_key` is that of its tasks, whose key is the position of the request in
    its partition. `cpu` is that of each candidate; `left` of them are not sent yet. `away`: its database may be
    unavailable."""
    __slots__ = ("number", "due", "key", "task_key", "left", "cpu", "deadline", "away", "out", "decided", "late",
                 "settled", "candidates")

    def __init__(self, number, due, key, task_key, left, cpu=0.0, deadline=FOREVER, away=False):
        self.number, self.due, self.key, self.task_key, self.left, self.cpu, self.deadline, self.away = (
            number, due, key, task_key, left, cpu, deadline, away)
        self.out, self.decided, self.late, self.settled, self.candidates = 0, False, False, 0.0, 0


class Candidate:
    __slots__ = ("request", "number", "sent", "first_task", "left")

    def __init__(self, request, fleet):
        request.candidates += 1
        self.request, self.number, self.sent, self.first_task, self.left = (request, request.candidates,
                                                                            fleet.clock.now, 0.0, fleet.families)


class Task:
    __slots__ = ("candidate", "family", "appended", "unavailable", "attempts")

    def __init__(self, candidate, family):
        self.candidate, self.family, self.appended, self.unavailable, self.attempts = candidate, family, 0.0, False, 0


class Breaker:
    """The circuit breaker of a worker for the unavailable database. It opens after `failures` in a row, for a pause
    that doubles; then one candidate is tried (lib/base/breaker.c, db_breakers.c). A task that cannot run is retried
    until its deadline is near, and is then unavailable."""

    def __init__(self, fleet): self.fleet, self.failures, self.opened, self.until, self.trying = fleet, 0, 0, 0.0, False

    def refuses(self, now): return self.trying or now < self.until

    def failed(self):
        self.failures += 1
        if self.failures < self.fleet.failures or (self.until and not self.trying): return
        pause = min(MOST_PAUSE_S, PAUSE_S * 2 ** self.opened) * self.fleet.chance.uniform(0.75, 1.25)
        self.opened, self.until, self.trying = self.opened + 1, self.fleet.clock.now + pause, False
        self.fleet.breakers_opened += 1

    def answered(self): self.failures, self.opened, self.until, self.trying = 0, 0, 0.0, False

    def holds_up(self, worker, tasks):
        """True if these tasks cannot be judged now. A database that does not answer fails after `away_s`."""
        fleet = self.fleet
        if self.refuses(fleet.clock.now):
            self.again(worker, tasks, max(self.until - fleet.clock.now, PROBE_S))
            fleet.clock.after(0.0, worker.judge)
            return True
        self.trying = self.until > 0
        if not fleet.is_away():
            self.answered()
            return False
        judging = Judging(worker, tasks)
        fleet.clock.after(fleet.away_s, self.waited, judging)
        fleet.clock.after(SLOW_S, judging.overtake)
        return True

    def waited(self, judging):
        self.failed()
        delay = min(MOST_RETRY_S,
                    RETRY_S * 2 ** min(20, judging.tasks[0].attempts)) * self.fleet.chance.uniform(0.5, 1.5)
        self.again(judging.worker, judging.tasks, delay)
        judging.over()

    def again(self, worker, tasks, delay):
        for task in tasks: task.attempts += 1
        left = tasks[0].candidate.request.deadline - self.fleet.clock.now
        if delay + ANSWER_S >= left: return worker.put_results(tasks, unavailable=True)
        self.fleet.clock.after(delay, worker.take, tasks, None)


class Fleet:
    """`costs` is a costs file (docs/scaling.md). `load`, between 0 and 1, selects the CPU that the threads use for a
    request (cpu_at). `producers` is the number for each coordinator. `far_s` is the delay of a broker's replies to
    requests of a transaction."""

    def __init__(self, costs, seed, *, coordinators=1, threads=1, partitions=8, cores=2, load=0.0, max_open=256,
                 commit=COMMIT_S, slow_s=0.0,
                 messages="each", deadline_s=FOREVER, away=(0.0, 0.0), away_share=0.0, away_s=0.0, failures=FAILURES,
                 slow_threads=SLOW_THREADS, producers=1, far_s=0.0):
        costs = {**costs, **costs.get("modes", {}).get(messages, {})}
        self.clock, self.chance, self.messages, self.deadline_s = Clock(), random.Random(seed), messages, deadline_s
        self.cores, self.max_open, self.commit, self.slow_s, self.slow_threads = (Cores(self.clock, cores), max_open,
                                                                                  commit, slow_s, slow_threads)
        self.producers, self.far_s = producers, far_s
        self.away, self.away_share, self.away_s, self.failures, self.breakers_opened = (away, away_share, away_s,
                                                                                        failures, 0)
        self.cost = {part: Cost(*cost) for part, cost in costs["kafka"].items()}
        self.transaction_wait = costs["transaction_wait"]
        self.runs = costs["runs"]
        self.own = {part: cpu_at(load, light, costs["own_cpu"]["full"][part])
                    for part, light in costs["own_cpu"]["light"].items()}
        # Equal statements are sent once, so a request has fewer visits to workers than candidates.
        self.work = costs["work"]
        self.visits = sum(visits for visits, _ in self.work) / len(self.work)
        self.all_at_once = costs["strategy"] == "rerank"  # rules.c: evaluate_all; the others may stop at a candidate
        self.families = costs["families"]
        self.topics = 1 if messages == "request" else self.families
        # The work of a thread takes the CPU of that thread. Time beyond this CPU was waiting; CPU beyond the time was
        # used in
        # parallel.
        alone = sum(seconds for _, seconds in self.work) / len(self.work)
        self.scale, self.beside = (min(1.0, self.own["worker"] / alone),
                                   max(0.0, self.own["worker"] - alone) / self.visits)
        self.turns = 1 / (self.visits + 1)  # a coordinator's turns for a request, and so the CPU of each
        self.partitions, self.stages = partitions, {}
        self.started = self.verdicts = self.late = 0
        self.workers = [Worker(self) for _ in range(threads)]
        self.coordinators = [Coordinator(self) for _ in range(coordinators)]
        self.driver = Producer(self, "driver", DRIVER_LINGER_S)
        self.reader = Consumer(self, "driver", self.visible, DRIVER_FETCH_WAIT_S)
        self.idle = costs["idle"]
        for part in self.idle: self.clock.after(IDLE_EVERY_S, self.run_idle, part)
        self.taken, self.others, self.times, self.last_start = [], [], [], 0.0  # others: whose database never was away

    def run_idle(self, part):
        """Runs the work of a part that does not depend on requests."""
        if self.is_over(): return
        self.cores.use(self.idle[part] * IDLE_EVERY_S, lambda: None, group="broker" if part == "broker" else "fleet",
                       run=self.runs[part])
        self.clock.after(IDLE_EVERY_S, self.run_idle, part)

    def note(self, stage, seconds):
        """Adds to the sum and the count of each stage of docs/metrics.md."""
        of = self.stages.setdefault(stage, [0.0, 0])
        of[0] += seconds
        of[1] += 1

    def start(self, due):
        self.started += 1
        self.last_start = due
        key, task_key = (self.chance.randrange(self.partitions) for _ in range(2))
        away = self.chance.random() < self.away_share if self.away_share else False
        visits, seconds = self.chance.choice(self.work)
        request = Request(self.started, due, key, task_key, visits, seconds * self.scale / visits + self.beside,
                          due + self.deadline_s, away)
        coordinator = self.coordinators[key % len(self.coordinators)]
        self.clock.after(due - self.clock.now, self.driver.send, key, coordinator.consumer, request)

    def send_tasks(self, coordinator, request, tasks):
        """Sends a message of tasks. All tasks of a request have its key, and so the same partition number in their
        topics."""
        topic = "all" if self.messages == "request" else tasks[0].family
        worker = self.workers[request.task_key % len(self.workers)]
        coordinator.tasks.send((topic, request.task_key), worker.consumer, tasks)

    def visible(self, request, _):
        self.verdicts += 1
        self.late += request.late
        self.taken.append(self.clock.now - request.due)
        if not request.away: self.others.append(self.taken[-1])
        self.times.append(self.clock.now)

    def is_over(self): return self.clock.now > self.last_start and self.verdicts == self.started

    def is_away(self): return self.away[0] <= self.clock.now < self.away[1]

    def at(self, seconds, then, *arguments): self.clock.after(seconds - self.clock.now, then, *arguments)

    def message_s(self, sender, reader, linger):
        """Returns the seconds of a message from its sender to its reader without any load."""
        request, message = self.cost["broker"].seconds[:2]
        return linger + 1.5 * request + 2 * message + sum(sum(self.cost[part].seconds[:2]) for part in (sender, reader))

    def read_s(self):
        """Returns the seconds from a commit until its reader has it: markers, and a fetch."""
        request, message, ask = self.cost["broker"].seconds
        return ask + request / 2 + 2 * message + sum(self.cost["driver"].seconds[:2])

    def transaction_s(self, verdicts=1.0):
        """Returns the seconds of a transaction of this many verdicts without any load. Each of their partitions is a
        separate request."""
        (request, message, ask), (library, encode, call) = self.cost["broker"].seconds, self.cost["coordinator"].seconds
        partitions = self.partitions * (1 - (1 - 1 / self.partitions) ** verdicts)
        return (self.transaction_wait + 4 * (ask + call) + partitions * (request + ask) + verdicts * message + library
                + encode)


def open_loop(costs, seed, rate, seconds, **how):
    """Returns the fleet after requests that arrived at random, at this rate a second."""
    fleet = begin_open_loop(costs, seed, rate, seconds, **how)
    fleet.clock.run()
    return fleet


def begin_open_loop(costs, seed, rate, seconds, **how):
    fleet, at = Fleet(costs, seed, **how), 0.0
    while at < seconds:
        at += fleet.chance.expovariate(rate)
        fleet.start(at)
    return fleet


def flood(costs, seed, requests, **how):
    """Returns the fleet after requests that were all sent at once."""
    fleet = Fleet(costs, seed, load=1.0, **how)
    for _ in range(requests): fleet.start(0.0)
    fleet.clock.run()
    return fleet


def solve(rows, right):
    """Returns the two costs, at least 0, with which two rows of numbers (requests, messages) give these seconds."""
    (a, b), (c, d) = rows
    determinant = a * d - b * c
    found = (((right[0] * d - b * right[1]) / determinant, (a * right[1] - right[0] * c) / determinant) if determinant
             else (-1.0, -1.0))
    if min(found) >= 0: return found
    return (right[0] / a, 0.0) if found[1] < 0 else (0.0, right[1] / d)


def calibrate(costs, seed, light, messages):
    """Returns `kafka` and `transaction_wait` of a costs file, from one mode of messages. Only the CPU of the own
    threads is used from the other modes. The costs of a request to a broker and of a message are chosen for each part.
    They must give the measured CPU at the light load, of rate `light`, and in a flood. The numbers of both depend on
    the costs, so this iterates. The cost of a request of the transaction protocol to the library is what its thread for
    those uses at the light load. The cost to the broker is what gives the measured duration of `commit`. The additional
    time of `write` is the library's timers, which use no CPU."""
    costs = {**costs, **costs["modes"][messages], "modes": {}, "transaction_wait": TRANSACTION_LINGER_S,
             "kafka": {part: [1e-4, 1e-5, 0.0] for part in ("coordinator", "worker", "broker", "driver")}}
    how, broker = {"cores": costs["machine"]["cores"], "messages": messages}, costs["kafka"]["broker"]
    broker[2] = 1e-3
    for _ in range(ROUNDS):
        runs = [open_loop(costs, seed, light, LIGHT_S, load=LIGHT, **how), flood(costs, seed, costs["requests"], **how)]
        write, commit = (seconds / n for seconds, n in (runs[0].stages[stage] for stage in ("write", "commit")))
        costs["kafka"]["coordinator"][2] = costs["protocol_cpu"] * runs[0].started / runs[0].cost[
            "coordinator"].counted[2]
        broker[2] *= costs["transaction"]["commit"] / commit
        costs["transaction_wait"] = max(TRANSACTION_LINGER_S, costs["transaction_wait"] + costs["transaction"]["write"]
                                        - write)
        for part, cost in costs["kafka"].items():
            cpu = [max(0.0, (costs["cpu"][load][part] - costs["own_cpu"][load].get(part, 0.0)) * run.started -
                       costs["idle"].get(part, 0.0) * max(run.times) - cost[2] * run.cost[part].counted[2])
                   for load, run in zip(("light", "full"), runs)]
            cost[:2] = solve([run.cost[part].counted[:2] for run in runs], cpu)
    return {"kafka": {part: [round(seconds, 8) for seconds in cost] for part, cost in costs["kafka"].items()},
            "transaction_wait": round(costs["transaction_wait"], 6)}


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
