"""Tensors of the host: whatever shows where its memory is, as PyTorch or through the buffer protocol."""

from __future__ import annotations

import dataclasses
from typing import Any, Sequence

from baton.compat.argument_types import DataType, data_type


@dataclasses.dataclass(frozen=True)
class Storage:
    """The memory that a tensor is a view of. Tensors with the same storage share bytes."""

    base: int  # its address
    nbytes: int
    shared: bool  # with other processes
    writable: bool
    owner: Any = dataclasses.field(compare=False, hash=False)  # keeps it alive
    space = "host"

    def bytes_array(self):
        """All of it, as a NumPy array of bytes."""
        import ctypes

        import numpy
        array = numpy.ctypeslib.as_array((ctypes.c_uint8 * self.nbytes).from_address(self.base))
        array.flags.writeable = self.writable
        return array


@dataclasses.dataclass(frozen=True)
class HostTensor:
    """A view of a storage. Strides count elements."""

    storage: Storage
    byte_offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: DataType

    @property
    def contiguous(self) -> bool:
        return is_contiguous(self.shape, self.strides)


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Of contiguous elements, the last dimension fastest."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def is_contiguous(shape: Sequence[int], strides: Sequence[int]) -> bool:
    return all(extent == 1 or stride == dense
               for extent, stride, dense in zip(shape, strides, contiguous_strides(shape)))


def _storage_of(tensor: Any) -> tuple[int, int]:
    """Address and bytes. PyTorch before 2.0 has storage() only."""
    if hasattr(tensor, "untyped_storage"):
        storage = tensor.untyped_storage()
    elif hasattr(tensor, "storage"):
        storage = tensor.storage()
    else:
        return tensor.data_ptr(), tensor.numel() * tensor.element_size()
    nbytes = storage.nbytes
    return storage.data_ptr(), nbytes() if callable(nbytes) else nbytes


def _of_duck(tensor: Any) -> HostTensor:
    device = str(getattr(tensor, "device", "cpu"))
    if not device.startswith("cpu"):
        raise ValueError(f"a tensor on {device} is not in the memory of the host: pass tensor.cpu()")
    address, nbytes = _storage_of(tensor)
    shape = tuple(int(extent) for extent in tensor.shape) or (1,)  # a number is one element
    strides = tuple(tensor.stride()) if hasattr(tensor, "stride") else contiguous_strides(shape)
    shared = bool(tensor.is_shared()) if hasattr(tensor, "is_shared") else False
    storage = Storage(address, nbytes, shared, True, tensor)
    return HostTensor(storage, tensor.data_ptr() - address, shape, strides or (1,), data_type(tensor.dtype))


def _of_buffer(given: Any) -> HostTensor:
    import numpy
    array = given if isinstance(given, numpy.ndarray) else numpy.asarray(memoryview(given))
    root = array
    while isinstance(root.base, numpy.ndarray):
        root = root.base
    byte_bounds = numpy.lib.array_utils.byte_bounds if hasattr(numpy.lib, "array_utils") else numpy.byte_bounds
    low, high = byte_bounds(root)
    address = array.__array_interface__["data"][0]
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return HostTensor(Storage(low, high - low, False, array.flags.writeable, given), address - low, array.shape or (1,),
                      strides or (1,), data_type(array.dtype))


def host_tensor(given: Any) -> HostTensor:
    """Where the memory of a tensor is. TypeError for what does not show it."""
    if all(hasattr(given, name) for name in ("data_ptr", "numel", "element_size")):
        return _of_duck(given)
    try:
        memoryview(given)
    except TypeError:
        raise TypeError(f"a {type(given).__name__} does not show its memory: pass a tensor with data_ptr(), numel() "
                        "and element_size(), or an object with the buffer protocol") from None
    return _of_buffer(given)
