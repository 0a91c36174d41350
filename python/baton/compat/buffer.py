"""Memory that a worker gives: of a chip, of a window, or of the host and shared with the chips."""

from __future__ import annotations

import itertools
import os
from typing import Any, Callable, Sequence

import baton
from baton.compat.argument_types import data_type
from baton.compat.tensor import Tensor

_numbers = itertools.count(1)
OWNER_INSTANCE_ID_BYTES = 8
_INSTANCE = os.urandom(OWNER_INSTANCE_ID_BYTES)


class SharedBytes:
    """The memory of a buffer of the host."""

    def __init__(self, buf: memoryview):
        self.buf = buf


class Buffer:
    """`nbytes` bytes at `base`, an address of the chip, or of this process where it has them, too."""

    def __init__(self, core: baton.Tensor, *, base: int, nbytes: int, space: Any, backend_kind: str,
                 free: Callable[[Buffer], None] | None = None, shm: SharedBytes | None = None):
        self._core: baton.Tensor | None = core  # bytes
        self._free = free
        self.base, self.nbytes, self.space = base, nbytes, space
        self.backend_kind, self.shm = backend_kind, shm
        self.identity = (_INSTANCE, next(_numbers))

    @property
    def core(self) -> baton.Tensor:
        """The bytes, as a tensor of Baton. RuntimeError once it was freed."""
        if self._core is None:
            raise RuntimeError(f"a buffer of {self.nbytes} bytes was used after it was freed")
        return self._core

    @property
    def live(self) -> bool:
        return self._core is not None

    def tensor(self, shapes: Sequence[int], dtype: Any, strides: Sequence[int] | None = None,
               byte_offset: int = 0) -> Tensor:
        """A view of it. ValueError for one that reaches outside."""
        assert self.core is not None
        return Tensor(self, shapes, dtype, strides, byte_offset)

    def close(self) -> None:
        """Gives the memory back. Once is enough; `base` and `nbytes` stay readable."""
        if self._core is None:
            return
        self.shm = None
        if self._free is not None:
            self._free(self)
        self._core = None

    def __repr__(self) -> str:
        return f"<Buffer of {self.nbytes} bytes, {self.backend_kind}>"


class ShapedBuffer(Buffer):
    """A buffer that was allocated with a shape: it can stand for the tensor that fills it."""

    def __init__(self, core: baton.Tensor, shapes: Sequence[int], dtype: Any, **rest: Any):
        super().__init__(core, **rest)
        self.shapes, self.dtype = tuple(shapes), data_type(dtype)

    def as_tensor(self) -> Tensor:
        return self.tensor(self.shapes, self.dtype)


def view_of(root: Any, tensor: Tensor) -> baton.Tensor:
    """`tensor` over the bytes `root` of its memory: a tensor of Baton, or a NumPy array."""
    size, offset = tensor.dtype.itemsize, tensor.byte_offset
    if not tensor.contiguous:
        return _strided_view_of(root, tensor)
    if offset % size:
        raise ValueError(f"{tensor.dtype.baton_name} elements cannot begin at byte {offset}")
    core = root if isinstance(root, baton.Tensor) else baton.view(root, writable=root.flags.writeable)
    return core[offset:offset + tensor.nbytes].reinterpret(tensor.dtype.baton_name).reshape(list(tensor.shapes))


def _strided_view_of(root: Any, tensor: Tensor) -> baton.Tensor:
    import numpy
    if isinstance(root, baton.Tensor):
        try:
            root = root.numpy()
        except BufferError as error:
            raise ValueError(f"a view with strides needs memory that this process reaches: {error}") from None
    size = tensor.dtype.itemsize
    name = "uint16" if tensor.dtype.baton_name == "bfloat16" else tensor.dtype.baton_name
    array = numpy.ndarray(tensor.shapes, name, root, tensor.byte_offset, [step * size for step in tensor.strides])
    made = baton.view(array, writable=array.flags.writeable)
    return made if name == tensor.dtype.baton_name else made.reinterpret(tensor.dtype.baton_name)
