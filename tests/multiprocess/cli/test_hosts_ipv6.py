"""Jobs over hosts that have addresses of IPv6 alone."""

import re

import pytest

from conftest import sh
from test_hosts import Hosts, lines_of
from test_hosts_gathering import Gathering
from test_hosts_meeting import meeting_rank  # noqa: F401 (a fixture)
from test_hosts_strangers import Job


@pytest.fixture
def make_hosts(make_lab, baton):
    return lambda count: Hosts(make_lab(count, "--ipv6"), baton)


def addresses_of(hosts):
    return [line.split()[1] for line in hosts.lab.call("status").stdout.splitlines()]


def test_ranks_meet_and_communicate(make_hosts, meeting_rank, rank_program):  # noqa: F811
    hosts = make_hosts(2)
    result = hosts.run(meeting_rank, slots=[1, 2])
    assert result.returncode == 0, result.stdout + result.stderr
    a, b = zip(hosts.names, addresses_of(hosts))
    assert all(":" in address for _, address in (a, b))
    met = [line for line in lines_of(result.stdout) if " met on " in line]
    assert met == [f"[{r}] met on {name} at {address}" for r, (name, address) in enumerate((a, b, b))]
    result = hosts.run(rank_program, "allreduce", slots=[2, 2], env={"UCX_TLS": "tcp,self"})
    assert result.returncode == 0 and result.stdout.count(b"joined") == 4, result.stdout + result.stderr
    hosts.baton.assert_nothing_left()


def test_hosts_are_named_by_their_addresses(make_hosts, tmp_path):
    hosts = make_hosts(2)
    agent = tmp_path / "agent"
    names = " ".join(f"{address}) host={name};;" for name, address in zip(hosts.names, addresses_of(hosts)))
    agent.write_text(f'#!/bin/sh\ncase $1 in {names} esac\nshift\nexec {hosts.lab.script} exec --prefix {hosts.lab.prefix} $host "$@"\n')
    agent.chmod(0o755)
    a, b = addresses_of(hosts)
    options = ["--interface", f"{hosts.lab.prefix}-lab", "--launch-agent", str(agent)]
    result = hosts.baton.run("run", "--hosts", f"[{a}]:1,[{b}]:2", *options, *sh("hostname"))
    assert lines_of(result.stdout) == [f"[{r}] {hosts.names[min(r, 1)]}" for r in range(3)], result.stderr
    result = hosts.baton.run("run", "--hosts", f"[{a}],[{b}]", *options, *sh('[ "$BATON_RANK" = 0 ] || kill -9 $$'))
    assert result.returncode != 0 and re.search(rf"rank 1 .*{b}", result.stderr.decode()), result.stderr


def test_ranks_of_other_launchers_meet(make_lab, rank_program):
    job = Gathering(make_lab(2, "--ipv6"))
    try:
        job.start_all(job.torchrun, [0, 1], rank_program, "round")
        job.start_all(job.mpich, [1, 0], rank_program, "round", BATON_MEET=f"[{job.addresses[1]}]:4711")
        for code, text in job.finish():
            assert code == 0 and "went round" in text, text
        job.assert_nothing_left()
    finally:
        job.clean_up()


@pytest.mark.parametrize("what", ["lengths", "as ucx"])
def test_strangers_do_not_disturb_ranks(make_hosts, rank_program, what):
    job = Job(make_hosts(3), rank_program, {})
    job.visit(what)
    job.meet()
    job.visit(what)
    err = job.finish()
    assert err.count("sent away") == len(err.splitlines()) == 1, err
