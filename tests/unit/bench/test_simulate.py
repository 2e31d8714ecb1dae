#!/usr/bin/env python3
"""Compares the models of bench/simulate.py with closed forms, and checks invariants of every run."""
import importlib.util, math, os, random, sys, threading, time, unittest, unittest.mock

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench", "simulate"))
import engine, fluid

CPU = {load: {"coordinator": 2e-4, "worker": 5e-3, "broker": 1e-3, "redis": 0.0, "driver": 1e-4}
       for load in ("light", "full")}
COSTS = {"strategy": "rerank", "families": 1, "requests": 400, "machine": {"cores": 2}, "cpu": CPU,
         "work": [[1, 0.002]] * 9 + [[1, 0.010]] + [[4, 0.008]] * 9 + [[4, 0.040]],
         "own_cpu": {load: {"coordinator": 1e-4, "worker": 5e-3} for load in CPU},
         "runs": {part: 1e-4 for part in CPU["full"]},
         "kafka": {"broker": [5e-4, 1e-5, 1e-3], "coordinator": [1e-4, 1e-5, 5e-4], "worker": [1e-4, 1e-5, 0.0],
                   "driver": [1e-4, 1e-5, 0.0]},
         "idle": {}, "transaction_wait": 0.001, "modes": {mode: {"cpu": CPU} for mode in engine.MESSAGES}}


def mean_wait(service, rate, n, seed=7):
    """Returns the mean wait in seconds of n random arrivals at one thread."""
    clock, thread, chance, waits = engine.Clock(), engine.Thread(), random.Random(seed), []
    def arrive():
        came = clock.now
        def begin(over):
            waits.append(clock.now - came)
            clock.after(service(chance), over)
        thread.do(begin)
    at = 0.0
    for _ in range(n):
        at += chance.expovariate(rate)
        clock.after(at, arrive)
    clock.run()
    return sum(waits) / len(waits)


class Costs(unittest.TestCase):
    def test_cpu_is_linear_through_measurements(self):
        light, full = 0.015, 0.006
        self.assertAlmostEqual(engine.cpu_at(engine.LIGHT, light, full), light)
        self.assertAlmostEqual(engine.cpu_at(1.0, light, full), full)
        seconds = [load * engine.cpu_at(load, light, full) for load in (0.2, 0.4, 0.6, 0.8, 1.0)]
        for before, after in zip(seconds, seconds[1:]): self.assertAlmostEqual(after - before, seconds[1] - seconds[0])

    def test_cost_below_light_load_is_constant(self):
        self.assertEqual(engine.cpu_at(0.0, 0.015, 0.006), engine.cpu_at(engine.LIGHT, 0.015, 0.006))


class Queues(unittest.TestCase):
    def test_random_service_waits_as_m_m_1(self):
        for busy in (0.3, 0.6, 0.8):
            self.assertAlmostEqual(mean_wait(lambda chance: chance.expovariate(1.0), busy,
                                             200000) / (busy / (1 - busy)), 1, delta=0.06)

    def test_constant_service_waits_as_m_d_1(self):
        for busy in (0.3, 0.6, 0.8):
            self.assertAlmostEqual(mean_wait(lambda _: 1.0, busy, 200000) / (busy / (2 * (1 - busy))), 1, delta=0.04)

    def test_shared_cores_respond_as_m_m_1(self):
        """One core is shared equally: the mean time of a burst is 1 / (1 - busy), whatever the distribution of
        bursts."""
        clock, chance, times, at = engine.Clock(), random.Random(3), [], 0.0
        cores = engine.Cores(clock, 1)
        service = 10 * cores.slice
        def arrive():
            came = clock.now
            cores.use(service, lambda: times.append(clock.now - came))
        for _ in range(40000):
            at += chance.expovariate(0.6 / service)
            clock.after(at, arrive)
        clock.run()
        self.assertAlmostEqual(sum(times) / len(times) / service * 0.4, 1, delta=0.06)
        self.assertAlmostEqual(cores.busy / service, 40000, delta=1)


