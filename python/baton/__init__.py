"""Baton: an asynchronous distributed task runtime for accelerator chips.

A kernel from a source file, a simulated chip, and NumPy arrays that it works on in place:

    import baton, numpy as np

    scale = baton.kernel("scale.cpp")
    x = np.arange(256, dtype="f4")
    y = np.zeros_like(x)
    with baton.Chip() as chip:
        chip.run(lambda g: g.submit(scale, x, y, 2.0))

Ranks that share memory, started with `baton run -n 4 python program.py`:

    me = baton.join()
    x = me.window("x", 1024)
    x[:] = me.rank + 1
    me.barrier()
    print(x.peer((me.rank + 1) % me.size)[0])

What fails raises baton.Error with the code, the rank, the task and the place. The pages docs/tutorials/python.md and
docs/reference/python.md of the project tell more.
"""

import os as _os

from baton import _core

_core.set_package_folder(_os.path.join(_os.path.dirname(_os.path.abspath(__file__)), ""))

from baton._core import IN, INOUT, NO_DEP, OUT, SCALAR, CapturedGraph, Graph, Kernel, LibraryOrchestration, \
    TaskProfile, Tensor, format_device_list, parse_device_list, signals_needed
from baton._errors import Code, Error
from baton._kernels import kernel, kernels
from baton._chip_program import ChipProgram
from baton._chip import Chip, ChipWindow, view
from baton._chip_worker import ChipWorker
from baton._check import RaceError, check
from baton._collectives import Collectives
from baton._domain import Domain, Signals, Window, join, run_ranks
from baton._orchestration import CommBufferSpec, DomainHandle, DomainMember, Orchestration
from baton._trace import trace
from baton._task_args import TaskArgs, TensorArgType
from baton._worker import Worker
from baton._core import TaskConfig
from baton import comm

__version__ = _core.__version__

__all__ = [
    "IN", "INOUT", "NO_DEP", "OUT", "SCALAR", "CapturedGraph", "Chip", "ChipProgram", "ChipWindow", "ChipWorker", "Code", "Collectives",
    "CommBufferSpec", "Domain", "DomainHandle", "DomainMember", "Error", "Graph", "Kernel", "LibraryOrchestration",
    "Orchestration", "RaceError", "Signals", "TaskArgs", "TaskConfig", "TaskProfile", "Tensor", "TensorArgType", "Window",
    "Worker", "check", "comm", "format_device_list", "join", "kernel", "kernels", "parse_device_list", "run_ranks",
    "signals_needed", "trace", "view",
]
