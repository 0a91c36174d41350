"""What goes wrong ends the waits of all ranks, with names and numbers, and without touching other groups."""

import datetime
import os
import signal
import sys
import time

import pytest
import torch
import torch.distributed as dist


def caught(body, kind=RuntimeError):
    """The text of what `body` raises."""
    with pytest.raises(kind) as raised:
        body()
    return str(raised.value)


def mismatch(rank, *bodies):
    return caught(lambda: bodies[rank]())


@pytest.mark.parametrize("first, second, texts", [
    (lambda: dist.all_reduce(torch.ones(3)), lambda: dist.all_reduce(torch.ones(4)),
     ["rank 0 called allreduce of 3 float32, sum", "rank 1 called allreduce of 4 float32, sum"]),
    (lambda: dist.all_reduce(torch.ones(3)), lambda: dist.all_reduce(torch.ones(3).int()),
     ["rank 0 called allreduce of 3 float32, sum", "rank 1 called allreduce of 3 int32, sum"]),
    (lambda: dist.all_reduce(torch.ones(3)), lambda: dist.broadcast(torch.ones(3), 0),
     ["rank 0 called allreduce of 3 float32, sum", "rank 1 called broadcast of 3 float32, root 0"]),
    (lambda: dist.broadcast(torch.ones(3), 1), lambda: dist.broadcast(torch.ones(3), 0),
     ["rank 0 called broadcast of 3 float32, root 1", "rank 1 called broadcast of 3 float32, root 0"]),
    (lambda: dist.all_reduce(torch.ones(3)), lambda: dist.barrier(), ["rank 1 called barrier"]),
], ids=["shape", "dtype", "operation", "root", "order"])
def test_ranks_that_disagree_see_both_sides(ranks, first, second, texts):
    for report in ranks(2, mismatch, first, second):
        for text in texts:
            assert text in report


def of_a_subgroup(rank):
    group = dist.new_group([1, 2])
    if rank == 0:
        return ""
    report = caught(lambda: dist.all_reduce(torch.ones(rank), group=group))
    # The others are not affected.
    dist.barrier()
    return report


def test_a_subgroup_names_the_ranks_of_the_program(ranks):
    def body(rank):
        report = of_a_subgroup(rank)
        if rank == 0:
            dist.barrier()
        return report

    for report in ranks(3, body)[1:]:
        assert "rank 0 called allreduce of 1" in report and "are ranks 1, 2 of the program" in report


# What is promised, and what a machine that is busy may add.
DEATH_IS_TOLD_S = 0.1 + 1


def dies(rank, call, moment):
    dist.barrier()
    if rank == 1:
        moment.write_text(str(time.monotonic()))
        os.kill(os.getpid(), signal.SIGKILL)
    report = caught(call)
    return report, time.monotonic()


@pytest.mark.parametrize("call", [lambda: dist.all_reduce(torch.ones(10)), lambda: dist.barrier(),
                                  lambda: dist.all_reduce(torch.ones(1 << 20), async_op=True).wait(),
                                  lambda: dist.recv(torch.ones(10), 1), lambda: dist.send(torch.ones(1 << 20), 1),
                                  lambda: dist.all_gather_object([None] * 3, "x")],
                         ids=["allreduce", "barrier", "async", "recv", "send", "object"])
def test_a_death_ends_the_waits_of_the_others_with_its_name(ranks, call, tmp_path):
    moment = tmp_path / "moment"
    results = ranks(3, dies, call, moment, dead=[1])
    for report, told in (results[0], results[2]):
        assert "rank 1" in report and "died: SIGKILL" in report
        assert told - float(moment.read_text()) < DEATH_IS_TOLD_S


def raises(rank):
    """As a program that ends with an exception that nobody catches."""
    if rank == 1:
        try:
            raise ValueError("7 is odd")
        except ValueError as error:
            sys.excepthook(type(error), error, error.__traceback__)
            os._exit(1)
    return caught(lambda: dist.all_reduce(torch.ones(10)))


