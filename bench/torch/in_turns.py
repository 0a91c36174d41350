"""All operations and sizes within minutes: Baton and Gloo as groups of the same processes, in turns. Prints a table.

    PYTHONPATH=build/python python bench/torch/in_turns.py --ranks 4 --most 1048576

`bench/run torch` starts new processes for every number, which import PyTorch each. Here ranks are forked once, and
batches of the two backends alternate, so that what else runs on the machine meets both alike."""

import argparse
import math
import multiprocessing
import os
import statistics
import sys
import tempfile

import torch
import torch.distributed as dist

import baton.torch  # noqa: F401
from measure import made, timed

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))  # that of the harness
from suite import OPERATIONS, SIZES, is_measured, size_text

BACKENDS = ("baton", "gloo")


def cases(ranks, most):
    sizes = [size for size in SIZES if size <= most]
    found = [("barrier", 0)]
    found += [(operation, size) for operation in OPERATIONS for size in sizes if is_measured(operation, ranks)]
    return found + [("ddp", 0)]


def rank_program(rank, options, store, pipe):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=options.ranks)
    groups = {backend: dist.new_group(backend=backend) for backend in BACKENDS}
    for operation, size in cases(options.ranks, options.most):
        calls = {backend: made(operation, options.ranks, size, group) for backend, group in groups.items()}
        counts = {backend: agreed_count(call, options.batch_ms) for backend, call in calls.items()}
        times = {backend: [] for backend in BACKENDS}
        for _ in range(options.batches):
            for backend, call in calls.items():
                dist.barrier(groups["baton"])
                times[backend].append(timed(call, counts[backend]))
        if rank == 0:
            pipe.send({backend: statistics.median(found) for backend, found in times.items()})
    dist.barrier(groups["baton"])
    os._exit(0)


def agreed_count(call, batch_ms):
    """How many calls a batch has: what rank 0 thinks fits."""
    for _ in range(3):
        call()
    each = torch.tensor([timed(call, 3)])
    dist.broadcast(each, 0)
    return max(2, int(batch_ms * 1e6 / max(float(each), 1)))


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--ranks", type=int, default=2)
    arguments.add_argument("--most", type=int, default=SIZES[-1], help="bytes; larger sizes are left out")
    arguments.add_argument("--batches", type=int, default=7)
    arguments.add_argument("--batch-ms", type=float, default=20)
    options = arguments.parse_args()
    fork = multiprocessing.get_context("fork")
    here, there = fork.Pipe(duplex=False)
    with tempfile.TemporaryDirectory() as folder:
        processes = [fork.Process(target=rank_program, args=(rank, options, os.path.join(folder, "store"), there))
                     for rank in range(options.ranks)]
        for process in processes:
            process.start()
        there.close()
        ratios = []
        for operation, size in cases(options.ranks, options.most):
            ns = here.recv()
            ratio = ns["baton"] / ns["gloo"]
            if operation != "ddp":
                ratios.append(ratio)
            name = f"{operation}/{options.ranks}" + (f"/{size_text(size)}" if size else "")
            print(f"{name:<32} ours {ns['baton'] / 1e3:10.1f} us   gloo {ns['gloo'] / 1e3:10.1f} us   {ratio:5.2f}", flush=True)
        print(f"geometric mean {geometric_mean(ratios):.3f}, largest {max(ratios):.2f}, without ddp")
        for process in processes:
            process.join()


if __name__ == "__main__":
    main()
