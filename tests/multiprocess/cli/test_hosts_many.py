"""As many ranks on several hosts as this machine bears: they meet, hand over to each other and add up, and what a rank
keeps for each of the others is bounded. 128 of them; with BATON_TEST_EVERY 1,024."""

import os
import resource
import statistics

import pytest

from conftest import finish, read_lines
from test_hosts import make_hosts  # noqa: F401 (a fixture)

HOSTS = 4
RANKS = 1024 if os.environ.get("BATON_TEST_EVERY") else 128
PATIENCE = {"BATON_JOIN_TIMEOUT": "600s", "BATON_WAIT_TIMEOUT": "600s", "UCX_TLS": "tcp,self"}
# What paths.md says of the rank of a host that hears from all others, in bytes for each rank of the job.
MOST_FOR_A_RANK = 16 << 10


def own_memory(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("RssAnon:"))


def memory_of_ranks(hosts, rank_program, ranks):
    """Of each, when they have a window."""
    process = hosts.start("-n", str(ranks), rank_program, "pause", env=PATIENCE)
    memory = [own_memory(line.split()[-1]) for line in read_lines(process.stdout, ranks)]
    process.terminate()
    finish(process)
    return memory


def test_they_meet_and_add_up(make_hosts, rank_program):  # noqa: F811
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # What a shell gives: less than the sockets of a rank that hears from all others.
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(RANKS, hard), hard))
    try:
        hosts = make_hosts(HOSTS)
        process = hosts.start("-n", str(RANKS), rank_program, "allreduce", env=PATIENCE)
        out, err = process.communicate(timeout=900)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert process.returncode == 0 and out.count(b"joined") == RANKS and not err, out[-2000:] + err[-2000:]
    hosts.baton.assert_nothing_left()


@pytest.mark.skipif(bool(os.environ.get("BATON_TEST_BUILD")), reason="sanitizers keep memory of their own, and more of what is freed")
def test_memory_for_each_other_rank_is_bounded(make_hosts, rank_program):  # noqa: F811
    hosts = make_hosts(HOSTS)
    few = memory_of_ranks(hosts, rank_program, HOSTS)
    many = memory_of_ranks(hosts, rank_program, RANKS)
    assert max(many) - statistics.median(few) < MOST_FOR_A_RANK * RANKS, (few, max(many))
    hosts.baton.assert_nothing_left()
