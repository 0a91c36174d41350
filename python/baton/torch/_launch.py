"""What torchrun tells its processes, for those of `baton run`: init_process_group() finds it in the environment."""

from __future__ import annotations

import os
import socket

import numpy as np

import baton

_job: baton.Domain | None = None  # kept: a rank leaves its job with the last handle


def tell_place() -> None:
    """Sets RANK, WORLD_SIZE and the rest, in a process that `baton run` started and that has not been told otherwise."""
    global _job
    if "BATON_RANK" not in os.environ or "RANK" in os.environ:
        return
    _job = baton.join()
    port = np.zeros(1, dtype="i4")
    if _job.rank == 0:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port[0] = probe.getsockname()[1]
    _job.broadcast(port, 0)
    for names, value in ((("RANK", "LOCAL_RANK"), _job.rank), (("WORLD_SIZE", "LOCAL_WORLD_SIZE"), _job.size),
                         (("MASTER_ADDR",), "127.0.0.1"), (("MASTER_PORT",), port[0])):
        for name in names:
            os.environ.setdefault(name, str(value))
