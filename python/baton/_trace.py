"""Traces of what all ranks, chips and cores of a program do."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from baton import _core


@contextlib.contextmanager
def trace(file: str | os.PathLike) -> Iterator[None]:
    """Records what happens inside the block in `file`, for the command `baton trace`.

        with baton.trace("run.trace"):
            chip.run(orchestration)

    What chips of a Worker do is recorded, too, also if it was started before. Processes that name the same file at the
    same time write to it together.
    """
    writing = _core.Trace(os.fspath(file))
    try:
        yield
    finally:
        del writing
