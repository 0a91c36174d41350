"""Helpers for tests of kernels."""

from __future__ import annotations

from typing import Any


def _differences(actual, expected, rtol: float, atol: float):
    """Where two arrays differ by more than the tolerance, as a mask. Not-a-number equals not-a-number."""
    import numpy
    with numpy.errstate(invalid="ignore", over="ignore"):
        near = numpy.abs(actual - expected) <= atol + rtol * numpy.abs(expected)
    both_nan = numpy.isnan(actual) & numpy.isnan(expected)
    return ~(near | both_nan | (actual == expected))


def assert_close(actual: Any, expected: Any, *, rtol: float | None = None, atol: float | None = None,
                 name: str = "result", show: int = 8) -> None:
    """Compares with a golden, and on a mismatch shows the first elements that differ.

    actual    an array, a tensor or a window
    expected  the golden; a number stands for all elements
    rtol, atol  |actual - expected| <= atol + rtol * |expected|. Default: exact for integers; 1e-5, 1e-3 or 1e-2 and
              1e-8 for float32, float16 and bfloat16
    name      what the message calls it
    show      how many differing elements the message shows
    """
    __tracebackhide__ = True
    import numpy
    from baton._core import Tensor
    from baton._dtypes import to_numpy
    actual = to_numpy(actual) if isinstance(actual, Tensor) else numpy.asarray(actual)
    expected = to_numpy(expected) if isinstance(expected, Tensor) else numpy.asarray(expected)
    if expected.ndim and actual.shape != expected.shape:
        raise AssertionError(f"{name}: the shape is {list(actual.shape)}, the golden has {list(expected.shape)}")
    kind = str(actual.dtype)
    exact = numpy.issubdtype(actual.dtype, numpy.integer) or actual.dtype == bool
    if rtol is None:
        rtol = 0.0 if exact else {"float16": 1e-3, "bfloat16": 1e-2}.get(kind, 1e-5)
    if atol is None:
        atol = 0.0 if exact else 1e-8
    wide = numpy.int64 if exact and kind != "uint64" else numpy.uint64 if exact else numpy.float64
    left = actual.astype(wide)
    right = numpy.broadcast_to(expected, actual.shape).astype(wide)
    wrong = left != right if exact and rtol == 0 and atol == 0 else _differences(
        left.astype(numpy.float64), right.astype(numpy.float64), rtol, atol)
    count = int(numpy.count_nonzero(wrong))
    if count == 0:
        return
    lines = [f"{name}: {count} of {actual.size} elements differ from the golden (rtol {rtol:g}, atol {atol:g})"]
    positions = numpy.argwhere(wrong)
    for position in positions[:show]:
        index = tuple(int(i) for i in position)
        here, golden = left[index], right[index]
        place = "[" + ", ".join(map(str, index)) + "]"
        lines.append(f"  {place:>12}  got {here!s:<16} expected {golden!s:<16} "
                     f"off by {abs(float(here) - float(golden)):g}")
    if count > show:
        lines.append(f"  and {count - show} more, the last at {[int(i) for i in positions[-1]]}")
    gap = numpy.abs(left.astype(numpy.float64) - right.astype(numpy.float64))
    if numpy.any(numpy.isfinite(gap)):
        lines.append(f"  largest difference {float(numpy.nanmax(gap)):g}")
    raise AssertionError("\n".join(lines))
