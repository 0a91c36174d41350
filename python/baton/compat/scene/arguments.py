"""The arguments of a scene test, by name."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

from baton.compat.buffer import Buffer


class TensorArg(NamedTuple):
    """A tensor of the host."""

    name: str
    value: Any


class Scalar(NamedTuple):
    """A number: of ctypes, whose type says which bits the kernel gets, or an integer."""

    name: str
    value: Any


def copy_of(value: Any) -> Any:
    """A tensor with memory of its own, or a number."""
    for method in ("clone", "copy"):  # of PyTorch, of NumPy
        if hasattr(value, method):
            return getattr(value, method)()
    return copy.copy(value)


class TaskArgsBuilder:
    """TensorArg and Scalar, tensors first. args.NAME is the value of one of them."""

    def __init__(self, *specs: TensorArg | Scalar):
        names = [spec.name for spec in specs]
        if len(set(names)) != len(names):
            raise ValueError(f"two arguments of one name: {names}")
        kinds = [isinstance(spec, Scalar) for spec in specs]
        if kinds != sorted(kinds):
            raise ValueError("tensors come before scalars")
        self.specs: list[TensorArg | Scalar] = list(specs)
        self.rehosted: dict[str, Buffer] = {}  # tensors that lie in memory of a worker

    def __getattr__(self, name: str) -> Any:
        for spec in self.__dict__.get("specs", ()):
            if spec.name == name:
                return spec.value
        raise AttributeError(f"there is no argument {name!r}; there are "
                             f"{', '.join(spec.name for spec in self.__dict__.get('specs', ()))}")

    def tensor_names(self) -> list[str]:
        return [spec.name for spec in self.specs if isinstance(spec, TensorArg)]

    def clone(self) -> TaskArgsBuilder:
        """The same arguments, with tensors of their own."""
        return TaskArgsBuilder(*(type(spec)(spec.name, copy_of(spec.value)) for spec in self.specs))

    def rebind(self, name: str, value: Any) -> None:
        """Another tensor under that name."""
        self.specs = [TensorArg(name, value) if spec.name == name else spec for spec in self.specs]

    def restore(self, initial: TaskArgsBuilder) -> None:
        """The values of `initial`, in the memory that the tensors have."""
        for name in self.tensor_names():
            target = getattr(self, name)
            if hasattr(target, "copy_"):
                target.copy_(getattr(initial, name))
            else:
                target[...] = getattr(initial, name)
