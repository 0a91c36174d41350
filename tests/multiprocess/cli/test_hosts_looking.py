"""What the ranks of a job over several hosts do, asked on any of them: baton ps, Ctrl-\\, --timeout."""

import json
import os
import re
import signal

import pytest

from conftest import finish, read_lines
from test_hosts import agents_of, make_hosts  # noqa: F401 (a fixture)


class Crossed:
    """A job of ranks that wait for each other: rank 0 for a barrier, the others for a signal."""

    def __init__(self, hosts, program, slots, *options):
        self.hosts = hosts
        self.process = hosts.start(*options, program, "crossed", slots=slots, env={"BATON_LOG": "error"})
        self.pids = {int(line[1]): int(line.split()[-1]) for line in read_lines(self.process.stdout, sum(slots))}

    def jobs(self, *via):
        """What `baton ps --json` has of this job, asked on a host of the lab or where it was started."""
        baton = self.hosts.baton
        found = self.hosts.lab.call("exec", *via, baton.path, "ps", "--json").stdout if via else baton.run("ps", "--json").stdout
        return [job for job in json.loads(found)["jobs"] if {rank["pid"] for rank in job["ranks"]} & set(self.pids.values())]

    def wait_until_all_wait(self):
        while True:
            found = self.jobs()
            if found and all(rank["state"] == "waiting" for rank in found[0]["ranks"]):
                return found[0]

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        return finish(self.process)


@pytest.fixture
def crossed(make_hosts, rank_program):  # noqa: F811
    return lambda slots, *options: Crossed(make_hosts(len(slots)), rank_program, slots, *options)


def check(report, hosts):
    """The report of a job with ranks 0 and 1 on the first host and 2 on the second, however it was asked for."""
    assert f"ranks 0-1 are on host {hosts[0]}, rank 2 is on host {hosts[1]}" in report, report
    assert re.search(r'rank 0: waiting for barrier 1 of "world", for ', report), report
    wait = r'waiting for signal 3 of "scratch" >= 2, for .*\n +it waits at [^ ]*rank.cpp:\d+\n +'
    assert re.search("rank 1: " + wait + r"it has 1 and needs >= 2\n +last notified by rank 0, [\d.]+ m?s ago, at [^ ]*rank.cpp:\d+", report), report
    assert re.search("rank 2: " + wait + r"it has 0 and needs >= 2\n +nobody has notified it", report), report
    assert "ranks 0-2 cannot go on: everyone who could end their waits is waiting, too" in report, report
    assert re.search(r'ago: rank 0 notified signal 3 of "scratch" at rank 1', report), report


def test_ps_shows_all_hosts_once_wherever_it_is_asked(crossed):
    job = crossed([2, 1])
    names = job.hosts.names
    there = job.wait_until_all_wait()
    assert [(rank["rank"], rank["pid"], rank["host"]) for rank in there["ranks"]] == [
        (rank, job.pids[rank], names[0 if rank < 2 else 1]) for rank in range(3)]
    for host in names:
        found = job.jobs(host)
        assert len(found) == 1, found
        assert [(rank["pid"], rank["host"], rank["state"]) for rank in found[0]["ranks"]] == [
            (rank["pid"], rank["host"], "waiting") for rank in there["ranks"]]
        assert found[0]["name"] == there["name"]
    assert len(job.jobs()) == 1
    header, *rows = job.hosts.baton.run("ps").stdout.decode().splitlines()
    assert header.split()[:4] == ["JOB", "RANK", "HOST", "PID"]
    mine = [row.split() for row in rows if row.startswith(there["name"])]
    assert [row[2] for row in mine] == [names[0], names[0], names[1]]
    job.end()
    job.hosts.baton.assert_nothing_left()


def test_ps_explains_over_hosts(crossed):
    job = crossed([2, 1])
    name = job.wait_until_all_wait()["name"]
    result = job.hosts.baton.run("ps", "--explain", name[:-3])
    assert result.stdout.decode().startswith(name + "\n")
    check(result.stdout.decode(), job.hosts.names)
    for host in job.hosts.names:
        check(job.hosts.lab.call("exec", host, job.hosts.baton.path, "ps", "--explain", name).stdout, job.hosts.names)
    job.end()


