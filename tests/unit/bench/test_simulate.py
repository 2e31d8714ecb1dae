#!/usr/bin/env python3
"""The models of bench/simulate.py against closed forms, and what must hold of any run."""
import os, random, sys, unittest

sys.dont_write_bytecode = True
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench", "simulate"))
import engine, fluid

COSTS = {"hop": [[0.006, 1.0, 0.004]], "commit": [[0.030, 1.0, 0.010]], "candidates": [[1, 0.5], [4, 0.5]],
         "task": {"structure": {"a_request": 2.5, "seconds": [[0.002, 0.9], [0.010, 0.1]]}},
         "cpu": {load: {"coordinator": 1e-4, "worker": 1e-3, "broker": 1e-4, "redis": 0.0, "driver": 1e-4} for load in ("light", "full")}}


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


class Draws(unittest.TestCase):
    def test_values_have_the_moments_that_are_said(self):
        draw, chance = engine.Draw([[1.0, 0.25], [4.0, 0.75, 2.0]]), random.Random(1)
        values = [draw(chance) for _ in range(100000)]
        for power in (1, 2): self.assertAlmostEqual(sum(v ** power for v in values) / len(values) / draw.moment(power), 1, delta=0.01)
        self.assertFalse([v for v in values if 1 < v < 2])


class Fleets(unittest.TestCase):
    def test_each_request_has_one_verdict(self):
        fleet = engine.open_loop(COSTS, 1, 60, 10, max_open=8)
        requests = fleet.verdicts
        self.assertGreater(requests, 400)
        self.assertEqual(requests, len(fleet.taken))
        self.assertEqual([(0, [], [])], [(c.open, list(c.waiting), c.settled) for c in fleet.coordinators])
        self.assertGreater(min(fleet.taken), 2 * 0.004 + 0.010)

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
