#!/usr/bin/env python3
"""deploy/count-tests.awk: counts of concurrent tests, of a failed test and of one that never ended."""
import subprocess
import sys
from pathlib import Path

COUNT = Path(__file__).resolve().parents[3] / "deploy/count-tests.awk"
LOG = """\
      Start  1: sql
      Start 12: db
12: [====] Synthesis: Tested: 5 | Passing: 4 | Failing: 1 | Crashing: 0
1: [====] Synthesis: Tested: 7 | Passing: 7 | Failing: 0 | Crashing: 0
 1/5 Test  #1: sql ......   Passed    0.1 sec
      Start 13: house
 2/5 Test #12: db .......***Failed    0.1 sec
 3/5 Test #13: house ....   Passed    0.1 sec
      Start 14: live
 4/5 Test #14: live .....***Skipped   0.1 sec
      Start 15: late
15: [====] Synthesis: Tested: 3 | Passing: 3 | Failing: 0 | Crashing: 0
 5/5 Test #15: late .....***Failed    0.1 sec
      Start 16: endless
"""


def main():
    done = subprocess.run(["awk", "-f", COUNT], input=LOG, capture_output=True, text=True, check=True)
    right = done.stdout == "15 3\n"  # 7 + 4 + 1 + 3; one of db, late after its summary, endless
    print("" if right else f"[FAIL] counts: {done.stdout!r}, not '15 3'")
    print(f"Synthesis: Tested: 1 | Passing: {int(right)}")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
