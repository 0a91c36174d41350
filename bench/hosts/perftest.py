#!/usr/bin/env python3
"""Runs ucx_perftest between two hosts of scripts/hosts-lab and prints what it measured as the harness reads it.

usage: perftest.py LAB PREFIX TEST BYTES BUDGET_MS

Latencies are the medians that it reports, bandwidths its averages. It is not told how long to run but how often, so a
short run finds that out.
"""

import json
import subprocess
import sys
import time

PORT = 13337
FEWEST, MOST = 20, 200_000
PIN = {"server": "0", "client": "1"}


def on(lab, prefix, host, *words):
    return [lab, "exec", "--prefix", prefix, f"{prefix}{host}", "env", "UCX_TLS=tcp,self", "UCX_NET_DEVICES=eth0", *words]


def address_of(lab, prefix):
    listed = subprocess.run([lab, "status", "--prefix", prefix], capture_output=True, text=True, check=True).stdout
    return next(line.split()[1] for line in listed.splitlines() if line.split()[0] == f"{prefix}0")


def connect(command):
    """The client's output. The server takes a moment until it listens; the client does not wait for it."""
    deadline = time.monotonic() + 10
    while True:
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0 or time.monotonic() > deadline:
            break
    if done.returncode != 0:
        raise SystemExit(f"ucx_perftest: {(done.stderr or done.stdout).strip().splitlines()[0]}")
    return done.stdout


def measure(lab, prefix, test, size, count, warm_up):
    """Microseconds per message."""
    options = ["-p", str(PORT)]
    server = subprocess.Popen(on(lab, prefix, 0, "ucx_perftest", *options, "-c", PIN["server"]),
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        output = connect(on(lab, prefix, 1, "ucx_perftest", address_of(lab, prefix), *options, "-c", PIN["client"], "-t", test,
                            "-s", str(size), "-n", str(count), "-w", str(warm_up), "-f"))
        server.wait(10)
    finally:
        if server.poll() is None:
            server.kill()
            server.wait()
    # iterations, median, average and overall latency, average and overall bandwidth, and rate
    numbers = [float(word) for word in output.splitlines()[-1].split()]
    return numbers[3] if test.endswith("_bw") else numbers[1]


def main(lab, prefix, test, size, budget_ms):
    size, budget_us = int(size), 1000 * float(budget_ms)
    trial = measure(lab, prefix, test, size, FEWEST, FEWEST)
    count = int(max(FEWEST, min(budget_us / trial, MOST)))
    took = measure(lab, prefix, test, size, count, max(1, count // 10))
    print(json.dumps({"median_ns": 1000 * took, "count": count}))


main(*sys.argv[1:])
