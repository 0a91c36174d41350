"""Kernels from source."""

from __future__ import annotations

import os
import sys
from typing import Any, Mapping, Sequence

from baton import _core
from baton._core import SCALAR, Direction, Kernel, LibraryOrchestration
from baton._dtypes import dtype_name

_SUFFIXES = (".cpp", ".cc", ".cxx", ".so")


def _is_text(source: str) -> bool:
    return "\n" in source or "(" in source or "{" in source


def _parameter(given: Any) -> tuple[int, str, int, int]:
    """(direction, name, type, dims) of IN, or (IN, "x"), or (IN, "x", "float32"), or (IN, "x", "float32", 2)."""
    if isinstance(given, Direction):
        given = (given,)
    direction, name, dtype, dims = (*given, *(None,) * (4 - len(given)))
    scalar = direction == SCALAR
    types = _core.KERNEL_TYPES
    if dtype is None:
        number = types["any"]
    elif dtype in types:
        number = types[dtype]
    else:
        named = "float64" if scalar and str(dtype) in ("float64", "double", "f8") else dtype_name(dtype)
        number = types[{"float32": "float", "float16": "half", "float64": "double"}.get(named, named)]
    return direction.number, name or "", number, 0 if scalar else -1 if dims is None else dims


class KernelFile(Mapping):
    """All kernels of one source or library, by name: baton.kernels("ops.cpp")["add"]."""

    def __init__(self, core: _core.KernelFile):
        self._core = core

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._core.names:
            raise KeyError(f"there is no kernel {name!r}; there are {', '.join(self)}")
        return self._core.kernel(name)

    def __iter__(self):
        return iter(self._core.names)

    def __len__(self) -> int:
        return len(self._core.names)

    def orchestration(self, name: str) -> LibraryOrchestration:
        """What BATON_ORCHESTRATION defines in the source under that name: a function that submits kernels on the chip,
        without Python. For chip.run() and orch.submit_next_level()."""
        return self._core.orchestration(name)

    @property
    def library(self) -> str:
        """The path of the compiled library."""
        return self._core.path

    @property
    def messages(self) -> str:
        """What the compiler said although it succeeded; empty from the cache."""
        return self._core.messages

    def __repr__(self) -> str:
        return f"<baton kernels {', '.join(self)} of {self.library}>"


def _file_of_caller() -> str:
    """The file whose code called this package."""
    frame = sys._getframe(1)
    while frame and frame.f_globals.get("__name__", "").startswith("baton."):
        frame = frame.f_back
    return frame.f_code.co_filename if frame else ""


def _named_text(text: str, file: str, debug: bool) -> tuple[str, str]:
    """What messages call a text that stands in `file`, and the text for the compiler.

    For a debugger its lines are those of the file, if it is there word for word. Otherwise they count from its first one: a
    library that is compiled stays good when something above it changes.
    """
    if not os.path.isfile(file):
        return "<kernel>", text
    if debug:
        with open(file, encoding="utf-8", errors="replace") as program:
            before, found, _ = program.read().partition(text)
        if found:
            return file, "\n" * before.count("\n") + text
    return f"<text in {os.path.basename(file)}>", text


def kernels(source: str | os.PathLike, *, core: str = "vector", orchestration: bool = False,
            include_dirs: Sequence[str | os.PathLike] = (), defines: Sequence[str] | Mapping[str, Any] = (),
            flags: Sequence[str] = (), debug: bool = False, platform: str = "") -> KernelFile:
    """Compiles all kernels of a source, or finds them in the cache; a path that ends in .so is loaded.

    source         the path of a .cpp file, or the text of one; messages call it `<text in program.py>`
    core           "vector" or "cube": what the kernels run on
    orchestration  the source has no kernels: it is for ChipProgram, written against pto_orchestration_api.h
    include_dirs   folders for #include
    defines        {"COLS": 64} or ["COLS=64"]
    flags          for the compiler, as they are
    debug          for a debugger: not optimised, with debug information (-O0 -g); lines of a text are those of
                   the program that it is in
    platform       "cuda": also for NVIDIA GPUs, which needs nvcc

    A relative path is looked for in the current folder, then beside the file that calls. Raises Error (compile_failed)
    with the compiler's messages.
    """
    if core not in ("vector", "cube"):
        raise ValueError(f"a core is 'vector' or 'cube', not {core!r}")
    if isinstance(defines, Mapping):
        defines = [f"{name}={value}" for name, value in defines.items()]
    path, text = os.fspath(source), None
    if _is_text(path):
        path, text = _named_text(path, _file_of_caller(), debug)
    elif not os.path.isabs(path) and not os.path.exists(path):
        beside = os.path.join(os.path.dirname(_file_of_caller()), path)
        path = beside if os.path.exists(beside) else path
    if path.endswith(".so"):
        return KernelFile(_core.KernelFile.load(path))
    return KernelFile(_core.compile(path, text, core == "cube", orchestration,
                                    [os.fspath(folder) for folder in include_dirs], list(defines), list(flags),
                                    debug, platform))


def kernel(source: str | os.PathLike, name: str = "", *, signature: Sequence[Any] | None = None, core: str = "vector",
           include_dirs: Sequence[str | os.PathLike] = (), defines: Sequence[str] | Mapping[str, Any] = (),
           flags: Sequence[str] = (), debug: bool = False, platform: str = "") -> Kernel:
    """One kernel of a source: the path of a .cpp file, or the text of one.

        scale = baton.kernel("scale.cpp")
        raw = baton.kernel("raw.cpp", signature=[IN, OUT, (SCALAR, "factor", "float32")])

    name       which one, if the source has several
    signature  for a raw kernel (`kernel_entry`), which does not say what it takes: IN, OUT, INOUT or SCALAR for each
               argument, or tuples (IN, "x", "float32", 2) with name, type and number of dimensions

    The other arguments are those of kernels().
    """
    found = kernels(source, core=core, include_dirs=include_dirs, defines=defines, flags=flags,
                    debug=debug, platform=platform)._core.kernel(name)
    if signature is not None:
        found = found.with_signature([_parameter(parameter) for parameter in signature])
    return found