def test_an_exception_that_ends_a_rank_is_shown_by_the_others(ranks):
    assert "ValueError: 7 is odd" in ranks(2, raises, dead=[1])[0]


def times_out(rank, path):
    dist.init_process_group("baton", init_method=f"file://{path}", rank=rank, world_size=2,
                            timeout=datetime.timedelta(seconds=1))
    begun = time.monotonic()
    if rank == 0:
        report = caught(lambda: dist.all_reduce(torch.ones(1)))
        assert 0.9 < time.monotonic() - begun < 20
        return report
    time.sleep(3)
    return ""


def test_the_timeout_of_torch_is_kept(ranks, tmp_path):
    report = ranks(2, times_out, tmp_path / "store", backend=None)[0]
    assert "waited 1 s for" in report and "the timeout is that of PyTorch, 1000 ms" in report


def waits_for_a_while(rank):
    work = dist.all_reduce(torch.ones(1), async_op=True) if rank == 0 else None
    if rank == 0:
        assert not work.is_completed()
        report = caught(lambda: work.wait(datetime.timedelta(milliseconds=200)))
        dist.all_reduce(torch.ones(2), async_op=True)
        work.wait()
        assert work.is_completed() and work.is_success()
        return report
    time.sleep(0.6)
    dist.all_reduce(torch.ones(1))
    dist.all_reduce(torch.ones(2))
    return ""


def test_a_wait_may_end_before_the_call(ranks):
    assert "has not ended within 200 ms; it goes on" in ranks(2, waits_for_a_while)[0]


def never_comes(rank, path):
    if rank == 2:
        return ""
    return caught(lambda: dist.init_process_group("baton", init_method=f"file://{path}", rank=rank, world_size=3,
                                                  timeout=datetime.timedelta(seconds=2)))


def test_a_rank_that_never_comes_is_named(ranks, tmp_path):
    results = ranks(3, never_comes, tmp_path / "store", backend=None)
    assert "for ranks 2 of 3 to make the process group" in results[0]


def is_aborted(rank):
    if rank == 0:
        dist.distributed_c10d._get_default_group()._get_backend(torch.device("cpu")).abort()
        return caught(lambda: dist.all_reduce(torch.ones(1)))
    return caught(lambda: dist.all_reduce(torch.ones(1)))


def test_an_abort_ends_the_waits_of_all(ranks):
    results = ranks(2, is_aborted)
    assert "this rank has aborted the process group" in results[0]
    assert "the process group was aborted" in results[1]


def aborts_its_own_wait(rank, folder):
    if rank == 1:
        # Without a word to rank 0, which waits for nothing of Baton's then.
        while not (folder / "aborted").exists():
            time.sleep(0.01)
        return ""
    work = dist.all_reduce(torch.ones(1), async_op=True)
    time.sleep(0.2)
    dist.distributed_c10d._get_default_group()._get_backend(torch.device("cpu")).abort()
    report = caught(work.wait)
    (folder / "aborted").touch()
    return report


def test_an_abort_ends_the_own_wait(ranks, tmp_path):
    assert "it has left the job itself" in ranks(2, aborts_its_own_wait, tmp_path)[0]


def wrong_use(rank):
    group = dist.distributed_c10d._get_default_group()._get_backend(torch.device("cpu"))
    assert "a tensor on meta" in caught(lambda: group.allreduce([torch.empty(3, device="meta")]), ValueError)
    assert "there is no BOR of Float" in caught(lambda: dist.all_reduce(torch.ones(3), dist.ReduceOp.BOR), ValueError)
    assert "there is no AVG of Bool" in caught(lambda: dist.all_reduce(torch.ones(3).bool(), dist.ReduceOp.AVG), ValueError)
    # Nothing was called, so the ranks still agree.
    x = torch.ones(3)
    dist.all_reduce(x)
    return x.tolist()


def test_wrong_arguments_are_refused_before_anything_is_called(ranks):
    assert ranks(2, wrong_use) == [[2, 2, 2]] * 2
