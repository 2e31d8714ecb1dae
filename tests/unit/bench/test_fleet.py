#!/usr/bin/env python3
"""Checks that bench/fleet.py ends the processes that it started, even if a measurement fails."""
import os, pathlib, subprocess, sys, tempfile, unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
FAILS = """
import sys, types
sys.dont_write_bytecode = True
sys.modules["confluent_kafka"] = types.ModuleType("confluent_kafka")  # Debian's Python alone has it
sys.path.insert(0, sys.argv[1])
import fleet
running = fleet.Fleet(types.SimpleNamespace(kafka="none"), sys.argv[2])
print(running.start("worker").pid)
sys.exit("verdicts are missing")
"""


class Processes(unittest.TestCase):
    def test_failed_measurement_leaves_no_process(self):
        with tempfile.TemporaryDirectory() as home:
            program = pathlib.Path(home, "assay")
            program.write_text('#!/bin/sh\n[ "$1" = topics ] || exec sleep 60\n')
            program.chmod(0o755)
            done = subprocess.run([sys.executable, "-c", FAILS, ROOT / "bench", program], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (1, "verdicts are missing\n"))
        with self.assertRaises(ProcessLookupError): os.kill(int(done.stdout), 0)


if __name__ == "__main__":
    unittest.main()
