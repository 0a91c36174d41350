"""Types of arguments and elements, and numbers as the 64 bits that a kernel receives."""

from __future__ import annotations

import ctypes
import enum
import operator
import struct
from typing import Any


class DataType(enum.IntEnum):
    """The type of an element."""

    FLOAT32 = 0
    FLOAT16 = 1
    INT32 = 2
    INT16 = 3
    INT8 = 4
    UINT8 = 5
    BFLOAT16 = 6
    INT64 = 7
    UINT64 = 8
    UINT16 = 9
    UINT32 = 10

    @property
    def baton_name(self) -> str:
        """As Baton calls it."""
        return self.name.lower()

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return _SIZES[self]


_SIZES = {DataType.FLOAT32: 4, DataType.FLOAT16: 2, DataType.INT32: 4, DataType.INT16: 2, DataType.INT8: 1,
          DataType.UINT8: 1, DataType.BFLOAT16: 2, DataType.INT64: 8, DataType.UINT64: 8, DataType.UINT16: 2,
          DataType.UINT32: 4}


class ArgDirection(enum.IntEnum):
    """What a kernel or an orchestration does with an argument."""

    SCALAR = 0
    IN = 1
    OUT = 2
    INOUT = 3


class TensorArgType(enum.IntEnum):
    """What a task does with a tensor."""

    INPUT = 0
    OUTPUT = 1
    INOUT = 2
    OUTPUT_EXISTING = 3
    NO_DEP = 4

    @property
    def writes(self) -> bool:
        return self in (TensorArgType.OUTPUT, TensorArgType.INOUT, TensorArgType.OUTPUT_EXISTING)


def data_type(dtype: Any) -> DataType:
    """A type given as a member, its number, or as torch and NumPy write it."""
    if isinstance(dtype, int):
        return DataType(dtype)
    name = str(dtype).rpartition(".")[2].rstrip("'>")
    name = {"bool": "uint8", "half": "float16", "float": "float32", "long": "int64", "int": "int32"}.get(name, name)
    try:
        return DataType[name.upper()]
    except KeyError:
        raise ValueError(f"chips have no elements of the type {dtype}; they have "
                         f"{', '.join(member.baton_name for member in DataType)}") from None


def scalar_to_uint64(value: Any) -> int:
    """The 64 bits that a kernel receives: of a float those of a float32, of an integer its last 64. Numbers of NumPy and
    tensors of one element count as what they hold."""
    if isinstance(value, ctypes.c_double):
        return struct.unpack("<Q", struct.pack("<d", value.value))[0]
    if isinstance(value, ctypes._SimpleCData):  # noqa: SLF001  the one name that all numbers of ctypes share
        value = value.value
    whole = integer_of(value)
    if whole is None:
        return struct.unpack("<I", struct.pack("<f", float(value)))[0]
    return whole & 0xFFFFFFFFFFFFFFFF


def integer_of(value: Any) -> int | None:
    """The integer that a number is; None for one that may have a fraction."""
    if getattr(getattr(value, "dtype", None), "kind", "") == "b":  # NumPy's truth values are not integers to Python
        return int(value)
    try:
        return operator.index(value)
    except TypeError:
        return None
