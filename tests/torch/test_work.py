"""Calls that go on while the program does: in order, with futures, with exceptions."""

import time

import pytest
import torch
import torch.distributed as dist


def many_at_once(rank):
    xs = [torch.full((i % 50 + 1,), float(rank)) for i in range(300)]
    works = [dist.all_reduce(x, async_op=True) for x in xs]
    # A call that is waited for at once comes after them.
    y = torch.ones(1)
    dist.all_reduce(y)
    assert all(work.is_completed() for work in works)
    for work in reversed(works):
        assert work.wait()
    assert y == 3 and all((x == 3).all() for x in xs)


def goes_on(rank):
    """Ends without a wait: a thread of the group makes it."""
    x = torch.ones(1 << 20)
    work = dist.all_reduce(x, async_op=True)
    deadline = time.monotonic() + 30
    while not work.is_completed():
        assert time.monotonic() < deadline
        time.sleep(0.001)
    assert (x == 3).all()


def futures(rank):
    x = torch.full((4,), float(rank))
    future = dist.all_reduce(x, async_op=True).get_future()
    doubled = future.then(lambda ended: ended.value()[0] * 2)
    assert doubled.wait().tolist() == [6] * 4
    work = dist.all_reduce(x, async_op=True)
    work.wait()
    assert work.get_future().value()[0].tolist() == [9] * 4
    assert work.get_future() is not None


def failed_futures(rank):
    work = dist.all_reduce(torch.ones(rank + 1), async_op=True)
    with pytest.raises(RuntimeError, match="disagree"):
        work.get_future().wait()
    with pytest.raises(RuntimeError, match="disagree"):
        work.wait()
    assert work.is_completed() and not work.is_success()
    try:
        assert "disagree" in str(work.exception())
    except TypeError:
        pass  # older versions of PyTorch cannot hand exceptions of any backend to Python
    # Ranks no longer agree on where they are.
    with pytest.raises(RuntimeError, match="an earlier collective"):
        dist.barrier()


def forgotten(rank):
    """Nobody keeps the work or the tensor: the call does."""
    for _ in range(20):
        dist.all_reduce(torch.ones(100_000), async_op=True)
    dist.barrier()


def left_over(rank):
    """A group ends when what was started on it has ended."""
    group = dist.new_group()
    x = torch.ones(1 << 20)
    work = dist.all_reduce(x, group=group, async_op=True)
    dist.destroy_process_group(group)
    del group
    work.wait()
    assert (x == 3).all()


@pytest.mark.parametrize("body", [many_at_once, goes_on, futures, failed_futures, forgotten, left_over],
                         ids=lambda body: body.__name__)
def test_work(ranks, body):
    ranks(3, body)
