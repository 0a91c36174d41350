"""Chips."""

from __future__ import annotations

import os
from typing import Any, Callable, Sequence

from baton import _core
from baton._chip_program import ChipProgram
from baton._core import CapturedGraph, Graph, Kernel, LibraryOrchestration, TaskProfile, Tensor
from baton._dtypes import dtype_name, numpy_dtype, shape_of


def view(array: Any, *, writable: bool = False) -> Tensor:
    """A tensor over an array, strides included, without a copy. For kernels that follow strides: submit() takes
    contiguous arrays as they are, and refuses others lest a kernel that does not look at strides read the wrong
    elements."""
    return _core.view(array, writable)


class ChipWindow:
    """A window where the kernels of a chip find it: memory of the chip, or of the host where the chip is simulated. Made
    by Chip.window(); copy_in() and copy_out() of the chip reach this rank's part from the host."""

    def __init__(self, core: _core.RawChipWindow, rank: int, shape: Sequence[int], dtype: str):
        self._core, self._rank, self._shape, self._dtype = core, rank, shape, dtype

    @property
    def name(self) -> str:
        """What it was called when it was made."""
        return self._core.name

    @property
    def context(self) -> int:
        """The address of the CommContext that kernels receive."""
        return self._core.context

    def tensor(self, rank: int | None = None) -> Tensor:
        """The part of a rank, this one's if none is given. As signals (int32), for graph.submit_notification_wait()."""
        part = self._core.part(self._rank if rank is None else rank)
        return part.reinterpret(self._dtype).reshape(list(self._shape))

    def release(self) -> None:
        """Gives this rank's part back when the peers have given up theirs. Raises Error while arrays use it."""
        self._core.release()

    def __repr__(self) -> str:
        return f'<baton.ChipWindow "{self.name}" {self._dtype}{self._shape} on rank {self._rank}>'


