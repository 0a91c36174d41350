"""Programs that were written for one host, on two."""

import os

import pytest

from test_hosts import lines_of, make_hosts  # noqa: F401 (a fixture)

TCP = {"UCX_TLS": "tcp,self"}  # UCX would find out that the hosts are one machine

SUMS = """
import baton
import numpy as np

me = baton.join()
x = me.window("x", 1000, "float32")
x[:] = me.rank + 1
me.allreduce(x)
all_ranks = np.zeros(me.size, "int32")
me.allgather(np.array([me.rank], "int32"), all_ranks)
parts = me.subset("odd" if me.rank % 2 else "even", range(me.rank % 2, me.size, 2))
y = np.full(70000, me.rank, "int64")
parts.broadcast(y, root=parts.size - 1)
print(x[0], x[999], list(map(int, all_ranks)), y[0], y[-1])
"""


def test_the_relay_goes_over_the_link(make_hosts):
    relay = os.path.join(os.environ["BATON_TEST_EXAMPLES"], "relay")
    result = make_hosts(2).run("-n", "4", relay, env=TCP)
    assert result.returncode == 0, result.stderr
    legs = [f"[{r}] rank {r}: leg {r} was run by rank {r - 1}" for r in range(1, 4)]
    assert lines_of(result.stdout) == ["[0] rank 0: the baton came back after 4 of 4 legs", *legs]


def test_a_program_in_c_reaches_other_hosts(make_hosts):
    result = make_hosts(2).run(os.environ["BATON_TEST_C_RANK"], slots=[2, 1], env=TCP)
    assert result.returncode == 0, result.stdout + result.stderr
    assert lines_of(result.stdout) == [f"[{r}] rank {r} was reached by rank {(r + 2) % 3}, and finds {r} there" for r in range(3)]


def test_programs_follow_each_other(make_hosts, rank_program):
    """As ranks of one job: what one left behind is not taken for an end of the next, however fast each rank is."""
    hosts = make_hosts(2)
    result = hosts.run("sh", "-c", f"for i in 1 2 3 4; do {rank_program} round || exit; done", slots=[2, 1], env=TCP)
    assert (result.returncode, result.stderr) == (0, b""), result.stdout + result.stderr
    assert result.stdout.count(b"went round") == 12
    result = hosts.run(os.environ["BATON_TEST_C_RANK"], "10", slots=[2, 1], env=TCP)
    assert (result.returncode, result.stderr) == (0, b""), result.stdout + result.stderr
    assert result.stdout.count(b"was reached by") == 30


def test_a_program_that_does_not_follow_is_told(make_hosts, rank_program):
    again = f"{rank_program} round && {{ [ $BATON_RANK != 2 ] || exit 0; }} && {rank_program} round"
    result = make_hosts(2).run("--grace", "60s", "sh", "-c", again, slots=[2, 1], env=TCP)
    text = result.stderr.decode()
    assert result.returncode != 0 and text.count("died before the ranks had met") >= 1, text


def test_chips_get_from_chips_of_another_host(make_hosts):
    program = os.path.join(os.environ["BATON_TEST_EXAMPLES"], "async_completion")
    result = make_hosts(2).run(program, slots=[2, 1], env=TCP)
    assert result.returncode == 0, result.stdout + result.stderr
    shown = "what the next rank shows + 1, twice: largest difference 0"
    assert sorted(line for line in lines_of(result.stdout) if " shows " in line) == [
        f"[{r}] rank {r}: {shown}" for r in range(3)
    ]


@pytest.mark.parametrize("order", [{}, {"BATON_PIPES": "strict"}, {"BATON_SEED": "7"}], ids=["program", "strict", "seed"])
def test_tokens_go_to_experts_of_another_host(make_hosts, order):
    program = os.path.join(os.environ["BATON_TEST_EXAMPLES"], "moe_dispatch")
    result = make_hosts(2).run(program, slots=[3, 2], env={**TCP, **order})
    assert result.returncode == 0, result.stdout + result.stderr
    assert lines_of(result.stdout) == [f"[{r}] rank {r}: 2 rounds, 0 wrong" for r in range(5)]


def test_collectives_of_python(make_hosts, package):
    env = {**TCP, "PYTHONPATH": package, "PYTHONDONTWRITEBYTECODE": "1"}
    result = make_hosts(2).run(os.environ["BATON_TEST_PACKAGE_PYTHON"], "-c", SUMS, slots=[2, 3], env=env)
    assert result.returncode == 0, result.stderr
    last = [4, 3, 4, 3, 4]
    assert lines_of(result.stdout) == [f"[{r}] 15.0 15.0 [0, 1, 2, 3, 4] {last[r]} {last[r]}" for r in range(5)]
