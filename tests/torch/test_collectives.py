"""Every collective of torch.distributed, held against what PyTorch computes from the inputs of all ranks."""

import functools

import pytest
import torch
import torch.distributed as dist
from torch.distributed import ReduceOp

SIZES = [1, 2, 3, 4]
REALS = [torch.float64, torch.float32, torch.float16, torch.bfloat16]
INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]
COMPLEX = [torch.complex64, torch.complex128]


def put_in(rank, shape=(3, 5), dtype=torch.float32):
    """What a rank puts in: small whole numbers, so that sums and products are exact."""
    generator = torch.Generator().manual_seed(rank + 1)
    return torch.randint(0, 3, shape, generator=generator).to(dtype)


def inputs(**options):
    return [put_in(rank, **options) for rank in range(dist.get_world_size())]


def reduced(op, tensors):
    by = {ReduceOp.SUM: torch.add, ReduceOp.PRODUCT: torch.mul, ReduceOp.MIN: torch.minimum,
          ReduceOp.MAX: torch.maximum, ReduceOp.BAND: torch.bitwise_and, ReduceOp.BOR: torch.bitwise_or,
          ReduceOp.BXOR: torch.bitwise_xor}
    return functools.reduce(by[op], tensors)


def allreduce_of_all_types(rank):
    ops = [ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX]
    for dtype in REALS + INTEGERS:
        for op in ops + ([ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR] if dtype in INTEGERS else []):
            x = put_in(rank, dtype=dtype)
            dist.all_reduce(x, op)
            assert torch.equal(x, reduced(op, inputs(dtype=dtype))), (dtype, op)
    for dtype in COMPLEX:
        x = put_in(rank, dtype=dtype) * (1 + 2j)
        dist.all_reduce(x)
        assert torch.equal(x, sum(t * (1 + 2j) for t in inputs(dtype=dtype)))


def allreduce_of_booleans(rank):
    for op, of_all in ((ReduceOp.SUM, torch.any), (ReduceOp.MAX, torch.any), (ReduceOp.BOR, torch.any),
                       (ReduceOp.PRODUCT, torch.all), (ReduceOp.MIN, torch.all), (ReduceOp.BAND, torch.all)):
        x = put_in(rank) > 0
        dist.all_reduce(x, op)
        assert torch.equal(x, of_all(torch.stack(inputs()) > 0, dim=0)), op
        assert x.view(torch.uint8).max() <= 1


def averages(rank):
    size = dist.get_world_size()
    x = put_in(rank)
    dist.all_reduce(x, ReduceOp.AVG)
    assert torch.equal(x, sum(inputs()) / size)
    x = put_in(rank)
    dist.all_reduce(x, dist._make_nccl_premul_sum(0.5))
    assert torch.equal(x, sum(inputs()) * 0.5)
    out = torch.empty(4)
    dist.reduce_scatter_tensor(out, put_in(rank, shape=(size, 4)), dist._make_nccl_premul_sum(torch.tensor([2.0])))
    assert torch.equal(out, 2 * sum(inputs(shape=(size, 4)))[rank])


def reduce_keeps_what_others_have(rank):
    for root in range(dist.get_world_size()):
        x = put_in(rank)
        dist.reduce(x, root)
        assert torch.equal(x, sum(inputs()) if rank == root else put_in(rank))


def broadcasts(rank):
    for root in range(dist.get_world_size()):
        for dtype in REALS + INTEGERS + COMPLEX + [torch.bool]:
            x = put_in(rank, dtype=dtype)
            dist.broadcast(x, root)
            assert torch.equal(x, put_in(root, dtype=dtype))


def gathers(rank):
    gathers_of(rank, (3, 5))
    # Such blocks go straight from memory to memory.
    gathers_of(rank, (300, 500))


def gathers_of(rank, shape):
    size = dist.get_world_size()
    own = put_in(rank, shape=shape)
    everything = inputs(shape=shape)
    outs = [torch.empty(*shape) for _ in range(size)]
    dist.all_gather(outs, own)
    assert all(torch.equal(a, b) for a, b in zip(outs, everything))
    out = torch.empty(shape[0] * size, shape[1])
    dist.all_gather_into_tensor(out, own)
    assert torch.equal(out, torch.cat(everything))
    # Parts of one tensor are filled where they are, whatever their order.
    rows = torch.zeros(size, *shape)
    dist.all_gather([rows[size - 1 - i] for i in range(size)], own)
    assert torch.equal(rows.flip(0), torch.stack(everything))
    for root in range(size):
        dist.gather(own, outs if rank == root else None, dst=root)
        assert rank != root or all(torch.equal(a, b) for a, b in zip(outs, everything))
        x = torch.empty(*shape)
        dist.scatter(x, [t + root for t in everything] if rank == root else None, src=root)
        assert torch.equal(x, everything[rank] + root)