class Chip:
    """A chip in this process: cores, memory, and the runtime that runs graphs on them.

        with baton.Chip() as chip:
            chip.run(lambda g: g.submit(scale, x, y, 2.0))

    platform           the generation of a simulated one: "a2a3sim" (24 cube and 48 vector cores) or "a5sim"; or "cuda", an
                       NVIDIA GPU; or another whose library is there, by its name or path
    device             which one, of a platform that has several
    domain             makes the chip a rank: its kernels reach the windows of all domains of that rank
    clusters           0: as many as the platform has
    threads            threads that run cores; 0: as many as there are processors for each rank
    task_window        tasks in flight before a submission waits; 0: BATON_TASK_WINDOW
    output_heap_bytes  memory for graph.output(); 0: BATON_OUTPUT_HEAP
    seed               what a chip leaves open follows from it; None: BATON_SEED
    kernel_timeout     seconds that a kernel may run before it is interrupted, which is an error; 0: as long as it likes;
                       None: BATON_KERNEL_TIMEOUT
    dump               the folder for graph.dump(); None: BATON_DUMP
    profile            "summary" or "records": task_profile() tells what tasks did; None: BATON_PROFILE

    Kernels work on NumPy arrays in place (and on anything else with the buffer protocol or DLPack), or on tensors of
    the chip. Those of a GPU work on its own memory: tensors of the chip, which copy_in() and copy_out() reach, and tensors
    of PyTorch and CuPy on the same GPU. Use a chip from one thread at a time.
    """

    def __init__(self, platform: str = "a2a3sim", *, device: int = 0, domain: Any = None, clusters: int = 0,
                 threads: int = 0, task_window: int = 0, output_heap_bytes: int = 0, seed: int | None = None,
                 profile: str | None = None, kernel_timeout: float | None = None,
                 dump: str | os.PathLike[str] | None = None):
        of_domain = getattr(domain, "_core", domain)
        self._core = _core.make_chip(of_domain, platform, device, clusters, threads, task_window,
                                     output_heap_bytes, seed, profile, kernel_timeout,
                                     None if dump is None else os.fspath(dump))
        self.platform = platform

    def run(self, orchestration: Callable[[Graph], Any] | Kernel | CapturedGraph | LibraryOrchestration | ChipProgram,
            *args: Any, **options: Any) -> None:
        """Calls `orchestration(graph)`, which submits kernels, and returns when all of them are complete.

        With a kernel and its arguments instead, submits that one: chip.run(scale, x, y, 2.0). With a captured graph,
        runs that; instead=[(x, x2)] uses x2 where it was captured with x. With an orchestration of a library
        (kernels(source).orchestration(name)) or a chip program and its arguments, calls that, without Python.
        edges="named": only after= and tokens= of submit() make edges.

        Raises what went wrong first, once: Error with task, kernel and the line of the submission, or the exception of
        the orchestration. The chip can be used again then. Ctrl-C returns at once; what runs ends by itself, and the
        next use of the chip waits for that.
        """
        if isinstance(orchestration, Kernel):
            kernel = orchestration
            self._core.run(lambda graph: graph.submit(kernel, *args, **options), "inferred")
        elif isinstance(orchestration, CapturedGraph):
            self._core.run_captured(orchestration, list(options.pop("instead", ())))
        elif isinstance(orchestration, ChipProgram):
            self._core.run_program(orchestration, *args, **options)
        elif isinstance(orchestration, LibraryOrchestration):
            self._core.run_library(orchestration, *args, edges=options.pop("edges", "inferred"), **options)
        else:
            edges = options.pop("edges", "inferred")
            if args or options:
                raise TypeError("arguments are for kernels; an orchestration takes only the graph")
            self._core.run(orchestration, edges)

    def capture(self, orchestration: Callable[[Graph], Any], edges: str = "inferred") -> CapturedGraph:
        """Builds a graph without running it; chip.run(captured) does, as often as wanted, without finding any edge
        again. The orchestration may neither wait() nor get() nor set(): nothing has happened yet."""
        return self._core.capture(orchestration, edges)

    def alloc(self, shape: int | Sequence[int], dtype: Any = "float32", name: str = "buffer") -> Tensor:
        """Memory of the chip, zeroed. It is given back with the last tensor or array that uses it."""
        return self._core.alloc(shape_of(shape), dtype_name(dtype), name)

    def tensor(self, array: Any, name: str = "buffer") -> Tensor:
        """A copy of an array in the memory of the chip."""
        source = _core.view(array, False)
        made = self._core.alloc(list(source.shape), source.dtype, name)
        self._core.copy_in(made, array)
        return made

    def window(self, domain: Any, name: str, shape: int | Sequence[int], dtype: Any = "float32") -> ChipWindow:
        """Zeroed memory of the same size for every member of a domain, which the kernels of all members reach, whatever the
        platform: unlike Domain.window(), which is memory of the host. For a chip of that rank (domain=). Collective over
        the domain, in the same order everywhere."""
        named, extents = dtype_name(dtype), shape_of(shape)
        nbytes = numpy_dtype(named).itemsize
        for extent in extents:
            nbytes *= extent
        core = self._core.window(getattr(domain, "_core", domain), name, nbytes)
        return ChipWindow(core, domain.rank, extents, named)

    def free(self, tensor: Tensor) -> None:
        """Gives memory back now. Raises Error while arrays still use it."""
        self._core.free(tensor)

    def add(self, array: Any, name: str = "external") -> Tensor:
        """Lets kernels use the memory of an array until remove() or the end of the chip. run() does so by itself for
        what is submitted; this is for memory that kernels find by address."""
        return self._core.add(array, name)

    def remove(self, tensor: Tensor) -> None:
        """The opposite of add()."""
        self._core.remove(tensor)

    def copy_in(self, to: Tensor, array: Any) -> None:
        """Copies an array into a contiguous tensor, whole. Types must agree: nothing is converted."""
        self._core.copy_in(to, array)

    def copy_out(self, tensor: Tensor, array: Any = None) -> Any:
        """Copies a contiguous tensor into an array, whole, and returns the array; without one, into a new NumPy array.
        For tensors on the host, numpy.asarray(tensor) needs no copy."""
        if array is None:
            import numpy
            kind = numpy_dtype(tensor.dtype)
            array = numpy.empty(tensor.shape, kind)
            if kind == "uint16":
                tensor = tensor.reinterpret("uint16")  # bfloat16, of which NumPy has the bits
        self._core.copy_out(tensor, array)
        return array

    def task_profile(self) -> TaskProfile:
        """What tasks did in all runs so far: per kernel, per core, and with profile="records" each of them:

            with baton.Chip(profile="records") as chip:
                chip.run(scale, x, y, 2.0)
                profile = chip.task_profile()
            print(profile.table())
            busy = profile.records["returned"] - profile.records["started"]     # nanoseconds

        Raises Error (invalid_argument) unless tasks are profiled."""
        return self._core.task_profile()

    @property
    def clusters(self) -> int:
        """How many clusters it has: a cube core and two vector cores each."""
        return self._core.clusters

    @property
    def vector_cores(self) -> int:
        """How many vector cores it has."""
        return self._core.vector_cores

    def close(self) -> None:
        """Ends the chip. Arrays over its memory stay good."""
        self._core.close()

    def __enter__(self) -> Chip:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<baton.Chip {self.platform}>"
