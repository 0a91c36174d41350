"""baton run --hosts: ranks of several hosts meet, and are told of each other's ends."""

import os
import re
import signal
import time

import pytest

from conftest import finish, read_lines
from test_hosts import agents_of, lines_of, make_hosts  # noqa: F401 (a fixture)


@pytest.fixture
def meeting_rank():
    return os.environ["BATON_TEST_HOSTS_RANK"]


def test_ranks_of_all_hosts_meet(make_hosts, meeting_rank):
    hosts = make_hosts(3)
    result = hosts.run(meeting_rank, slots=[3, 1, 2])
    assert result.returncode == 0, result.stdout + result.stderr
    met = [line for line in lines_of(result.stdout) if " met on " in line]
    at = {line.split()[0]: line.split()[1] for line in hosts.lab.call("status").stdout.splitlines()}
    places = [hosts.names[i] for i in (0, 0, 0, 1, 2, 2)]
    assert met == [f"[{r}] met on {place} at {at[place]}" for r, place in enumerate(places)]


def test_many_ranks_meet(make_hosts, meeting_rank):
    hosts = make_hosts(4)
    result = hosts.run("-n", "64", meeting_rank)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr
    assert result.stdout.count(b" met on ") == 64


def watched(hosts, meeting_rank, count):
    """A job whose ranks have met and watch each other."""
    process = hosts.start("-n", str(count), meeting_rank, "watch")
    met = read_lines(process.stdout, count)
    assert all(" met on " in line for line in met), met
    return process


def ends_told(text):
    """(who was told, whose end, state, kind, value, when, why)"""
    pattern = r"\[(\d+)\] end (\d+) state (\d) kind (\d) value (\d+) at (\d+) (.*)"
    return [(*map(int, found[:6]), found[6]) for found in re.findall(pattern, text)]


def rank_pids(hosts, meeting_rank):
    pids = [pid for pid, command in hosts.baton.processes().items() if command.startswith(meeting_rank.encode())]
    found = {}
    for pid in pids:
        with open(f"/proc/{pid}/environ", "rb") as file:
            found[int(re.search(rb"BATON_RANK=(\d+)", file.read())[1])] = pid
    return found


def test_a_death_is_told_on_all_hosts(make_hosts, meeting_rank):
    hosts = make_hosts(2)
    process = watched(hosts, meeting_rank, 4)
    begin = time.monotonic_ns()
    os.kill(rank_pids(hosts, meeting_rank)[3], signal.SIGKILL)
    code, out, err = finish(process)
    assert code == 137
    told = [one for one in ends_told(out) if one[1] == 3]
    assert sorted(one[:5] for one in told) == [(r, 3, 3, 1, signal.SIGKILL) for r in range(3)], out
    # Promised are 100 ms; the rest is for a busy machine.
    assert max(one[5] for one in told) - begin < 2.1e9, (begin, told)


def test_a_lost_agent_is_told_with_its_host(make_hosts, meeting_rank):
    hosts = make_hosts(2)
    process = watched(hosts, meeting_rank, 4)
    os.kill(agents_of(hosts)[1], signal.SIGKILL)
    code, out, err = finish(process)
    told = ends_told(out)
    why = f"host {hosts.names[1]} closed the connection"
    for who in (0, 1):
        assert [one[1:4] + one[6:] for one in told if one[0] == who and one[1] > 1] == [(2, 3, 0, why), (3, 3, 0, why)], out


def test_a_cut_link_is_told_in_time(make_hosts, meeting_rank):
    hosts = make_hosts(2)
    process = watched(hosts, meeting_rank, 4)
    begin = time.monotonic_ns()
    assert hosts.lab.call("cut", hosts.names[1]).returncode == 0
    code, out, err = finish(process)
    told = [one for one in ends_told(out) if one[0] < 2 and one[1] > 1]
    assert sorted(one[:2] for one in told) == [(0, 2), (0, 3), (1, 2), (1, 3)], out
    assert all(one[6] == f"host {hosts.names[1]} does not answer" for one in told), out
    # Promised are 1.5 s; the rest is for a busy machine.
    assert max(one[5] for one in told) - begin < 3.5e9, (begin, told)


def test_who_dies_before_the_ranks_have_met_is_named(make_hosts, meeting_rank):
    hosts = make_hosts(2)
    result = hosts.run("--grace", "10s", "-n", "4", meeting_rank, "die before")
    assert result.returncode == 3
    for rank in range(3):
        assert f"[{rank}] rank 3 on host {hosts.names[1]} died before the ranks had met" in result.stdout.decode()
