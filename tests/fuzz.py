"""Property tests at random, again and again: `make fuzz MINUTES=30`, or `python tests/fuzz.py 30 tests/tables`.

Every round draws a seed, from which Hypothesis makes its examples. The first failure ends it, with exit code 1 and the command
that shows the failure again.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shlex
import subprocess
import sys
import time
from pathlib import Path

NO_TESTS = 5  # pytest's word for it
HERE = Path(__file__).resolve().parent


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("minutes", type=float, help="for how long; tests that have begun come to their end")
    asked.add_argument("tests", nargs="*", default=[str(HERE)], help="files or folders of tests; all by default")
    asked.add_argument("--processes", default="auto", help="how many at a time; as many as there are cores by default")
    given = asked.parse_args()
    end = time.time() + 60 * given.minutes
    rounds = 0
    while time.time() < end:
        seed = secrets.randbelow(2**32)
        command = [sys.executable, "-m", "pytest", "-m", "hypothesis", "-x", f"--hypothesis-seed={seed}", *given.tests]
        together = ["--numprocesses", given.processes, "--dist", "worksteal"] if given.processes != "1" else []
        print(f"Round {rounds + 1}, seed {seed}", flush=True)
        profile = {"LIBRA_HYPOTHESIS": "fuzz"}
        code = subprocess.run(
            [*command, *together], env=os.environ | profile | {"LIBRA_FUZZ_UNTIL": str(end)}, check=False
        ).returncode
        if code:
            print(f"\nFailed with the seed {seed}." if code != NO_TESTS else "\nThere are no property tests there.")
            print(f"Again: LIBRA_HYPOTHESIS=fuzz {shlex.join(command)}", flush=True)
            return 1
        rounds += 1
    print(f"Nothing failed in {rounds} round{'s' if rounds != 1 else ''}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
