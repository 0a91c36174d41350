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


def made(operation, ranks, count):
    """What is timed: a function of this rank without arguments."""
    rank = dist.get_rank()
    elements = max(count // 4, 1)
    block = max(elements // ranks, 1)
    whole, part = torch.ones(block * ranks), torch.ones(block)
    parts = [torch.ones(block) for _ in range(ranks)]
    if operation == "barrier":
        return dist.barrier
    if operation == "all_reduce":
        x = torch.zeros(elements)
        return lambda: dist.all_reduce(x)
    if operation == "broadcast":
        x = torch.zeros(elements)
        return lambda: dist.broadcast(x, 0)
    if operation == "reduce":
        x = torch.zeros(elements)
        return lambda: dist.reduce(x, 0)
    if operation == "all_gather_into_tensor":
        return lambda: dist.all_gather_into_tensor(whole, part)
    if operation == "all_gather":
        return lambda: dist.all_gather(parts, part)
    if operation == "reduce_scatter_tensor":
        return lambda: dist.reduce_scatter_tensor(part, whole)
    if operation == "all_to_all_single":
        out = torch.ones(block * ranks)
        return lambda: dist.all_to_all_single(out, whole)
    if operation == "gather":
        return lambda: dist.gather(part, parts if rank == 0 else None, 0)
    if operation == "scatter":
        return lambda: dist.scatter(part, parts if rank == 0 else None, 0)
    if operation == "send_recv":
        x = torch.zeros(elements)

        def there_and_back():
            if rank == 0:
                dist.send(x, 1)
                dist.recv(x, 1)
            else:
                dist.recv(x, 0)
                dist.send(x, 0)
        return there_and_back
    if operation == "ddp":
        return training()
    raise SystemExit(f"measure: no operation {operation}")


def training():
    """A step of a small transformer."""
    torch.manual_seed(1)
    layer = torch.nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0, batch_first=True)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False))
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
