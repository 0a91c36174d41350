"""Functions of the host among the tasks of a run."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import baton
from baton.compat.argument_types import DataType
from baton.compat.task_args import TaskArgs
from baton.compat.tensor import Tensor


class SubTensor:
    """A tensor as a function of the host sees it: `buffer` are its bytes."""

    def __init__(self, core: baton.Tensor, on_host: Tensor | None):
        self.shapes = tuple(core.shape)
        self.dtype = DataType[core.dtype.upper()]
        self._of_node = memoryview(core.reshape([core.size]).reinterpret("uint8"))
        self.buffer = self._of_node
        if on_host is not None:
            begin, end = on_host.byte_range()
            self.buffer = memoryview(on_host.memory.bytes_array()[begin:end])

    def before(self) -> None:
        """What tasks wrote is in the tensor of the host, which the function may hold by itself."""
        if self.buffer is not self._of_node and not self.buffer.readonly:
            self.buffer[:] = self._of_node

    def after(self) -> None:
        """What the function wrote is what later tasks see."""
        if self.buffer is not self._of_node:
            self._of_node[:] = self.buffer


class SubArgs(Sequence):
    """The one argument of such a function: its tensors, and its scalars by number."""

    def __init__(self, tensors: Sequence[SubTensor], scalars: Sequence[int]):
        self._tensors, self._scalars = list(tensors), list(scalars)

    def __getitem__(self, index: Any) -> Any:
        return self._tensors[index]

    def __len__(self) -> int:
        return len(self._tensors)

    def tensor(self, index: int) -> SubTensor:
        return self._tensors[index]

    def tensor_count(self) -> int:
        return len(self._tensors)

    def scalar(self, index: int) -> int:
        return self._scalars[index]

    def scalar_count(self) -> int:
        return len(self._scalars)


def sub_function(function: Callable[[SubArgs], Any], args: TaskArgs, is_staged: Callable[[Tensor], bool],
                 failures: list[BaseException]) -> Callable[[list[baton.Tensor]], None]:
    """What a thread of the node calls with the tensors of the task. What it raises is added to `failures`, too."""
    scalars = args.scalars()
    given = args.tensors()
    if not all(tensor.contiguous for tensor, _ in given):
        raise ValueError("a function of the host takes contiguous tensors: their buffer is one piece")
    on_host = [tensor if is_staged(tensor) else None for tensor, _ in given]
    writes = [tag.writes for _, tag in given]

    def call(cores: list[baton.Tensor]) -> None:
        tensors = [SubTensor(core, host) for core, host in zip(cores, on_host)]
        for tensor in tensors:
            tensor.before()
        try:
            function(SubArgs(tensors, scalars))
        except BaseException as failure:
            failures.append(failure)
            raise
        for tensor, written in zip(tensors, writes):
            if written:
                tensor.after()

    return call