def test_sigquit_asks_all_hosts(crossed):
    job = crossed([2, 1])
    job.wait_until_all_wait()
    job.process.send_signal(signal.SIGQUIT)
    report = b""
    while b"a second SIGQUIT" not in report:
        report += os.read(job.process.stderr.fileno(), 65536)
    check(report.decode(), job.hosts.names)
    assert job.process.poll() is None
    job.process.send_signal(signal.SIGQUIT)
    code, _, _ = finish(job.process)
    assert code == 128 + signal.SIGQUIT


def test_a_timeout_is_explained_over_hosts(crossed):
    job = crossed([2, 1], "--timeout", "5s")
    code, _, err = finish(job.process)
    assert code == 124
    check(err, job.hosts.names)


def test_a_stopped_rank_and_a_silent_host_are_told(crossed):
    job = crossed([2, 1])
    job.wait_until_all_wait()
    os.kill(job.pids[2], signal.SIGSTOP)
    assert [rank["state"] for rank in job.jobs()[0]["ranks"]] == ["waiting", "waiting", "stopped"]
    agent = agents_of(job.hosts)[1]
    os.kill(agent, signal.SIGSTOP)
    states = [rank["state"] for rank in job.jobs()[0]["ranks"]]
    assert states == ["waiting", "waiting", "not seen: its host did not answer"]
    # Also to who asks on the other host, which had never heard of it.
    assert [rank["state"] for rank in job.jobs(job.hosts.names[0])[0]["ranks"]] == states
    report = job.hosts.baton.run("ps", "--explain", job.jobs()[0]["name"]).stdout.decode()
    assert "rank 2: not known: its host did not answer" in report and "cannot go on" not in report, report
    os.kill(agent, signal.SIGCONT)
    os.kill(job.pids[2], signal.SIGCONT)
    job.wait_until_all_wait()
    job.end()


def deadlock_report(hosts, rank_program):
    process = hosts.start(rank_program, "crossed", slots=[2, 1])
    text = b""
    while b"the last events:" not in text:
        text += os.read(process.stderr.fileno(), 65536)
        assert process.poll() is None, text
    process.send_signal(signal.SIGTERM)
    _, _, rest = finish(process)
    return text.decode() + rest


def test_a_deadlock_is_told_once_when_it_happens(make_hosts, rank_program):  # noqa: F811
    """From the moment when the last rank of all hosts sleeps. On a machine that does other things as well, one of several times."""
    hosts = make_hosts(2)
    units = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60}
    took = []
    while not took or (min(took) >= 1 and len(took) < 10):
        report = deadlock_report(hosts, rank_program)
        assert report.count("can go on: all of them wait for each other") == 1, report
        check(report, hosts.names)
        waits = re.findall(r"^ *ranks? \S+: waiting for .*, for ([\d.]+) (\w+)$", report, re.MULTILINE)
        assert len(waits) == 3, waits
        took.append(min(float(number) * units[unit] for number, unit in waits))
    assert min(took) < 1, took
    hosts.baton.assert_nothing_left()


@pytest.mark.parametrize("what", ["busy", "turns", "slow", "impatient"])
def test_what_goes_on_over_hosts_is_no_deadlock(make_hosts, rank_program, what):  # noqa: F811
    result = make_hosts(2).run(rank_program, what)
    assert (result.returncode, result.stderr) == (0, b""), result.stderr


def test_a_token_that_goes_round_is_no_deadlock(make_hosts, rank_program):  # noqa: F811
    """Most looks find all ranks asleep, and a message on its way."""
    result = make_hosts(3).run(rank_program, "relay", "10000", env={"UCX_TLS": "tcp,self"})
    assert (result.returncode, result.stderr) == (0, b""), result.stderr


def test_ranks_on_hosts_join_without_a_warning(make_hosts, rank_program):  # noqa: F811
    result = make_hosts(2).run(rank_program)
    assert (result.returncode, result.stderr) == (0, b""), result.stderr
