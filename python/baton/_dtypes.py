"""Element types, however people write them."""

from __future__ import annotations

from typing import Any

_NAMES = {"float32", "float16", "int32", "int16", "int8", "uint8", "bfloat16", "int64", "uint64", "uint16", "uint32",
          "bool"}


def dtype_name(dtype: Any) -> str:
    """The name of an element type given as "f4", numpy.float32, torch.float32, a NumPy dtype ..."""
    if isinstance(dtype, str) and dtype in _NAMES:
        return dtype
    name = str(dtype).removeprefix("torch.")
    if name in _NAMES:
        return name
    import numpy
    return numpy.dtype(dtype).name


def numpy_dtype(name: str):
    """NumPy's type for an element type. bfloat16 needs the package ml_dtypes; without it, its bits are uint16."""
    import numpy
    if name != "bfloat16":
        return numpy.dtype(name)
    try:
        import ml_dtypes
    except ImportError:
        return numpy.dtype("uint16")
    return numpy.dtype(ml_dtypes.bfloat16)


def shape_of(shape: Any) -> list[int]:
    """A shape given as a number or a sequence."""
    try:
        return [int(extent) for extent in shape]
    except TypeError:
        return [int(shape)]


def to_numpy(tensor):
    """An array over the memory of a tensor, without a copy."""
    import numpy
    if tensor.dtype != "bfloat16":
        return numpy.asarray(tensor)
    return numpy.asarray(tensor.reinterpret("uint16")).view(numpy_dtype("bfloat16"))


_TASK_RECORD = [("task", "<u8"), ("submitted", "<i8"), ("ready", "<i8"), ("dispatched", "<i8"), ("started", "<i8"),
                ("returned", "<i8"), ("completed", "<i8"), ("kernel", "<u4"), ("core", "<i2"), ("outcome", "u1"),
                ("", "u1")]


def task_records(data: bytes):
    """The records of a profile, as a file has them, as a structured array."""
    import numpy
    return numpy.frombuffer(data, dtype=_TASK_RECORD)
