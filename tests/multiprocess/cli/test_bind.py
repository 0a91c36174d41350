"""Which processors the ranks of a job run on."""

import os

import pytest

from conftest import python

TELL = "print(*sorted(os.sched_getaffinity(0)))"
ALL = sorted(os.sched_getaffinity(0))


def told(result):
    assert result.returncode == 0, result.stderr
    lines = dict(line.split(b"] ") for line in result.stdout.splitlines())
    return [[int(word) for word in lines[b"[%d" % rank].split()] for rank in range(len(lines))]


def test_ranks_run_anywhere(baton):
    assert told(baton.run("run", "-n", "3", *python(TELL))) == [ALL] * 3


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_bound_ranks_stay_on_their_share(baton, ranks):
    shares = told(baton.run("run", "--bind", "-n", str(ranks), *python(TELL)))
    assert len(shares) == ranks
    if ranks <= len(ALL):
        assert sum(shares, []) == ALL
        assert max(map(len, shares)) - min(map(len, shares)) <= 1
    else:
        assert shares == [[ALL[rank % len(ALL)]] for rank in range(ranks)]
