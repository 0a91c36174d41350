"""The arguments of one task: tensors, then scalars."""

from __future__ import annotations

from typing import Any

from baton.compat.argument_types import TensorArgType, integer_of
from baton.compat.host_memory import host_tensor
from baton.compat.tensor import Tensor, check_writes, of_host


def as_tensor(given: Any) -> Tensor:
    """An argument: one of ours, a buffer with a shape, or a tensor of the host."""
    if isinstance(given, Tensor):
        return given
    whole = getattr(given, "as_tensor", None)
    return whole() if callable(whole) else of_host(host_tensor(given))


class TaskArgs:
    """Tensors with what the task does with them, then scalars. It may be used for several tasks and runs."""

    def __init__(self) -> None:
        self._tensors: list[tuple[Tensor, TensorArgType]] = []
        self._scalars: list[int] = []

    def add_tensor(self, tensor: Any, tag: TensorArgType = TensorArgType.INPUT) -> None:
        if self._scalars:
            raise RuntimeError("a tensor was added after a scalar; tensors come first")
        self._tensors.append((as_tensor(tensor), TensorArgType(tag)))

    def add_scalar(self, value: int) -> None:
        whole = integer_of(value)
        if whole is None:
            raise TypeError(f"add_scalar takes the 64 bits of a number: scalar_to_uint64({value})")
        self._scalars.append(whole & 0xFFFFFFFFFFFFFFFF)

    def tensor_count(self) -> int:
        return len(self._tensors)

    def scalar_count(self) -> int:
        return len(self._scalars)

    def tensor(self, index: int) -> Tensor:
        return self._tensors[index][0]

    def scalar(self, index: int) -> int:
        return self._scalars[index]

    def tag(self, index: int) -> TensorArgType:
        return self._tensors[index][1]

    def clear(self) -> None:
        self._tensors.clear()
        self._scalars.clear()

    def tensors(self) -> list[tuple[Tensor, TensorArgType]]:
        """For a submission: checked, and a copy."""
        check_writes([(tensor, tag.writes) for tensor, tag in self._tensors])
        return list(self._tensors)

    def scalars(self) -> list[int]:
        return list(self._scalars)
