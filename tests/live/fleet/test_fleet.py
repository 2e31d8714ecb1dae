#!/usr/bin/env python3
"""Tests of the restarts of dead processes: they must not delay other callers. No servers are needed."""
import tempfile
import threading
import time
import unittest

import fleet
from wait import wait_until


class FleetTest(unittest.TestCase):
    def setUp(self):
        self.again_s, fleet.AGAIN_S = fleet.AGAIN_S, 600
        self.directory = tempfile.TemporaryDirectory()
        self.fleet = fleet.Fleet("/bin/sh", "nowhere:1", self.directory.name, [], 6)

    def tearDown(self):
        self.fleet.close()
        self.directory.cleanup()
        fleet.AGAIN_S = self.again_s

    def has_ended(self, place):
        wait_until(lambda: len(place.exits) == 1, 20, "its end is seen")

    def test_pending_restart_delays_no_other_slot(self):
        fails = self.fleet._add("fails", ["-c", "exit 3"], None)
        other = self.fleet._add("other", ["-c", "echo running; exec sleep 600"], None)
        self.has_ended(fails)
        killer = threading.Thread(target=self.fleet.kill, args=("other",), daemon=True)
        killer.start()
        wait_until(lambda: other.starts == 2, 20, "the other is back")
        self.assertEqual(fails.starts, 1, "it waits for its time")
        fails.again_at = time.monotonic()
        wait_until(lambda: fails.starts == 2, 20, "started again")
        self.assertEqual(fails.exits[0][1], 3)
        self.assertEqual(self.fleet.deaths, [])

    def test_slot_with_pending_restart_can_be_stopped(self):
        fails = self.fleet._add("fails", ["-c", "exit 3"], None)
        self.has_ended(fails)
        self.fleet.stop("fails")
        self.assertEqual(self.fleet.deaths, [], "it ended before it was told to")
        self.fleet.start("fails")
        self.assertEqual(fails.starts, 2)
        self.fleet.stop("fails")


if __name__ == "__main__":
    unittest.main()
