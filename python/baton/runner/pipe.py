"""Output that nobody reads any more."""

from __future__ import annotations

import os
import sys
from typing import Callable


def quietly(program: Callable[[], int]) -> int:
    """What `program` returns; 141, as after SIGPIPE, if who read its output has gone, as `head` does."""
    try:
        try:
            return program()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        # Otherwise Python would try once more at its end, and complain.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BrokenPipeError:
                os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
        return 141
