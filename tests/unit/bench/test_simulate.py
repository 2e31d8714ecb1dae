#!/usr/bin/env python3
"""The models of bench/simulate.py against closed forms, and what must hold of any run."""
import importlib.util, math, os, random, sys, threading, time, unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench", "simulate"))
import engine, fluid

COSTS = {"strategy": "rerank", "hop": [[0.006, 1.0, 0.004]], "commit": [[0.030, 1.0, 0.010]], "candidates": [[1, 0.5], [4, 0.5]],
         "task": {"structure": {"a_request": 2.5, "seconds": [[0.002, 0.9], [0.010, 0.1]]}},
         "cpu": {load: {"coordinator": 1e-4, "worker": 5e-3, "broker": 1e-4, "redis": 0.0, "driver": 1e-4} for load in ("light", "full")}}


def mean_wait(service, rate, n, seed=7):
    """Of n things that come to one thread at random, seconds until each begins."""
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
    def test_cpu_a_second_is_a_line_through_what_was_measured(self):
        light, full = 0.015, 0.006
        self.assertAlmostEqual(engine.cpu_at(engine.LIGHT, light, full), light)
        self.assertAlmostEqual(engine.cpu_at(1.0, light, full), full)
        seconds = [load * engine.cpu_at(load, light, full) for load in (0.2, 0.4, 0.6, 0.8, 1.0)]
        for before, after in zip(seconds, seconds[1:]): self.assertAlmostEqual(after - before, seconds[1] - seconds[0])

    def test_below_the_light_load_a_request_costs_as_there(self):
        self.assertEqual(engine.cpu_at(0.0, 0.015, 0.006), engine.cpu_at(engine.LIGHT, 0.015, 0.006))


class Queues(unittest.TestCase):
    def test_random_service_waits_as_m_m_1(self):
        for busy in (0.3, 0.6, 0.8):
            self.assertAlmostEqual(mean_wait(lambda chance: chance.expovariate(1.0), busy, 200000) / (busy / (1 - busy)), 1, delta=0.06)

    def test_constant_service_waits_as_m_d_1(self):
        for busy in (0.3, 0.6, 0.8):
            self.assertAlmostEqual(mean_wait(lambda _: 1.0, busy, 200000) / (busy / (2 * (1 - busy))), 1, delta=0.04)

    def test_shared_cores_answer_as_m_m_1_does(self):
        """One core shared equally: the mean time in it is 1 / (1 - busy), whatever is served."""
        clock, chance, times, at = engine.Clock(), random.Random(3), [], 0.0
        cores = engine.Cores(clock, 1)
        def arrive():
            came = clock.now
            cores.use(1.0, lambda: times.append(clock.now - came))
        for _ in range(100000):
            at += chance.expovariate(0.6)
            clock.after(at, arrive)
        clock.run()
        self.assertAlmostEqual(sum(times) / len(times) * 0.4, 1, delta=0.04)
        self.assertAlmostEqual(cores.busy, 100000, delta=1)

    def test_two_cores_run_three_bursts(self):
        clock, ends = engine.Clock(), []
        cores = engine.Cores(clock, 2)
        for seconds in (1.0, 1.0, 2.0): cores.use(seconds, lambda: ends.append(clock.now))
        clock.run()
        for found, right in zip(ends, (1.5, 1.5, 2.5)): self.assertAlmostEqual(found, right)


def commits(service_s, times, busy=False):
    """(seconds from verdict to committed of each, how many each transaction had), of verdicts at these times that one coordinator settles;
    each transaction takes so long. `busy`: it never has nothing to read."""
    fleet = engine.Fleet({**COSTS, "commit": [[service_s, 1.0, service_s]]}, 1)
    coordinator, end = fleet.coordinators[0], times[-1] + 1
    def read(over):
        if fleet.clock.now < end: fleet.clock.after(0.001, lambda: (coordinator.thread.do(read), over()))
        else: over()
    if busy: coordinator.thread.do(read)
    for at in times:
        coordinator.open += 1
        fleet.clock.after(at, coordinator.settle, engine.Request(0, at, 0, 0, 0))
    fleet.clock.run()
    return fleet.taken, coordinator.batches