def reduce_scatters(rank):
    size = dist.get_world_size()
    total = sum(inputs(shape=(size, 4)))
    out = torch.empty(4)
    dist.reduce_scatter_tensor(out, put_in(rank, shape=(size, 4)))
    assert torch.equal(out, total[rank])
    dist.reduce_scatter(out, [row.clone() for row in put_in(rank, shape=(size, 4))], ReduceOp.MAX)
    assert torch.equal(out, reduced(ReduceOp.MAX, inputs(shape=(size, 4)))[rank])


def all_to_alls(rank):
    size = dist.get_world_size()
    out = torch.empty(size, 2)
    dist.all_to_all_single(out, put_in(rank, shape=(size, 2)))
    assert torch.equal(out, torch.stack([t[rank] for t in inputs(shape=(size, 2))]))
    # Rank r sends s + 1 rows to rank s.
    rows = list(range(1, size + 1))
    out = torch.empty(size * (rank + 1), 2)
    dist.all_to_all_single(out, put_in(rank, shape=(sum(rows), 2)), [rank + 1] * size, rows)
    assert torch.equal(out, torch.cat([t.split(rows)[rank] for t in inputs(shape=(sum(rows), 2))]))
    outs = [torch.empty(rank + 1, source + 1) for source in range(size)]
    dist.all_to_all(outs, [torch.full((to + 1, rank + 1), 10.0 * rank + to) for to in range(size)])
    assert all((t == 10 * source + rank).all() for source, t in enumerate(outs))


def tensors_that_are_not_contiguous(rank):
    x = put_in(rank, shape=(6, 4)).t()[::2]
    dist.all_reduce(x)
    assert torch.equal(x, sum(inputs(shape=(6, 4))).t()[::2])
    out = torch.zeros(4, 6).t()
    dist.broadcast(out if rank else out.copy_(put_in(0, shape=(6, 4))), 0)
    assert torch.equal(out, put_in(0, shape=(6, 4)))


def coalesced_forms(rank):
    size = dist.get_world_size()
    xs = [put_in(rank), put_in(rank, shape=(7,))]
    dist.all_reduce_coalesced(xs)
    assert torch.equal(xs[0], sum(inputs())) and torch.equal(xs[1], sum(inputs(shape=(7,))))
    outs = [[torch.empty(3, 5), torch.empty(7)] for _ in range(size)]
    dist.all_gather_coalesced(outs, [put_in(rank), put_in(rank, shape=(7,))])
    for r in range(size):
        assert torch.equal(outs[r][0], put_in(r)) and torch.equal(outs[r][1], put_in(r, shape=(7,)))


def objects(rank):
    size = dist.get_world_size()
    got = [None] * size
    dist.all_gather_object(got, {"rank": rank, "text": "x" * rank * 1000})
    assert [one["rank"] for one in got] == list(range(size))
    box = [{"from": rank}]
    dist.broadcast_object_list(box, src=size - 1)
    assert box == [{"from": size - 1}]
    dist.scatter_object_list(box, [f"for {r}" for r in range(size)] if rank == 0 else None, src=0)
    assert box == [f"for {rank}"]


def sparse(rank):
    size = dist.get_world_size()
    own = [torch.sparse_coo_tensor([[0, r % 7], [r % 3, 2]], [1.0 + r, 5.0], (7, 3)) for r in range(size)]
    x = own[rank].clone()
    dist.all_reduce(x)
    assert torch.equal(x.to_dense(), sum(t.to_dense() for t in own))


def empty_ones(rank):
    size = dist.get_world_size()
    dist.all_reduce(torch.empty(0))
    dist.all_gather([torch.empty(0) for _ in range(size)], torch.empty(0))
    out = torch.empty(0)
    dist.all_to_all_single(out, torch.empty(0), [0] * size, [0] * size)


def large_ones(rank):
    x = torch.full((3_000_001,), float(rank + 1))
    dist.all_reduce(x)
    assert (x == sum(range(1, dist.get_world_size() + 1))).all()


@pytest.mark.parametrize("body", [allreduce_of_all_types, allreduce_of_booleans, averages, reduce_keeps_what_others_have,
                                  broadcasts, gathers, reduce_scatters, all_to_alls, tensors_that_are_not_contiguous,
                                  coalesced_forms, objects, sparse, empty_ones, large_ones],
                         ids=lambda body: body.__name__)
@pytest.mark.parametrize("size", SIZES)
def test_collective(ranks, size, body):
    ranks(size, body)
