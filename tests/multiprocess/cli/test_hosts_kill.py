"""One process of a job over hosts is killed after its Nth step, a step being something that it sent, took in or made:
in the rendezvous, a put, a get, a barrier, a collective, a release. The others learn of it, and nothing stays.

By default a few of all N, evenly apart; with BATON_TEST_EVERY each of them."""

import os
import re
import signal

import pytest

from conftest import LIMIT, finish, wait_for_end
from test_hosts import make_hosts  # noqa: F401 (a fixture)

SHIM = os.environ.get("BATON_TEST_KILL_AT", "")
EVERY = bool(os.environ.get("BATON_TEST_EVERY"))
FEW = 3
SLOTS = [2, 2]


@pytest.fixture
def hosts(make_hosts):  # noqa: F811
    if not os.path.exists(SHIM):
        pytest.skip("a sanitizer has to be loaded before what kills here")
    return make_hosts(2)


def start(hosts, rank_program, who, step, **more):
    environment = {"LD_PRELOAD": SHIM, "KILL_WHO": who, "KILL_AT": str(step), "UCX_TLS": "tcp,self", **more}
    # Ranks end by themselves: nobody is ended because of another, as would happen after the grace, and no wait ends
    # because it took too long.
    environment.update({"BATON_JOIN_TIMEOUT": f"{LIMIT}s", "BATON_WAIT_TIMEOUT": f"{LIMIT}s"})
    return hosts.start("--grace", f"{LIMIT}s", rank_program, "steps", slots=SLOTS, env=environment)


def steps_of(hosts, rank_program, who, folder):
    """How many there are, and some of them, or all. The number differs a little from run to run."""
    count = folder / "count"
    code, out, err = finish(start(hosts, rank_program, who, 0, KILL_COUNT=str(count)))
    assert code == 0 and out.count("went round") == 2 * sum(SLOTS), out + err
    steps = int(count.read_text())
    assert steps > 20
    if EVERY:
        return range(1, steps + 1)
    return [steps * (part + 1) // (FEW + 1) for part in range(FEW)]


def assert_nobody_crashed(err):
    assert not re.search("SIG(ABRT|SEGV|BUS|ILL|FPE|TERM)", err), err
    codes = set(re.findall(r"BATON-(E\d+)", err))
    assert codes <= {"E030", "E041"}, err  # a peer died, a rank failed


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_rank_is_killed_at_any_step(hosts, rank_program, rank, tmp_path):
    reached = 0
    for step in steps_of(hosts, rank_program, f"rank {rank}", tmp_path):
        code, out, err = finish(start(hosts, rank_program, f"rank {rank}", step))
        if code == 0:  # it took fewer steps this time
            continue
        reached += 1
        host = hosts.names[0 if rank < SLOTS[0] else 1]
        assert code == 128 + signal.SIGKILL, f"step {step}: {code}\n{err}"
        assert re.search(rf"rank {rank} \(pid \d+ on host {host}\) was ended by SIGKILL", err), f"step {step}:\n{err}"
        assert_nobody_crashed(err)
        hosts.baton.assert_nothing_left()
    assert reached > 0


def test_an_agent_is_killed_at_any_step(hosts, rank_program, tmp_path):
    who = f"agent {hosts.names[1]}"
    for step in steps_of(hosts, rank_program, who, tmp_path):
        code, out, err = finish(start(hosts, rank_program, who, step))
        if code == 0:
            continue
        assert hosts.names[1] in err, f"step {step}:\n{err}"
        assert not re.search("SIG(ABRT|SEGV|BUS|ILL|FPE)", err), f"step {step}:\n{err}"
        # Its keeper, of which nobody knows, ends what it had started.
        wait_for_end(hosts.baton.processes())
        hosts.baton.assert_nothing_left()


def test_the_launcher_is_killed_at_any_step(hosts, rank_program, tmp_path):
    for step in steps_of(hosts, rank_program, "run", tmp_path):
        process = start(hosts, rank_program, "run", step)
        finish(process)
        wait_for_end(hosts.baton.processes())
        hosts.baton.assert_nothing_left()
