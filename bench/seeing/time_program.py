"""Prints how long a program takes from its start to its end: time_program.py BUDGET_MS COMMAND..."""

import json
import statistics
import subprocess
import sys
import time

LEAST_RUNS = 5


def main(budget_ms, *command):
    times = []
    end = time.monotonic() + float(budget_ms) / 1000
    while len(times) < LEAST_RUNS or time.monotonic() < end:
        began = time.monotonic_ns()
        ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if ended.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {ended.returncode}: {ended.stderr[-500:]}")
        times.append(time.monotonic_ns() - began)
    print(json.dumps({"median_ns": statistics.median(times), "count": len(times)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
