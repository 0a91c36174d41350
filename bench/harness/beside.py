"""A load beside the measurements: programs that never wait."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys

PR_SET_PDEATHSIG = 1


def _begin(processor):
    """Of each, in its own process: it stays on one processor and ends with the harness."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.sched_setaffinity(0, {processor})


@contextlib.contextmanager
def busy_programs(count):
    """`count` programs on the processors of this process, in turns, for as long as the block lasts."""
    processors = sorted(os.sched_getaffinity(0))
    programs = []
    try:
        for index in range(count):
            processor = processors[index % len(processors)]
            programs.append(
                subprocess.Popen([sys.executable, "-c", "while True: pass"], stdin=subprocess.DEVNULL,
                                 preexec_fn=lambda processor=processor: _begin(processor)))
        yield
    finally:
        for program in programs:
            program.kill()
        for program in programs:
            program.wait()
