"""Traces of jobs over several hosts: one file, one clock, although the clocks of the hosts differ."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

from conftest import LIMIT, finish, read_lines
from test_hosts import Hosts, make_hosts  # noqa: F401 (a fixture)

ROUNDS = 1500  # more than fit into the ring of a thread
# UCX would find out that the hosts are one machine.
ENVIRONMENT = {"UCX_TLS": "tcp,self", "BATON_JOIN_TIMEOUT": "60s"}
SHIFTS = [5000, 90000]  # seconds by which the clocks of the hosts are ahead of ours

AGENT = """#!/bin/sh
host=$1; shift
case $host in
{cases}esac
exec {lab} exec --prefix {prefix} "$host" unshare --time --monotonic $shift --fork --kill-child "$@"
"""


class Shifted:
    """A job on hosts with clocks of their own: a token goes round, then all ranks wait."""

    def __init__(self, hosts, folder):
        self.hosts = hosts
        self.file = folder / "run.trace"
        agent = folder / "agent"
        cases = "".join(f"{name}) shift={shift} ;;\n" for name, shift in zip(hosts.names, SHIFTS))
        agent.write_text(AGENT.format(cases=cases, lab=hosts.lab.script, prefix=hosts.lab.prefix))
        agent.chmod(0o755)
        hosts.options[hosts.options.index("--launch-agent") + 1] = f"{agent} {{host}}"

    def start(self, program, *arguments, **options):
        return self.hosts.start("--trace", str(self.file), program, *arguments, env=ENVIRONMENT, **options)

    def read(self, *options):
        result = self.hosts.baton.run("trace", str(self.file), *options)
        assert result.returncode == 0, result.stderr
        return result.stdout.decode()

    def events(self):
        out = self.file.with_suffix(".json")
        self.read("--json", str(out))
        return json.loads(out.read_text())["traceEvents"]

    def notifies(self):
        """The times at which each rank handed the token on, in microseconds."""
        found = {}
        for event in self.events():
            if event["ph"] in "iX" and event["name"] == "notify scratch[6]":
                found.setdefault(event["pid"] - 1, []).append(event["ts"])
        return found

    def error(self):
        """How wrong times may be, in microseconds."""
        number, unit = re.search(r"times may be wrong by ([\d.]+) (ns|us|ms)", self.read()).groups()
        return float(number) * {"ns": 1e-3, "us": 1, "ms": 1e3}[unit]


@pytest.fixture
def shifted(make_hosts, tmp_path):  # noqa: F811
    tried = subprocess.run(["unshare", "--time", "--monotonic", "1", "--fork", "true"], capture_output=True, text=True)
    if tried.returncode != 0:  # said loudly: without them clocks are the same, and nothing shows that they are compared
        pytest.skip("no clocks of their own for hosts: " + tried.stderr)
    return Shifted(make_hosts(2), tmp_path)


def check_order(trace, rounds):
    """Rank 0 hands over before rank 1 does, and after that again: no time is wrong by more than the file says."""
    at = trace.notifies()
    assert [len(at[rank]) for rank in (0, 1)] == [rounds + 1, rounds]
    slack = 2 * trace.error()
    assert slack < 1e6
    for k in range(rounds):
        assert at[0][k] <= at[1][k] + slack, (k, slack)
        assert at[1][k] <= at[0][k + 1] + slack, (k, slack)


def test_all_hosts_are_in_one_file_on_one_clock(shifted, rank_program):
    process = shifted.start(rank_program, "relay", str(ROUNDS))
    code, _, err = finish(process)
    assert code == 0, err
    assert "each host" not in err
    check_order(shifted, ROUNDS)
    a, b = shifted.hosts.names
    text = shifted.read()
    assert re.search(rf" of 2 processes on {a}, {b} \(times may be wrong by ", text), text
    assert re.search(rf"^rank 0 on {a} .*rank 1 \(\d+ %\)", text, re.M), text
    assert re.search(rf"^rank 1 on {b} .*rank 0 \(\d+ %\)", text, re.M), text
    # The arrows: from a notify on one host to the wait that it ended on the other, none of them backwards.
    arrows = {}
    waits = 0
    for event in shifted.events():
        if event.get("name") == "notify" and event["ph"] in "sf":
            arrows.setdefault(event["id"], {})[event["ph"]] = event
        waits += event["name"] == "wait scratch[6]"
    assert waits > ROUNDS / 2 and len(arrows) >= 0.99 * waits, (waits, len(arrows))
    assert all(arrow["s"]["pid"] != arrow["f"]["pid"] and arrow["s"]["ts"] <= arrow["f"]["ts"] for arrow in arrows.values())
    # What else reads a trace.
    page, packets = shifted.file.with_suffix(".html"), shifted.file.with_suffix(".pftrace")
    shifted.read("--html", str(page), "--perfetto", str(packets))
    for made in (page, packets):
        assert f"rank 1 on {b}".encode() in made.read_bytes()
    assert "wait scratch[6]" in shifted.read("--diff", str(shifted.file))
    shifted.hosts.baton.assert_nothing_left()


def test_what_a_rank_did_before_it_died_is_there(shifted, rank_program):
    process = shifted.start(rank_program, "relay_then_wait", str(ROUNDS))
    pids = [int(line.split()[-1]) for line in sorted(read_lines(process.stdout, 2))]
    read_lines(process.stdout, 2)
    os.kill(pids[1], signal.SIGKILL)
    code, _, err = finish(process)
    assert code == 137, err
    check_order(shifted, ROUNDS)
    assert re.search(rf"^rank 1 on {shifted.hosts.names[1]} \(did not leave\)", shifted.read(), re.M), shifted.read()
    shifted.hosts.baton.assert_nothing_left()


def test_what_had_come_from_a_host_that_was_cut_off_is_there(shifted, rank_program):
    process = shifted.start(rank_program, "relay_then_wait", str(ROUNDS))
    read_lines(process.stdout, 4)
    deadline = time.monotonic() + LIMIT
    while len(shifted.notifies().get(1, [])) < ROUNDS:  # it comes while the job goes on
        assert process.poll() is None and time.monotonic() < deadline
    lab, cut = shifted.hosts.lab, shifted.hosts.names[1]
    assert lab.call("cut", cut).returncode == 0
    code, _, err = finish(process)
    assert code != 0 and f"host {cut} does not answer" in err, err
    check_order(shifted, ROUNDS)
    assert lab.call("mend", cut).returncode == 0


def test_a_trace_may_come_from_the_environment(make_hosts, rank_program, tmp_path):  # noqa: F811
    hosts = make_hosts(2)
    file = tmp_path / "run.trace"
    result = hosts.run(rank_program, "leave", env={**ENVIRONMENT, "BATON_TRACE": str(file)})
    assert result.returncode == 0, result.stderr
    text = hosts.baton.run("trace", str(file)).stdout.decode()
    for rank in (0, 1):
        assert f"rank {rank} on {hosts.names[rank]} " in text, text
