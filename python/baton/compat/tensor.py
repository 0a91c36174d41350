"""Arguments that are tensors: views of memory that a chip can reach."""

from __future__ import annotations

import itertools
from typing import Any, Sequence

from baton.compat.argument_types import DataType, data_type
from baton.compat.host_memory import HostTensor, contiguous_strides, is_contiguous


class Tensor:
    """A view of a Buffer or of memory of the host. It owns nothing."""

    def __init__(self, memory: Any, shapes: Sequence[int], dtype: Any, strides: Sequence[int] | None = None,
                 byte_offset: int = 0):
        self.memory = memory  # a Buffer, or the Storage of a host tensor
        self.shapes = tuple(int(extent) for extent in ([shapes] if isinstance(shapes, int) else shapes))
        self.dtype: DataType = data_type(dtype)
        self.strides = contiguous_strides(self.shapes) if strides is None else tuple(int(step) for step in strides)
        self.byte_offset = int(byte_offset)
        self._check()

    def _check(self) -> None:
        if len(self.strides) != len(self.shapes):
            raise ValueError(f"{len(self.strides)} strides for {len(self.shapes)} dimensions")
        if any(extent < 1 for extent in self.shapes) or not 1 <= len(self.shapes) <= 5:
            raise ValueError(f"a tensor has 1 to 5 dimensions of at least 1 element, not {self.shapes}")
        low, high = self.byte_range()
        if low < 0 or high > self.memory.nbytes:
            raise ValueError(f"a tensor of {self.shapes} {self.dtype.baton_name} at byte {self.byte_offset} uses bytes "
                             f"{low} to {high - 1} of memory that has {self.memory.nbytes}")

    def byte_range(self) -> tuple[int, int]:
        """The first byte that it uses, and the one behind the last."""
        steps = [(extent - 1) * step for extent, step in zip(self.shapes, self.strides)]
        size = self.dtype.itemsize
        low = self.byte_offset + size * sum(step for step in steps if step < 0)
        return low, self.byte_offset + size * (sum(step for step in steps if step > 0) + 1)

    def moved_to(self, memory: Any) -> Tensor:
        """The same bytes, as a view of memory that its own lies in."""
        return Tensor(memory, self.shapes, self.dtype, self.strides, self.memory.base - memory.base + self.byte_offset)

    @property
    def contiguous(self) -> bool:
        return is_contiguous(self.shapes, self.strides)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        count = self.dtype.itemsize
        for extent in self.shapes:
            count *= extent
        return count

    @property
    def ndims(self) -> int:
        return len(self.shapes)

    def __repr__(self) -> str:
        return f"<Tensor {list(self.shapes)} {self.dtype.baton_name} of {self.memory!r}>"


def of_host(given: HostTensor) -> Tensor:
    """The whole of a host tensor, as an argument."""
    return Tensor(given.storage, given.shape, given.dtype, given.strides, given.byte_offset)


class _Placed:
    """Bytes at an address that nobody reads: NumPy decides whether two such views share one."""

    def __init__(self, tensor: Tensor, address: int):
        size = tensor.dtype.itemsize
        self.__array_interface__ = {"version": 3, "typestr": f"|V{size}", "shape": tensor.shapes,
                                    "strides": tuple(step * size for step in tensor.strides),
                                    "data": (address + tensor.byte_offset, False)}


def overlap(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors have a byte in common."""
    if one.memory.space != other.memory.space:
        return False
    a, b = one.memory.base, other.memory.base
    first, second = one.byte_range(), other.byte_range()
    if a + first[1] <= b + second[0] or b + second[1] <= a + first[0]:
        return False
    if one.contiguous and other.contiguous:
        return True
    import numpy
    return bool(numpy.shares_memory(numpy.asarray(_Placed(one, a)), numpy.asarray(_Placed(other, b))))


def check_writes(tensors: Sequence[tuple[Tensor, bool]]) -> None:
    """Raises ValueError if two tensors of one task that are written overlap."""
    written = [(index, tensor) for index, (tensor, writes) in enumerate(tensors) if writes]
    for (i, one), (j, other) in itertools.combinations(written, 2):
        if overlap(one, other):
            raise ValueError(f"tensors {i} and {j} of a task are both written, and overlap")
