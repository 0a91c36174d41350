"""What a node hands to a chip: the arguments of one task."""

from __future__ import annotations

import enum
from typing import Any, Iterator

from baton._core import IN, INOUT, NO_DEP, OUT


class TensorArgType(enum.Enum):
    """What a task does with a tensor."""

    INPUT = 0
    OUTPUT = 1
    INOUT = 2
    OUTPUT_EXISTING = 3
    NO_DEP = 4


_MARKS = {TensorArgType.INPUT: IN, TensorArgType.OUTPUT: OUT, TensorArgType.INOUT: INOUT,
          TensorArgType.OUTPUT_EXISTING: OUT, TensorArgType.NO_DEP: NO_DEP}


class TaskArgs:
    """The arguments of one task, in the order of the kernel's parameters.

        args = TaskArgs().add_tensor(x, TensorArgType.INPUT).add_tensor(y, TensorArgType.OUTPUT).add_scalar(2.0)

    For a kernel with a signature a plain list does: [x, y, 2.0].
    """

    def __init__(self) -> None:
        self._items: list[Any] = []

    def add_tensor(self, tensor: Any, kind: TensorArgType = TensorArgType.INPUT) -> TaskArgs:
        """Adds a tensor, or an array over memory of the node, and what the task does with it."""
        self._items.append(_MARKS[kind](tensor))
        return self

    def add_scalar(self, value: Any) -> TaskArgs:
        """Adds a number. For a kernel without a signature, one that knows its type: numpy.float32(2)."""
        self._items.append(value)
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)
