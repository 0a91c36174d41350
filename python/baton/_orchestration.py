"""What the function that drives a node uses: tasks, memory and domains of its chips."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Callable, Iterator, Sequence

from baton import _core
from baton._core import Kernel, LibraryOrchestration, TaskConfig, Tensor
from baton._dtypes import dtype_name, shape_of
from baton._sub_workers import SubWorkers
from baton._task_args import TaskArgs


@dataclasses.dataclass(frozen=True)
class CommBufferSpec:
    """A buffer in the window of every member of a domain.

    name    what the members' `buffers` call it
    dtype   of its elements
    count   how many there are; 0: as many as nbytes hold
    nbytes  kept for it, if that is more than the elements need
    """

    name: str
    dtype: Any = "float32"
    count: int = 0
    nbytes: int = 0


@dataclasses.dataclass(frozen=True)
class DomainMember:
    """What one chip has of a domain.

    device_ctx          for kernels: the address of its CommContext
    local_window_base   the start of its window, in the address space of the chip
    buffers             name -> Tensor, for TaskArgs, copy_to() and copy_from()
    """

    chip: int
    domain_rank: int
    domain_size: int
    device_ctx: int
    local_window_base: int
    actual_window_size: int
    buffers: dict[str, Tensor]


class DomainHandle:
    """The windows of a domain: handle[i] is what chip i has of it; a chip that is not a member is a KeyError."""

    def __init__(self, core: _core.NodeDomain):
        self._core = core

    @property
    def name(self) -> str:
        """What it was called when it was allocated."""
        return self._core.name

    @property
    def workers(self) -> list[int]:
        """The members, as chips of the node, by rank."""
        return self._core.chips

    def __getitem__(self, chip: int) -> DomainMember:
        if not self._core.contains(chip):
            raise KeyError(f'chip {chip} is not a member of "{self.name}", whose members are {self.workers}')
        return DomainMember(**self._core.member(chip))

    def __contains__(self, chip: int) -> bool:
        return self._core.contains(chip)

    def __iter__(self) -> Iterator[int]:
        return iter(self.workers)

    def __len__(self) -> int:
        return len(self.workers)

    def release(self) -> None:
        """Chips unmap their windows after the tasks that were submitted to them before."""
        self._core.release()


class Orchestration:
    """What the function of Worker.run() submits to. Used until that function returns."""

    def __init__(self, core: _core.Orchestration, sub_workers: SubWorkers):
        self._core, self._sub_workers = core, sub_workers

    @property
    def chip_count(self) -> int:
        """How many chips the node has."""
        return self._core.chip_count

    @contextlib.contextmanager
    def allocate_domain(self, name: str, workers: Sequence[int], window_size: int = 0,
                        buffers: Sequence[CommBufferSpec] = ()) -> Iterator[DomainHandle]:
        """Gives the chips `workers` zeroed windows and places `buffers` in them, each on a cache line of its own.

            with orch.allocate_domain("tp", [0, 1], buffers=[CommBufferSpec("data", "float32", 256)]) as domain:
                ...

        Ranks follow the order of `workers`. window_size 0: as many bytes as the buffers need. Domains may overlap and
        exist side by side. The windows go when the block ends, after the tasks that use them.
        """
        specs = [(spec.name, dtype_name(spec.dtype), spec.count, spec.nbytes) for spec in buffers]
        handle = DomainHandle(self._core.allocate_domain(name, list(workers), window_size, specs))
        try:
            yield handle
        finally:
            handle.release()

    def submit_next_level(self, kernel: Kernel | LibraryOrchestration, args: TaskArgs | Sequence[Any],
                          config: TaskConfig | None = None, *, worker: int) -> int:
        """Runs a kernel on chip `worker`, after the tasks that its tensors make it wait for, or an orchestration of a
        library, whose tensors are marked. Returns the task."""
        return self._core.submit_next_level(kernel, tuple(args), worker, config or TaskConfig())

    def submit_next_level_group(self, kernel: Kernel | LibraryOrchestration,
                                args_list: Sequence[TaskArgs | Sequence[Any]],
                                config: TaskConfig | None = None, *, workers: Sequence[int]) -> int:
        """Runs a kernel on several chips, with args_list[i] on workers[i]. The members may wait for each other.
        Returns the task that stands for all."""
        return self._core.submit_next_level_group(kernel, [tuple(args) for args in args_list], list(workers),
                                                  config or TaskConfig())

    def submit_sub(self, function: Callable, args: TaskArgs | Sequence[Any] = ()) -> int:
        """Calls function(*arrays, *scalars) in a process of its own, after the tasks that its tensors make it wait for.
        Tensors are marked (IN(x), OUT(y), or TaskArgs); the function gets them as arrays over the same memory."""
        marked = [item for item in args if isinstance(item, _core.MarkedArgument)]
        scalars = [item for item in args if not isinstance(item, _core.MarkedArgument)]
        return self._core.submit_sub(self._sub_workers.caller(function, scalars), tuple(marked))

    def submit_notification_wait(self, signal: Tensor, expected: int = 1) -> Tensor:
        """A task that completes when `signal`, one int32 in the window that a chip has of a domain, is at least
        `expected`. Returns a token: a task that takes it, among its arguments or in TaskConfig(tokens=...), waits for
        that. A kernel sees the argument as one int32 that must not be read; a function of submit_sub() does not see
        it. No chip is kept from its tasks meanwhile.

            arrived = orch.submit_notification_wait(domain[1].buffers["signals"][0:1], 7)
            orch.submit_next_level(consume, [x, y], TaskConfig(tokens=[arrived]), worker=1)
        """
        return self._core.submit_notification_wait(signal, expected)

    def alloc(self, shape: int | Sequence[int], dtype: Any = "float32", name: str = "alloc",
              worker: int | None = None) -> Tensor:
        """Memory that all chips reach, or that of one chip, zeroed; it lives until the scope ends and nobody uses it."""
        return self._core.alloc(shape_of(shape), dtype_name(dtype), name, -1 if worker is None else worker)

    def copy_to(self, tensor: Tensor, array: Any) -> None:
        """Waits for the tasks that use the tensor, then copies an array into it. It may lie in a window."""
        self._core.copy_to(tensor, array)

    def copy_from(self, tensor: Tensor, array: Any) -> None:
        """Waits for the tasks that write the tensor, then copies it into an array."""
        self._core.copy_from(array, tensor)

    def wait(self, task: int) -> None:
        """Waits until the task is complete."""
        self._core.wait(task)

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """What alloc() gives inside lives until the block ends."""
        depth = self._core.open_scope()
        try:
            yield
        finally:
            self._core.close_scope(depth)
