"""Measures one collective, or a step of training, with one backend: forks the ranks and prints the time of rank 0."""

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import tempfile
import time

import torch
import torch.distributed as dist

BATCHES = 7


def made(operation, ranks, count, group=None):
    """What is timed: a function of this rank without arguments. `count`: bytes of a rank's whole contribution."""
    rank = dist.get_rank()
    elements = max(count // 4, 1)
    block = max(elements // ranks, 1)
    if operation == "barrier":
        return lambda: dist.barrier(group)
    if operation == "ddp":
        return training(group)
    if operation in ("all_reduce", "broadcast", "reduce", "send_recv"):
        x = torch.zeros(elements)
        return {"all_reduce": lambda: dist.all_reduce(x, group=group),
                "broadcast": lambda: dist.broadcast(x, 0, group),
                "reduce": lambda: dist.reduce(x, 0, group=group),
                "send_recv": there_and_back(rank, x, group)}[operation]
    whole, part = torch.ones(block * ranks), torch.ones(block)
    if operation in ("all_gather", "gather", "scatter"):
        parts = [torch.ones(block) for _ in range(ranks)]
        of_root = parts if rank == 0 else None
        return {"all_gather": lambda: dist.all_gather(parts, part, group),
                "gather": lambda: dist.gather(part, of_root, 0, group),
                "scatter": lambda: dist.scatter(part, of_root, 0, group)}[operation]
    if operation == "all_to_all_single":
        out = torch.ones(block * ranks)
        return lambda: dist.all_to_all_single(out, whole, group=group)
    return {"all_gather_into_tensor": lambda: dist.all_gather_into_tensor(whole, part, group),
            "reduce_scatter_tensor": lambda: dist.reduce_scatter_tensor(part, whole, group=group)}[operation]


def there_and_back(rank, x, group):
    """Between ranks 0 and 1; others do nothing."""
    def call():
        if rank == 0:
            dist.send(x, 1, group)
            dist.recv(x, 1, group)
        elif rank == 1:
            dist.recv(x, 0, group)
            dist.send(x, 0, group)
    return call


def training(group):
    """A step of a small transformer."""
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    model = torch.nn.parallel.DistributedDataParallel(encoder, process_group=group)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(4, 32, 128)

    def step():
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    return step


def timed(call, count):
    begun = time.perf_counter_ns()
    for _ in range(count):
        call()
    return (time.perf_counter_ns() - begun) / count


def rank_program(rank, options, store, pipe):
    torch.set_num_threads(1)
    dist.init_process_group(options.backend, init_method=f"file://{store}", rank=rank, world_size=options.ranks)
    call = made(options.operation, options.ranks, options.bytes)
    for _ in range(3):
        call()
    # All ranks make the same number of calls: what rank 0 thinks fits.
    each = torch.tensor([timed(call, 3)])
    dist.broadcast(each, 0)
    count = max(1, int(options.budget_ms * 1e6 / BATCHES / max(float(each), 1)))
    times = []
    for _ in range(BATCHES):
        dist.barrier()
        times.append(timed(call, count))
    dist.barrier()
    if rank == 0:
        pipe.send({"median_ns": statistics.median(times), "count": count * BATCHES})
    dist.destroy_process_group()
    os._exit(0)


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--backend", required=True)
    arguments.add_argument("--operation", required=True)
    arguments.add_argument("--ranks", type=int, required=True)
    arguments.add_argument("--bytes", type=int, default=0)
    arguments.add_argument("--budget-ms", type=int, default=300)
    options = arguments.parse_args()
    if options.backend == "baton":
        import baton.torch  # noqa: F401
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    with tempfile.TemporaryDirectory() as folder:
        ranks = [fork.Process(target=rank_program, args=(rank, options, os.path.join(folder, "store"), there))
                 for rank in range(options.ranks)]
        for process in ranks:
            process.start()
        there.close()
        try:
            print(json.dumps(here.recv()))
        except EOFError:
            sys.exit("measure: no rank 0 reported")
        finally:
            for process in ranks:
                process.join()


if __name__ == "__main__":
    main()