def ends_of(cores, bursts, **how):
    """Returns the end of each of these (group, seconds) bursts, which begin at once."""
    clock, ends = engine.Clock(), {}
    machine = engine.Cores(clock, cores)
    for i, (group, seconds) in enumerate(bursts):
        machine.use(seconds, lambda i=i: ends.__setitem__(i, clock.now), group=group, **how)
    clock.run()
    return [ends[i] for i in range(len(bursts))]


class Sharing(unittest.TestCase):
    def test_two_cores_run_two_bursts_at_once(self):
        self.assertEqual([1.0, 1.0], [round(end, 9) for end in ends_of(2, [("", 1.0), ("", 1.0)])])

    def test_equal_bursts_of_core_end_together(self):
        for end in ends_of(1, [("", 1.0)] * 3): self.assertAlmostEqual(end, 3.0, delta=0.01)

    def test_groups_share_core_regardless_of_size(self):
        alone, *many = ends_of(1, [("one", 1.0)] + [("many", 1.0)] * 4)
        self.assertAlmostEqual(alone, 2.0, delta=0.01)
        self.assertAlmostEqual(max(many), 5.0, delta=0.01)

    def test_woken_thread_waits_at_most_two_slices(self):
        clock, ends = engine.Clock(), []
        machine = engine.Cores(clock, 1)
        machine.use(1.0, lambda: None, group="busy")
        clock.after(0.5, lambda: machine.use(1e-4, lambda: ends.append(clock.now), group="wakes"))
        clock.run()
        self.assertLess(ends[0], 0.5 + 1e-4 + 2 * machine.slice)

    def test_idle_core_takes_waiting_work(self):
        ends = ends_of(2, [("", 0.1)] * 20)
        self.assertAlmostEqual(max(ends), 1.0, delta=0.11)


class Kafka(unittest.TestCase):
    def fleet(self):
        return engine.Fleet({**COSTS, "kafka": {**COSTS["kafka"], "broker": [0.010, 0.0, 0.0]}}, 1, cores=100)

    def test_messages_join_waiting_batch(self):
        fleet, seen = self.fleet(), []
        fleet.last_start = 10.0  # not finished before
        consumer = engine.Consumer(fleet, "worker", lambda message, _: seen.append(message))
        producer = engine.Producer(fleet, "worker", 0.005)
        for at in (0.0, 0.004, 0.0049, 0.0051): fleet.clock.after(at, producer.send, 1, consumer, at)
        fleet.at(9.0, setattr, fleet, "last_start", -1.0)
        fleet.clock.run()
        self.assertEqual([0.0, 0.004, 0.0049, 0.0051], seen)
        self.assertEqual([2, 4], producer_counts(fleet, "worker"))

    def test_connection_handles_one_request_at_once(self):
        fleet, ends = self.fleet(), []
        producer = engine.Producer(fleet, "worker", 0.0)
        for partition in range(4): producer.send(partition, None, None, lambda: ends.append(fleet.clock.now))
        fleet.clock.run()
        for after, before in zip(ends[1:], ends): self.assertAlmostEqual(after - before, 0.010, delta=1e-6)

    def test_costs_are_recovered_from_simulation(self):
        self.assertEqual((2.0, 3.0), engine.solve([(1, 10), (2, 5)], [32.0, 19.0]))
        self.assertEqual((4.0, 0.0), engine.solve([(1, 1), (2, 4)], [4.0, 7.0]))


