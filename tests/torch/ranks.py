"""Runs a function on several ranks, each a process that was forked from the test."""

import multiprocessing
import os
import traceback

import torch.distributed as dist

LIMIT_S = 60


def _rank(pipe, body, rank, size, store, backend, arguments):
    try:
        if backend is not None:
            dist.init_process_group(backend, init_method=f"file://{store}", rank=rank, world_size=size)
        result = body(rank, *arguments)
        if backend is not None and dist.is_initialized():
            dist.destroy_process_group()
        pipe.send((True, result))
    except BaseException:
        pipe.send((False, traceback.format_exc()))
    finally:
        pipe.close()
        # Not the end of Python, which would run what belongs to the test.
        os._exit(0)


class Ranks:
    def __init__(self, folder):
        self._folder = folder
        self._runs = 0

    def __call__(self, size, body, *arguments, backend="baton", dead=()):
        """What body(rank, *arguments) returned, by rank; fails with the traceback of the first rank that raised. Ranks in
        `dead` end without a word."""
        self._runs += 1
        fork = multiprocessing.get_context("fork")
        ends, processes = [], []
        for rank in range(size):
            here, there = fork.Pipe(duplex=False)
            process = fork.Process(target=_rank, args=(there, body, rank, size, self._folder / f"store{self._runs}",
                                                       backend, arguments))
            process.start()
            there.close()
            ends.append(here)
            processes.append(process)
        try:
            return [self._result(rank, end, rank in dead) for rank, end in enumerate(ends)]
        finally:
            for process in processes:
                process.kill()
                process.join()

    @staticmethod
    def _result(rank, end, dies):
        if not end.poll(LIMIT_S):
            raise AssertionError(f"rank {rank} has not ended after {LIMIT_S} s")
        try:
            well, result = end.recv()
        except EOFError:
            assert dies, f"rank {rank} died"
            return None
        assert well, f"rank {rank}:\n{result}"
        return result
