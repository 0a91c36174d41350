"""send and recv: of any size and type, with tags, from any rank, in batches, beside collectives."""

import datetime
import os
import signal
import time

import pytest
import torch
import torch.distributed as dist

SIZES = [0, 1, 1000, 16384, 16385, 500_000]


def round_and_round(rank):
    size = dist.get_world_size()
    for count in SIZES:
        for dtype in (torch.float32, torch.int64, torch.bool, torch.complex64):
            own = (torch.arange(count) % 2 + rank % 2).to(dtype)
            got = torch.zeros(count, dtype=dtype)
            works = [dist.isend(own, (rank + 1) % size), dist.irecv(got, (rank - 1) % size)]
            for work in works:
                assert work.wait()
            assert torch.equal(got, (torch.arange(count) % 2 + (rank - 1) % size % 2).to(dtype))


def ping_pong(rank):
    x = torch.zeros(1)
    for i in range(500):
        if (rank + i) % 2 == 0:
            x += 1
            dist.send(x, 1 - rank)
        else:
            dist.recv(x, 1 - rank)
    dist.barrier()
    return int(x)


def from_any(rank):
    if rank != 0:
        for count in (10, 200_000):
            dist.send(torch.full((count,), float(rank)), 0, tag=count)
        return []
    sources = []
    for count in (10, 200_000):
        for _ in range(dist.get_world_size() - 1):
            x = torch.zeros(count)
            source = dist.recv(x, tag=count)
            assert (x == source).all()
            sources.append(source)
    return sources


def tags(rank):
    xs = [torch.full((1 << i,), float(i)) for i in range(20)]
    if rank == 0:
        works = [dist.isend(x, 1, tag=i) for i, x in enumerate(xs)]
    else:
        xs = [torch.zeros(1 << i) for i in range(20)]
        works = [dist.irecv(x, 0, tag=i) for i, x in reversed(list(enumerate(xs)))]
    for work in works:
        work.wait()
    assert all((x == i).all() for i, x in enumerate(xs))


def batches(rank):
    size = dist.get_world_size()
    gots = [torch.zeros(3, 4) for _ in range(size)]
    operations = [dist.P2POp(dist.isend, torch.full((3, 4), float(10 * rank + to)), to) for to in range(size) if to != rank]
    operations += [dist.P2POp(dist.irecv, gots[source], source) for source in range(size) if source != rank]
    for work in dist.batch_isend_irecv(operations):
        work.wait()
    assert all((gots[source] == 10 * source + rank).all() for source in range(size) if source != rank)


def beside_collectives(rank):
    """A large message that was begun moves while its rank is in a collective."""
    x = torch.full((1_000_000,), float(rank))
    work = dist.isend(x, 1) if rank == 0 else dist.irecv(x, 0) if rank == 1 else None
    if rank == 1:
        work.wait()
    dist.barrier()
    if work is not None:
        work.wait()
        assert (x == 0).all()


def futures(rank):
    x = torch.full((100_000,), float(rank))
    work = dist.isend(x, 1) if rank == 0 else dist.irecv(x, 0)
    if rank < 2:
        work.get_future().wait()
        assert work.is_completed() and (x == 0).all()


def objects(rank):
    if not hasattr(dist, "send_object_list"):
        return  # PyTorch 2.0
    box = [{"from": rank}]
    if rank == 0:
        dist.send_object_list(box, dst=1)
    elif rank == 1:
        dist.recv_object_list(box, src=0)
        assert box == [{"from": 0}]


@pytest.mark.parametrize("body, size", [(round_and_round, 2), (round_and_round, 4), (tags, 2), (batches, 4),
                                        (beside_collectives, 3), (futures, 2), (objects, 2)])
def test_messages(ranks, body, size):
    ranks(size, body)


def test_ping_pong(ranks):
    assert max(ranks(2, ping_pong)) == 500


def test_from_any_rank(ranks):
    sources = ranks(4, from_any)[0]
    assert sorted(sources[:3]) == sorted(sources[3:]) == [1, 2, 3]


def caught(body):
    with pytest.raises(RuntimeError) as raised:
        body()
    return str(raised.value)


def does_not_fit(rank):
    x = torch.zeros(100_000 + rank)
    return caught(lambda: dist.send(x, 1) if rank == 0 else dist.recv(x, 0))


def test_both_sides_see_what_does_not_fit(ranks):
    for report in ranks(2, does_not_fit):
        assert "rank 0 sent 100000 float32 with tag 0 to rank 1, which receives 100001 float32" in report


def dies(rank):
    dist.barrier()
    if rank == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return caught(lambda: dist.recv(torch.zeros(3), 1))


def test_a_death_ends_a_receive_with_its_name(ranks):
    results = ranks(3, dies, dead=[1])
    for report in (results[0], results[2]):
        assert "rank 1" in report and "died: SIGKILL" in report


def times_out(rank, path):
    dist.init_process_group("baton", init_method=f"file://{path}", rank=rank, world_size=2,
                            timeout=datetime.timedelta(seconds=1))
    if rank == 1:
        time.sleep(2)
        return ""
    return caught(lambda: dist.recv(torch.zeros(3), 1))


def test_the_timeout_of_torch_is_kept(ranks, tmp_path):
    assert "rank 0 waited 1000 ms for its message from rank 1" in ranks(2, times_out, tmp_path / "store", backend=None)[0]


def monitored(rank):
    # Older versions of PyTorch offer it for Gloo alone, but pass it on.
    group = dist.distributed_c10d._get_default_group()
    for _ in range(5):
        group.monitored_barrier(timeout=datetime.timedelta(seconds=30), wait_all_ranks=False)
    if rank == 2:
        time.sleep(3)
        return ""
    return caught(lambda: group.monitored_barrier(timeout=datetime.timedelta(seconds=1), wait_all_ranks=True))


def test_a_monitored_barrier_names_who_did_not_come(ranks):
    results = ranks(4, monitored)
    assert "Rank 2 failed to pass monitoredBarrier in 1000 ms" in results[0]
    assert "Rank 1 successfully reached monitoredBarrier" in results[1]
