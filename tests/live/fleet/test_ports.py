#!/usr/bin/env python3
"""Tests of drawn ports: this process holds them until it ends, and servers can still listen on them. No other servers
run."""
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import ports
from wait import wait_until


def is_free(port):
    """Checks a port as a process that searches for a free one does."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


class PortsTest(unittest.TestCase):
    def setUp(self):
        self.range = ports.LOWEST, ports._first_of_connections

    def tearDown(self):
        ports.LOWEST, ports._first_of_connections = self.range

    def test_drawn_port_is_taken_for_others(self):
        port = ports.free_port()
        self.assertFalse(is_free(port))

    def test_server_listens_on_drawn_port_twice(self):
        port = ports.free_port()
        for _ in range(2):  # killed and started again
            with socket.create_server(("127.0.0.1", port)):
                socket.create_connection(("127.0.0.1", port)).close()
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))

    def test_draws_of_two_callers_differ(self):
        first = ports.free_port()
        ports.LOWEST, ports._first_of_connections = first, lambda: first + 2  # two ports to draw from
        try:
            self.assertEqual(ports.free_port(), first + 1)
        except RuntimeError:
            self.skipTest("the next port is somebody else's")
        with self.assertRaises(RuntimeError):
            ports.free_port()

    def test_shell_draw_is_held_until_stop(self):
        with tempfile.TemporaryDirectory() as folder:
            said = subprocess.run([sys.executable, ports.__file__, "2", folder], capture_output=True, text=True,
                                  check=True, timeout=20)
            drawn = [int(word) for word in said.stdout.split()]
            self.assertEqual(len(set(drawn)), 2)
            time.sleep(2 * ports.LOOK_S)
            self.assertFalse(any(map(is_free, drawn)))
            Path(folder, "ports.stop").touch()
            wait_until(lambda: all(map(is_free, drawn)), 20, "the ports are given back")


if __name__ == "__main__":
    unittest.main()