def at_random(rate, n, seed=11):
    chance, at, times = random.Random(seed), 0.0, []
    for _ in range(n):
        at += chance.expovariate(rate)
        times.append(at)
    return times


class Commits(unittest.TestCase):
    def test_an_idle_coordinator_commits_at_once(self):
        taken, batches = commits(0.020, [0.1 * i for i in range(1, 100)])
        for seconds in taken: self.assertAlmostEqual(seconds, 0.020)
        self.assertEqual([1] * 99, batches)

    def test_what_comes_meanwhile_waits_for_the_markers_too(self):
        taken, batches = commits(0.020, [1.0, 1.001, 1.023, 1.0479])
        for found, right in zip(taken, (0.020, 0.043, 0.021, 0.0201)): self.assertAlmostEqual(found, right)
        self.assertEqual([1, 2, 1], batches)

    def test_verdicts_at_random_wait_for_a_cycle_as_counted(self):
        """A cycle c = commit + markers begins with a verdict that comes between two: under way a share c / (c + e^-ac / a) of the time."""
        free = {load: {**parts, "coordinator": 0.0} for load, parts in COSTS["cpu"].items()}
        service = fluid.Service({**COSTS, "commit": [[0.020, 1.0, 0.020]], "cpu": free})
        for rate in (5, 30, 200):
            taken, batches = commits(0.020, at_random(rate, 40000))
            self.assertEqual(40000, sum(batches))
            self.assertAlmostEqual((sum(taken) / len(taken) - 0.020) / service.commit_wait(rate), 1, delta=0.04)

    def test_a_busy_coordinator_groups(self):
        taken, batches = commits(0.020, at_random(200, 20000), busy=True)
        self.assertAlmostEqual(sum(batches) / len(batches), 200 * 0.120, delta=0.5)
        self.assertAlmostEqual(sum(taken) / len(taken), 0.060 + 0.020, delta=0.002)

    def test_slow_commits_are_rarer_under_load(self):
        """WORK_SHARE times as long as one took, but no longer than a second."""
        for seconds, cycle in ((0.050, 0.250), (0.500, 1.500)):
            _, batches = commits(seconds, at_random(100, 10000), busy=True)
            self.assertAlmostEqual(sum(batches) / len(batches) / (100 * cycle), 1, delta=0.05)


class Windows(unittest.TestCase):
    """How many candidates of a request are out at a time."""

    def most_out(self, **how):
        fleet = engine.Fleet({**COSTS, "candidates": [[4, 1.0]], "task": {"structure": {**COSTS["task"]["structure"], "a_request": 4.0}}, **how}, 1)
        seen, coordinator = [], fleet.coordinators[0]
        send = coordinator.send
        def note(request):
            send(request)
            seen.append(request.out)
        coordinator.send = note
        return fleet, coordinator, seen

    def test_all_where_all_are_judged_anyhow(self):
        fleet, coordinator, seen = self.most_out()
        coordinator.wait_s = 1.0
        fleet.start(0.0)
        fleet.clock.run()
        self.assertEqual([4], seen)

    def test_else_all_only_while_workers_are_idle(self):
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


class Draws(unittest.TestCase):
    def test_values_have_the_moments_that_are_said(self):
        draw, chance = engine.Draw([[1.0, 0.25], [4.0, 0.75, 2.0]]), random.Random(1)
        values = [draw(chance) for _ in range(100000)]
        for power in (1, 2): self.assertAlmostEqual(sum(v ** power for v in values) / len(values) / draw.moment(power), 1, delta=0.01)
        self.assertFalse([v for v in values if 1 < v < 2])


