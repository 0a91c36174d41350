"""What the function of a run at level 3 submits to."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any, Iterator, Sequence

import baton
from baton.compat.argument_types import TensorArgType, data_type
from baton.compat.buffer import Buffer, ShapedBuffer, view_of
from baton.compat.call_config import CallConfig
from baton.compat.callables import ChipCallable
from baton.compat.chip_worker import MARKS
from baton.compat.domains import CommBufferSpec, DomainHandle
from baton.compat.not_offered import CHANNELS, NotOffered
from baton.compat.staging import Staging
from baton.compat.sub_functions import sub_function
from baton.compat.task_args import TaskArgs, as_tensor
from baton.compat.tensor import Tensor

if TYPE_CHECKING:
    from baton.compat.node_worker import NodeWorker


class Orchestrator:
    """Used by the function that Worker.run() calls, until it returns."""

    def __init__(self, worker: NodeWorker, orch: baton.Orchestration, staging: Staging, config: CallConfig,
                 failures: list[BaseException]):
        self._worker, self._orch, self._staging, self._config = worker, orch, staging, config
        self._failures = failures
        self._submitted = False
        self._domains: list[DomainHandle] = []

    # Tasks

    def submit_next_level(self, handle: Any, args: TaskArgs | None = None, config: CallConfig | None = None, *,
                          worker: int) -> None:
        """One run of a chip's callable on chip `worker`, after the tasks that its tensors make it wait for."""
        self._check(config)
        program = self._worker.registry.target(handle, ChipCallable).program(self._worker.runtime)
        arguments = self._arguments(args)
        self._submitted = True
        self._orch.submit_next_level(program, arguments, worker=self._known(worker))

    def submit_next_level_group(self, handle: Any, args_list: Sequence[TaskArgs], config: CallConfig | None = None, *,
                                workers: Sequence[int]) -> None:
        """The same on several chips, as one task: its members run at once and may wait for each other."""
        self._check(config)
        if len(args_list) != len(workers):
            raise ValueError(f"{len(args_list)} arguments for {len(workers)} workers")
        program = self._worker.registry.target(handle, ChipCallable).program(self._worker.runtime)
        arguments = [self._arguments(args) for args in args_list]
        self._submitted = True
        self._orch.submit_next_level_group(program, arguments, workers=[self._known(one) for one in workers])

    def submit_sub(self, handle: Any, args: TaskArgs | None = None) -> None:
        """A function of the host, on a thread of its own."""
        function = self._worker.registry.target(handle)
        if isinstance(function, ChipCallable):
            raise TypeError("submit_sub runs functions of the host; submit_next_level runs a ChipCallable")
        args = args if args is not None else TaskArgs()
        self._submitted = True
        # By way of the module: baton.Orchestration would run it in another process, where closures do not follow.
        call = sub_function(function, args, self._is_staged, self._failures)
        self._orch._core.submit_sub(call, tuple(self._tensors(args)))  # noqa: SLF001

    # Memory: before the first task of the run

    def alloc(self, shape: Sequence[int], dtype: Any) -> ShapedBuffer:
        """Memory that all chips reach, until the tasks of the run have ended."""
        self._before_tasks("alloc")
        kind = data_type(dtype)
        core = self._orch.alloc([math.prod(shape) * kind.itemsize], "uint8")
        return ShapedBuffer(core, shape, kind, base=core.address, nbytes=core.nbytes, space="host", backend_kind="run")

    def alloc_child_tensor(self, worker_id: int, shapes: Sequence[int], dtype: Any) -> ShapedBuffer:
        """Memory of one chip, until it is freed or the worker is closed."""
        self._before_tasks("alloc_child_tensor")
        return self._worker.chip_buffer(self._known(worker_id), shapes, dtype)

    def free(self, buffer: Buffer) -> None:
        """Gives memory back once no task uses it."""
        buffer.close()

    def copy_to(self, dst: Any, src: Any) -> None:
        """From memory of the host, a Buffer, to that of a chip or of its window."""
        self._before_tasks("copy_to")
        to, source = _copied(dst, src, "copy_to")
        self._orch.copy_to(to, source.numpy())

    def copy_from(self, dst: Any, src: Any) -> None:
        """From memory of a chip or of its window to that of the host, a Buffer."""
        self._before_tasks("copy_from")
        to, source = _copied(dst, src, "copy_from")
        self._orch.copy_from(source, to.numpy())

    def allocate_domain(self, *, name: str, workers: Sequence[int], window_size: int,
                        buffers: Sequence[CommBufferSpec] = ()) -> DomainHandle:
        """Gives chips zeroed windows that all of them reach. Ranks follow the order of `workers`."""
        self._before_tasks("allocate_domain")
        handle = DomainHandle(self._orch, name, workers, window_size, buffers, self._worker.live_domains,
                              self._worker.chip_count)
        self._domains.append(handle)
        return handle

    @contextlib.contextmanager
    def scope(self, *_: Any, **__: Any) -> Iterator[None]:
        """What alloc() gives inside lives until the block ends and its tasks are complete."""
        with self._orch.scope():
            yield

    def create_worker_chip_region(self, *_: Any, **__: Any) -> Any:
        raise NotOffered("create_worker_chip_region", CHANNELS)

    def create_worker_chip_queue(self, *_: Any, **__: Any) -> Any:
        raise NotOffered("create_worker_chip_queue", CHANNELS)

    def finish(self) -> None:
        """The function has returned: its domains end with the tasks that it submitted."""
        for domain in self._domains:
            domain.release()

    def _before_tasks(self, what: str) -> None:
        if self._submitted:
            raise RuntimeError(f"{what} comes before the first task that a run submits")

    def _known(self, worker: int) -> int:
        if not 0 <= worker < self._worker.chip_count:
            raise ValueError(f"there is no worker {worker}; this one has {self._worker.chip_count} chips")
        return worker

    def _check(self, config: CallConfig | None) -> None:
        (config if config is not None else self._config).check()

    def _arguments(self, args: TaskArgs | None) -> list[Any]:
        args = args if args is not None else TaskArgs()
        return [*self._tensors(args), *args.scalars()]

    def _tensors(self, args: TaskArgs) -> list[Any]:
        return [MARKS[tag](self._view(tensor, tag)) for tensor, tag in args.tensors()]

    def _is_staged(self, tensor: Tensor) -> bool:
        memory = self._worker.shared.inside(tensor).memory
        return not isinstance(memory, Buffer) and memory.shared

    def _view(self, tensor: Tensor, tag: TensorArgType) -> baton.Tensor:
        tensor = self._worker.shared.inside(tensor)
        memory = tensor.memory
        return view_of(memory.core if isinstance(memory, Buffer) else self._staging.root(memory, tag), tensor)


def _copied(dst: Any, src: Any, what: str) -> tuple[baton.Tensor, baton.Tensor]:
    """The bytes of both sides: buffers, or contiguous tensors of them."""

    def whole(given: Any) -> tuple[baton.Tensor, int, int]:
        if isinstance(given, Buffer):
            return given.core, 0, given.nbytes
        tensor = as_tensor(given)
        if not isinstance(tensor.memory, Buffer) or not tensor.contiguous:
            raise TypeError(f"{what} copies between buffers, or contiguous tensors of them")
        return tensor.memory.core, tensor.byte_offset, tensor.nbytes

    (to, to_offset, room), (source, source_offset, count) = whole(dst), whole(src)
    count = min(count, room) if isinstance(src, Buffer) and not isinstance(dst, Buffer) else count
    if count > room:
        raise ValueError(f"{what}: {count} bytes do not fit in {room}")
    return to[to_offset:to_offset + count], source[source_offset:source_offset + count]
