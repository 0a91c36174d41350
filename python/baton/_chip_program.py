"""Chip programs: orchestrations that know their kernels by numbers."""

from __future__ import annotations

import os
from typing import Any, Iterable, Mapping

from baton import _core
from baton._core import Kernel

_BUILDINGS = {"stream": False, "captured": True}


def _program_kernel(number: int, given: Any) -> tuple[int, str, str, bool]:
    """(number, library, name, whether it is for cube cores) of a Kernel, or of (library, core) or (library, core, name)."""
    if isinstance(given, Kernel):
        return number, given.library, given.name, given.core == "cube"
    library, core, name = (*given, *("kernel_entry",) * (3 - len(given)))
    if core not in ("vector", "cube"):
        raise ValueError(f"a core is 'vector' or 'cube', not {core!r}")
    return number, os.fspath(library), name, core == "cube"


class ChipProgram(_core.LoadedProgram):
    """An orchestration that was written against pto_orchestration_api.h, with the kernels that it knows by numbers.

        layer = baton.ChipProgram(baton.kernels("layer.cpp", orchestration=True),
                                  kernels={0: baton.kernel("add.cpp"), 1: baton.kernel("matmul.cpp", core="cube")})
        chip.run(layer, x, y, 3)                                # tensors, then scalars

    library   the compiled orchestration: what kernels() returns, or the path of a library
    kernels   by number: kernels, or (library, "vector" or "cube"), or (library, core, name)
    entry     the function in it
    config    the function that says how many arguments it expects; "": aicpu_orchestration_config, if there is one
    building  "stream": tasks run while others are submitted; "captured": all are submitted before the first one runs

    For chip.run() and orch.submit_next_level(). Raises Error (not_a_kernel) that names what is missing.
    """

    def __init__(self, library: Any, kernels: Mapping[int, Any] | Iterable[tuple[int, Any]] = (), *,
                 entry: str = "aicpu_orchestration_entry", config: str = "", building: str = "stream"):
        if building not in _BUILDINGS:
            raise ValueError(f"building is 'stream' or 'captured', not {building!r}")
        numbered = kernels.items() if isinstance(kernels, Mapping) else kernels
        super().__init__(os.fspath(getattr(library, "library", library)), entry, config,
                         [_program_kernel(number, given) for number, given in numbered], _BUILDINGS[building])