@unittest.skipIf(importlib.util.find_spec("confluent_kafka") is None, "bench/fleet.py takes python3-confluent-kafka")
class Measured(unittest.TestCase):
    def test_what_a_histogram_grew_by_has_its_mean(self):
        import measure
        before = {("stage", "commit"): {0.005: 4.0, 0.01: 4.0, 0.025: 4.0, math.inf: 4.0, "sum": 1.0}}
        after = {("stage", "commit"): {0.005: 14.0, 0.01: 94.0, 0.025: 104.0, math.inf: 104.0, "sum": 1.7}}
        rows, n = measure.grown(before, after, "stage", "commit")
        self.assertEqual(100, n)
        self.assertAlmostEqual(engine.Draw(rows).moment(1), 0.007, delta=1e-6)
        for (high, share, low), (most, right, least) in zip(rows, ((0.005, 0.1, 0.0), (0.010, 0.8, 0.005), (0.025, 0.1, 0.010))):
            self.assertAlmostEqual(share, right)
            self.assertTrue(least <= low <= high <= most)

    def test_cpu_of_threads_is_by_their_name(self):
        import measure
        ends = threading.Event()
        def burn():
            with open(f"/proc/self/task/{threading.get_native_id()}/comm", "w", encoding="utf-8") as comm: comm.write("worker-0")
            until = time.thread_time() + 0.2
            while time.thread_time() < until: pass
            ends.wait()
        thread = threading.Thread(target=burn)
        thread.start()
        try:
            deadline = time.monotonic() + 30
            while (seconds := measure.cpu_of_threads(os.getpid(), "worker")) < 0.18 and time.monotonic() < deadline: time.sleep(0.01)
        finally:
            ends.set()
            thread.join()
        self.assertAlmostEqual(seconds, 0.2, delta=0.1)
        self.assertEqual(0, measure.cpu_of_threads(os.getpid(), "coordinator"))


class Fleets(unittest.TestCase):
    def test_each_request_has_one_verdict(self):
        fleet = engine.open_loop(COSTS, 1, 60, 10, max_open=8)
        requests = fleet.verdicts
        self.assertGreater(requests, 400)
        self.assertEqual(requests, len(fleet.taken))
        self.assertEqual([(0, [], [])], [(c.open, list(c.waiting), c.settled) for c in fleet.coordinators])
        self.assertGreater(min(fleet.taken), 2 * 0.004 + 0.010)

    def test_only_a_coordinators_own_thread_holds_it_up(self):
        def rate(own):
            costs = {**COSTS, **{key: {load: {**parts, "coordinator": seconds} for load, parts in COSTS["cpu"].items()}
                                 for key, seconds in (("cpu", 0.010), ("own_cpu", own))}}
            return engine.flood(costs, 1, 1000, cores=100, threads=16, partitions=48, max_open=500)
        self.assertAlmostEqual(rate(0.010) * 0.010, 1, delta=0.05)
        self.assertAlmostEqual(rate(0.005) * 0.005, 1, delta=0.05)

    def test_the_same_seed_gives_the_same_answer(self):
        self.assertEqual(engine.open_loop(COSTS, 5, 50, 3).taken, engine.open_loop(COSTS, 5, 50, 3).taken)
        self.assertNotEqual(engine.open_loop(COSTS, 5, 50, 3).taken, engine.open_loop(COSTS, 6, 50, 3).taken)

    def test_counting_agrees_with_following(self):
        service = fluid.Service(COSTS)
        taken = engine.open_loop(COSTS, 2, 300, 20, cores=100, threads=4, partitions=48, max_open=10000).taken
        self.assertAlmostEqual((service.still + service.wait(300, 4, 1)) / (sum(taken) / len(taken)), 1, delta=0.2)

    def test_counting_loses_nothing_and_catches_up(self):
        found = fluid.run(COSTS, fluid.Scenario(500, 16, 2, 4096, seconds=600, away=(100, 160, 0.5)))["lanes"][0]
        self.assertAlmostEqual(found["judged"] + found["left"], 300000, delta=1)
        self.assertAlmostEqual(found["most_waiting"], 60 * 250, delta=600)
        self.assertLess(found["left"], 1)


class Scaling(unittest.TestCase):
    def test_pods_double_a_minute_up_and_halve_after_ten_down(self):
        keda, seen = fluid.Keda(2, 12), []
        for t in range(0, 1800, 30):
            keda.poll(t + 600, 5000 if t < 300 else 0)
            seen.append(keda.pods)
        self.assertEqual([4, 4, 8, 8, 12], seen[:5])
        self.assertEqual(12, seen[(300 + 540) // 30])
        self.assertEqual(2, seen[-1])


if __name__ == "__main__":
    unittest.main()
