"""Devices of platforms that are loaded at run time."""

from __future__ import annotations

from typing import Any, Sequence

from baton import _core
from baton._core import Kernel, Tensor
from baton._dtypes import dtype_name, shape_of


class ChipWorker:
    """One device of a platform. Loads libbaton_<platform>.so and finds its functions.

        worker = baton.ChipWorker("a2a3sim", device_id=0)
        worker.comm_init(rank, nranks, "job7")
        context = worker.comm_alloc_windows(1 << 20)
        worker.run(kernel, x, context)

    platform  a name, or the path of a library
    A library may lack optional functions, the communication group among them: using one raises Error (unsupported)
    with the names of function and library, and has("comm_init") asks before. docs/reference/platform.md describes
    the interface.
    """

    def __init__(self, platform: str = "a2a3sim", device_id: int = 0):
        self._core = _core.make_chip_worker(platform, device_id)
        self._loaded: dict[tuple[str, str], Any] = {}

    @property
    def library(self) -> str:
        """The path of the platform's library."""
        return self._core.library

    @property
    def device_id(self) -> int:
        """Which device of the platform it is."""
        return self._core.device_id

    def has(self, function: str) -> bool:
        """Whether the platform has this function of its C interface."""
        return self._core.has(function)

    def alloc(self, shape: int | Sequence[int], dtype: Any = "float32") -> Tensor:
        """Zeroed memory of the device, until free() or close()."""
        return self._core.alloc(shape_of(shape), dtype_name(dtype))

    def free(self, tensor: Tensor) -> None:
        """Gives memory of the device back now."""
        self._core.free(tensor)

    def copy_in(self, to: Tensor, array: Any) -> None:
        """Copies a contiguous array to the device."""
        self._core.copy_in(to, array)

    def copy_out(self, tensor: Tensor, array: Any) -> None:
        """Copies from the device into a contiguous array."""
        self._core.copy_out(array, tensor)

    def run(self, kernel: Kernel, *args: Any, blocks: int = 1) -> None:
        """Runs blocks of a kernel and returns when all have ended. Tensors are memory of this device or, where the
        platform allows it, of the host."""
        key = (kernel.library, kernel.name)
        if key not in self._loaded:
            self._loaded[key] = self._core.load_kernel(*key)
        self._core.run(self._loaded[key], kernel, blocks, *args)

    def comm_init(self, rank: int, nranks: int, rendezvous: str) -> None:
        """Joins a communication group; blocks until all ranks have. Before the first allocation."""
        self._core.comm_init(rank, nranks, rendezvous)

    def comm_alloc_windows(self, nbytes: int) -> int:
        """Gives every rank a zeroed window. Returns the address of this rank's CommContext."""
        return self._core.comm_alloc_windows(nbytes)

    def comm_get_local_window_base(self) -> int:
        """The address of this rank's own window."""
        return self._core.comm_get_local_window_base()

    def comm_get_window_size(self) -> int:
        """How many bytes each rank's window has."""
        return self._core.comm_get_window_size()

    def comm_barrier(self) -> None:
        """Returns when every rank of the group has arrived as often as this one."""
        self._core.comm_barrier()

    def comm_destroy(self) -> None:
        """Leaves the group."""
        self._core.comm_destroy()

    def close(self) -> None:
        """Leaves the group and closes the device."""
        self._loaded.clear()
        self._core.close()

    def __enter__(self) -> ChipWorker:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()
