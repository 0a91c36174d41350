"""A program of a user: adds the ranks up. Started by torchrun, by `baton run`, or alone with the word spawn."""

import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import baton.torch  # noqa: F401


def main(rank, size, where):
    dist.init_process_group("baton", init_method=where, rank=rank, world_size=size)
    x = torch.tensor([float(rank)])
    dist.all_reduce(x)
    # In one piece: the lines of ranks that share a pipe do not mix.
    sys.stdout.write(f"the sum is {int(x)}\n")
    sys.stdout.flush()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    if sys.argv[1:] == ["spawn"]:
        mp.spawn(main, (3, f"file:///tmp/baton-test-{os.getpid()}"), nprocs=3)
    else:
        main(int(os.environ.get("RANK", -1)), int(os.environ.get("WORLD_SIZE", -1)), "env://")