def producer_counts(fleet, part):
    """Returns the batches and messages that a part's library handled while it produced: half of its total and of its
    reader's."""
    requests, messages, _ = fleet.cost[part].counted
    fetches = requests - 2
    return [requests - fetches, messages // 2]


def commits(service_s, times, busy=False, producers=1):
    """Returns (seconds from each verdict to its commit, verdicts of each transaction) for verdicts at these times. One
    coordinator settles them, each in the next partition. Each transaction takes `service_s`. With `busy` the
    coordinator always has messages to read."""
    fleet = engine.Fleet(COSTS, 1, producers=producers)
    coordinator, end, taken = fleet.coordinators[0], times[-1] + 1, []

    class Transaction:
        def __init__(self, committer, batch): self.committer, self.batch = committer, batch

        def begin(self): fleet.clock.after(service_s, self.end)

        def end(self):
            taken.extend(fleet.clock.now - request.due for request in self.batch)
            self.committer.committed(service_s)

    def read(over):
        if fleet.clock.now < end: fleet.clock.after(0.001, lambda: (coordinator.thread.do(read), over()))
        else: over()
    if busy: coordinator.thread.do(read)
    for i, at in enumerate(times):
        coordinator.open += 1
        fleet.clock.after(at, coordinator.settle, engine.Request(0, at, i % fleet.partitions, 0, 0))
    with unittest.mock.patch.object(engine, "Transaction", Transaction): fleet.clock.run()
    return taken, coordinator.batches


def at_random(rate, n, seed=11):
    chance, at, times = random.Random(seed), 0.0, []
    for _ in range(n):
        at += chance.expovariate(rate)
        times.append(at)
    return times


class Commits(unittest.TestCase):
    def test_idle_coordinator_commits_at_once(self):
        taken, batches = commits(0.020, [0.1 * i for i in range(1, 100)])
        for seconds in taken: self.assertAlmostEqual(seconds, 0.020)
        self.assertEqual([1] * 99, batches)

    def test_verdicts_during_commit_wait_for_markers(self):
        taken, batches = commits(0.020, [1.0, 1.001, 1.023, 1.0479])
        for found, right in zip(taken, (0.020, 0.043, 0.021, 0.0201)): self.assertAlmostEqual(found, right)
        self.assertEqual([1, 2, 1], batches)

    def test_random_verdicts_wait_as_calculated(self):
        """A verdict that arrives between two cycles starts one of length c = commit + markers: the share in progress is
        c / (c + e^-ac / a)."""
        free = {load: {**parts, "coordinator": 0.0} for load, parts in COSTS["own_cpu"].items()}
        service = fluid.Service({**COSTS, "own_cpu": free})
        service.transaction = lambda rate: 0.020
        for rate in (5, 30, 200):
            taken, batches = commits(0.020, at_random(rate, 40000))
            self.assertEqual(40000, sum(batches))
            self.assertAlmostEqual((sum(taken) / len(taken) - 0.020) / service.commit_wait(rate), 1, delta=0.04)

    def test_busy_coordinator_groups_verdicts(self):
        taken, batches = commits(0.020, at_random(200, 20000), busy=True)
        self.assertAlmostEqual(sum(batches) / len(batches), 200 * 0.120, delta=0.5)
        self.assertAlmostEqual(sum(taken) / len(taken), 0.060 + 0.020, delta=0.002)

    def test_producers_commit_their_partitions_concurrently(self):
        times = [1.0, 1.001, 1.002, 1.003, 1.004]  # the fifth verdict is of the partitions of the first producer
        taken, batches = commits(0.100, times, producers=4)
        for found, right in zip(taken, (0.100, 0.100, 0.100, 0.100, 0.200)): self.assertAlmostEqual(found, right)
        self.assertEqual([1] * 5, batches)

    def test_slow_commits_are_rarer_under_load(self):
        """The time between commits is WORK_SHARE times the duration of one, but at most a second."""
        for seconds, cycle in ((0.050, 0.250), (0.500, 1.500)):
            _, batches = commits(seconds, at_random(100, 10000), busy=True)
            self.assertAlmostEqual(sum(batches) / len(batches) / (100 * cycle), 1, delta=0.05)


class Windows(unittest.TestCase):
    """The number of candidates of a request in flight."""

    def most_out(self, **how):
        fleet = engine.Fleet({**COSTS, "work": [[4, 0.010]], **how}, 1)
        seen, coordinator = [], fleet.coordinators[0]
        send = coordinator.send
        def note(request):
            send(request)
            seen.append(request.out)
        coordinator.send = note
        return fleet, coordinator, seen

    def test_full_judgement_sends_all_candidates(self):
        fleet, coordinator, seen = self.most_out()
        coordinator.wait_s = 1.0
        fleet.start(0.0)
        fleet.clock.run()
        self.assertEqual([4], seen)

    def test_idle_workers_get_all_candidates(self):
        fleet, coordinator, seen = self.most_out(strategy="first_valid")
        fleet.start(0.0)
        fleet.clock.run()
        self.assertEqual([4], seen)
        del seen[:]
        coordinator.wait_s = 1.0
        fleet.start(fleet.clock.now)
        fleet.clock.run()
        self.assertEqual([1, 1, 1, 1], seen)
        self.assertLess(coordinator.wait_s, (31 / 32) ** 4 + 0.02)


@unittest.skipIf(importlib.util.find_spec("confluent_kafka") is None, "bench/fleet.py takes python3-confluent-kafka")
class Measured(unittest.TestCase):
    def test_mean_of_histogram_growth(self):
        import measure
        before = {("stage", "commit"): {"sum": 1.0, "count": 4.0}}
        after = {("stage", "commit"): {"sum": 1.7, "count": 104.0}, ("stage", "write"): {"sum": 2.0, "count": 4.0}}
        self.assertAlmostEqual(measure.mean_between(before, after, "stage", "commit"), 0.007)
        self.assertAlmostEqual(measure.mean_between(before, after, "stage", "write"), 0.5)
        self.assertIsNone(measure.mean_between(before, after, "stage", "judge"))

    def test_quiet_windows_are_counted(self):
        import measure
        windows = [{"others": others, "p50": p50} for others, p50 in ((0.5, 1), (0.10, 9), (0.16, 5), (0.14, 7))]
        self.assertEqual([9, 7], [window["p50"] for window in measure.quiet(windows)])
        self.assertEqual({"a": {"b": 2}}, measure.mean_of([{"a": {"b": 1}}, {"a": {"b": 3}}]))

    def test_cpu_is_summed_by_thread_name(self):
        import measure
        ends = threading.Event()
        def burn():
            with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w", encoding="utf-8") as comm:
                comm.write("worker-0")
            until = time.thread_time() + 0.2
            while time.thread_time() < until: pass
            ends.wait()
        thread = threading.Thread(target=burn)
        thread.start()
        try:
            deadline = time.monotonic() + 30
            while (seconds := measure.cpu_of_threads(os.getpid(), "worker")) < 0.18 and time.monotonic() < deadline:
                time.sleep(0.01)
        finally:
            ends.set()
            thread.join()
        self.assertAlmostEqual(seconds, 0.2, delta=0.1)
        self.assertEqual(0, measure.cpu_of_threads(os.getpid(), "coordinator"))


class Fleets(unittest.TestCase):
    def test_each_request_has_one_verdict(self):
        for messages in engine.MESSAGES:
            fleet = engine.open_loop(COSTS, 1, 60, 5, max_open=8, messages=messages)
            requests = fleet.verdicts
            self.assertGreater(requests, 200)
            self.assertEqual(requests, len(fleet.taken))
            self.assertEqual([(0, [], [])],
                             [(c.open, list(c.waiting), c.committers[0].settled) for c in fleet.coordinators])
            self.assertGreater(min(fleet.taken), 2 * engine.LINGER_S + engine.DRIVER_LINGER_S)

    def test_messages_are_counted_by_mode(self):
        """A request of two families and three candidates: six messages, two, or one, and as many results as there are
        batches."""
        costs = {**COSTS, "work": [[3, 0.003]], "families": 2}
        for messages, number in (("each", 6), ("family", 2), ("request", 1)):
            sent = []
            with unittest.mock.patch.object(engine.Fleet, "send_tasks", lambda *arguments: sent.append(arguments[3])):
                fleet = engine.Fleet(costs, 1, messages=messages)
                fleet.coordinators[0].take(engine.Request(1, 0.0, 0, 0, 3), 0.0)
                fleet.clock.run()
            self.assertEqual((number, 6), (len(sent), sum(map(len, sent))))

    def test_transactions_grow_with_arrivals(self):
        """The number of cores is unchanged: more verdicts are in more partitions, whose requests wait for each
        other."""
        def mean(rate):
            seconds, n = engine.open_loop(COSTS, 1, rate, 10, cores=100, threads=8, partitions=48).stages["write"]
            return seconds / n
        self.assertGreater(mean(300), 2 * mean(20))

    def test_transactions_grow_as_cores_are_short(self):
        def mean(cores):
            seconds, n = engine.open_loop(COSTS, 1, 100, 10, cores=cores).stages["commit"]
            return seconds / n
        self.assertGreater(mean(1), 1.5 * mean(100))

    def test_calibrated_costs_reproduce_measured_cpu(self):
        cpu = {"light": {**CPU["light"], "broker": 8e-3}, "full": CPU["full"]}
        mode = {"cpu": cpu, "own_cpu": COSTS["own_cpu"], "protocol_cpu": 1e-4,
                "transaction": {"write": 0.008, "commit": 0.003}}
        with unittest.mock.patch.object(engine, "LIGHT_S", 5):
            found = engine.calibrate({**COSTS, "modes": {"each": mode}}, 1, 40, "each")
        fleet = engine.open_loop({**COSTS, **found}, 1, 40, 20, load=engine.LIGHT)
        spent = sum(n * seconds for n, seconds in zip(fleet.cost["broker"].counted, found["kafka"]["broker"]))
        self.assertAlmostEqual(spent / fleet.started / 8e-3, 1, delta=0.1)
        for stage, right in mode["transaction"].items():
            self.assertAlmostEqual(fleet.stages[stage][0] / fleet.stages[stage][1] / right, 1, delta=0.15)

    def test_far_brokers_delay_each_call_once(self):
        """Four protocol requests and the verdicts of each partition: a single request has one partition."""
        near, far = (min(engine.open_loop(COSTS, 1, 1, 20, cores=100, far_s=seconds).taken) for seconds in (0.0, 0.010))
        self.assertAlmostEqual(far - near, 5 * 0.010, delta=0.002)

    def test_more_producers_reduce_delay_of_far_brokers(self):
        def half(producers):
            return engine.quantile(engine.open_loop(COSTS, 1, 50, 10, cores=100, threads=2, far_s=0.010,
                                                    producers=producers).taken, 0.50)
        self.assertLess(half(4), 0.7 * half(1))

    def test_coordinator_thread_bounds_throughput(self):
        def rate(own):
            costs = {**COSTS,
                     "own_cpu": {load: {**parts, "coordinator": own} for load, parts in COSTS["own_cpu"].items()}}
            return 1000 / max(engine.flood(costs, 1, 1000, cores=100, threads=16, partitions=48, max_open=500).times)
        self.assertAlmostEqual(rate(0.010) * 0.010, 1, delta=0.05)
        self.assertAlmostEqual(rate(0.005) * 0.005, 1, delta=0.05)

    def test_free_thread_overtakes_slow_candidates(self):
        def quick(slow_threads):
            """Returns the seconds until the verdict of a small candidate behind two that take a second each."""
            fleet = engine.Fleet({**COSTS, "own_cpu": {load: {"coordinator": 0.0, "worker": 10.0} for load in CPU}}, 1,
                                 cores=100, slow_threads=slow_threads)
            for number, cpu in ((1, 1.0), (2, 1.0), (3, 0.001)):
                fleet.started += 1
                fleet.coordinators[0].take(engine.Request(number, 0.0, 0, 0, 1, cpu), 0.0)
            fleet.clock.run()
            return min(fleet.taken)
        self.assertLess(quick(2), 0.1)
        self.assertGreater(quick(1), 1.0)
        self.assertGreater(quick(0), 2.0)

    def test_same_seed_gives_same_answer(self):
        self.assertEqual(engine.open_loop(COSTS, 5, 50, 3).taken, engine.open_loop(COSTS, 5, 50, 3).taken)
        self.assertNotEqual(engine.open_loop(COSTS, 5, 50, 3).taken, engine.open_loop(COSTS, 6, 50, 3).taken)

    def test_fluid_model_agrees_with_simulation(self):
        service = fluid.Service(COSTS, partitions=48)
        taken = engine.open_loop(COSTS, 2, 300, 20, cores=100, threads=4, partitions=48, max_open=10000,
                                 messages=fluid.MESSAGES).taken
        self.assertAlmostEqual((service.still + service.wait(300, 4, 1)) / (sum(taken) / len(taken)), 1, delta=0.2)

    def test_fluid_model_conserves_requests(self):
        found = fluid.run(COSTS, fluid.Scenario(500, 16, 2, 4096, seconds=600, away=(100, 160, 0.5)))["lanes"][0]
        self.assertAlmostEqual(found["judged"] + found["left"], 300000, delta=1)
        self.assertAlmostEqual(found["most_waiting"], 60 * 250, delta=600)
        self.assertLess(found["left"], 1)


class Events(unittest.TestCase):
    def test_paused_work_is_delayed_and_not_lost(self):
        def longest(seconds):
            fleet = engine.begin_open_loop(COSTS, 3, 50, 10, cores=100)
            fleet.at(5.0, fleet.workers[0].consumer.stop, seconds)
            fleet.clock.run()
            self.assertEqual(fleet.started, fleet.verdicts)
            return max(fleet.taken)
        self.assertLess(longest(0.0), 0.5)
        self.assertAlmostEqual(longest(2.0), 2.0, delta=0.3)

    def test_work_of_dead_worker_is_judged(self):
        fleet = engine.begin_open_loop(COSTS, 3, 100, 5, cores=100, threads=2)
        fleet.at(2.0, fleet.workers[0].die, 3.0)
        fleet.clock.run()
        self.assertEqual(fleet.started, fleet.verdicts)
        self.assertAlmostEqual(max(fleet.taken), 3.0, delta=0.3)

    def test_expired_request_is_answered_as_late(self):
        fleet = engine.open_loop(COSTS, 3, 100, 10, cores=100, slow_s=0.020, slow_threads=0, deadline_s=1.0)
        self.assertGreater(fleet.late, 0.3 * fleet.started)
        self.assertEqual(fleet.started, fleet.verdicts)
        self.assertLess(max(fleet.taken), 1.3)
        self.assertEqual(0, engine.open_loop(COSTS, 3, 100, 10, cores=100, deadline_s=1.0).late)

    def test_breaker_opens_on_failures_and_closes_on_success(self):
        def run(**how):
            fleet = engine.open_loop(COSTS, 3, 40, 20, cores=100, away=(5.0, 10.0), away_share=0.5, away_s=0.5,
                                     deadline_s=2.0, **how)
            self.assertEqual(fleet.started, fleet.verdicts)
            return fleet
        fleet = run()
        self.assertTrue(2 <= fleet.breakers_opened <= 5)  # 1, 2 and 4 s, with a quarter of jitter
        self.assertFalse(fleet.workers[0].breaker.refuses(fleet.clock.now))
        self.assertTrue(0.05 * fleet.started < fleet.late < 0.25 * fleet.started)
        self.assertEqual(0, run(failures=math.inf).breakers_opened)
        self.assertLess(engine.quantile(fleet.others, 0.95), engine.quantile(run(failures=math.inf).others, 0.95))


class Scaling(unittest.TestCase):
    def test_pods_double_quickly_and_halve_slowly(self):
        keda, seen = fluid.Keda(2, 12), []
        for t in range(0, 1800, 30):
            keda.poll(t + 600, 5000 if t < 300 else 0)
            seen.append(keda.pods)
        self.assertEqual([4, 4, 8, 8, 12], seen[:5])
        self.assertEqual(12, seen[(300 + 540) // 30])
        self.assertEqual(2, seen[-1])


if __name__ == "__main__":
    unittest.main()
