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


def elements_of(x: Any) -> tuple[Any, str]:
    """What the module takes for the memory of an array, a tensor or a window, and the name of its elements. Nothing is
    copied; of float64, which chips do not have, the module gets the bits."""
    if not hasattr(x, "dtype"):
        import numpy
        if hasattr(x, "__dlpack__"):
            x = numpy.from_dlpack(x)
        else:
            try:
                x = numpy.asarray(memoryview(x))
            except TypeError:
                raise TypeError(f"a {type(x).__name__} is not an array: pass numpy.asarray(x), or anything with the "
                                "buffer protocol or DLPack") from None
    name = dtype_name(x.dtype)
    if name == "float64" and not hasattr(x, "__baton_array__"):
        import numpy
        x = numpy.asarray(x).view("uint64")
    return x, name


def check_elements(given: str, wanted: str, what: str) -> None:
    """Raises Error unless elements of the type `given` are as they are in memory of the type `wanted`."""
    bits = given == "uint16" and wanted == "bfloat16" and numpy_dtype("bfloat16") == "uint16"  # no ml_dtypes
    if given != wanted and not bits:
        from baton._errors import Code, Error
        raise Error(Code.invalid_argument, f"{what} has elements of {given}, and the window has {wanted}",
                    [f"nothing is converted: pass {wanted}, for example x.astype('{wanted}')"])


def one_element(number: int | float, name: str):
    """An array of a Python number, which has no element type of its own. Raises Error if the type cannot hold it."""
    import numpy
    from baton._errors import Code, Error
    kind = numpy_dtype(name)
    if name == "bfloat16" and kind == "uint16":
        raise Error(Code.unsupported, f"{number} cannot be written as a bfloat16: the package ml_dtypes is missing",
                    ["install ml_dtypes, or pass an array of the bits as uint16"])
    if kind.kind in "iub":
        low, high = (0, 1) if kind.kind == "b" else (numpy.iinfo(kind).min, numpy.iinfo(kind).max)
        if not (low <= number <= high and number == int(number)):
            raise Error(Code.invalid_argument, f"{number} is not a number of {name}",
                        [f"{name} has the whole numbers from {low} to {high}"])
    return numpy.asarray([number], dtype=kind)


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
        memoryview(tensor)  # says why there is none; NumPy would try other ways, and speak of those
        return numpy.asarray(tensor)
    return numpy.asarray(tensor.reinterpret("uint16")).view(numpy_dtype("bfloat16"))


_TASK_RECORD = [("task", "<u8"), ("submitted", "<i8"), ("ready", "<i8"), ("dispatched", "<i8"), ("started", "<i8"),
                ("returned", "<i8"), ("completed", "<i8"), ("kernel", "<u4"), ("core", "<i2"), ("outcome", "u1"),
                ("", "u1")]


def task_records(data: bytes):
    """The records of a profile, as a file has them, as a structured array."""
    import numpy
    return numpy.frombuffer(data, dtype=_TASK_RECORD)
