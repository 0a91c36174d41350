"""Results against a golden."""

from __future__ import annotations

from typing import Any, Sequence

from baton.compat.host_memory import host_tensor


def as_array(tensor: Any):
    """The values of a tensor as NumPy has them; bfloat16, which it has not, as float32."""
    import numpy
    given = host_tensor(tensor)
    name = given.dtype.baton_name
    size = given.dtype.itemsize
    bits = numpy.ndarray(given.shape, "uint16" if name == "bfloat16" else name, given.storage.bytes_array(),
                         given.byte_offset, [step * size for step in given.strides])
    return (bits.astype("uint32") << 16).view("float32") if name == "bfloat16" else bits


def _compare_outputs(test_args: Any, golden_args: Any, names: Sequence[str], rtol: float = 1e-5,
                     atol: float = 1e-5) -> None:
    """Raises AssertionError with the first elements that differ."""
    import numpy

    from baton.testing import assert_close
    for name in names:
        actual, golden = as_array(getattr(test_args, name)), as_array(getattr(golden_args, name))
        if actual.dtype.kind != "f":  # torch.allclose compares integers with a tolerance, too
            actual, golden = actual.astype(numpy.float64), golden.astype(numpy.float64)
        # Unlike assert_close(), torch.allclose() takes two that are not numbers for different.
        if lost := int(numpy.count_nonzero(numpy.isnan(actual) & numpy.isnan(golden))):
            raise AssertionError(f"{name}: {lost} of {golden.size} elements are not numbers, in the golden either")
        assert_close(actual, golden, rtol=rtol, atol=atol, name=name)
