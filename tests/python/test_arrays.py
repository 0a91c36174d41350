"""Tensors and arrays: the same memory, no silent copies, errors that say what to do."""

import gc

import numpy as np
import pytest

import baton
from conftest import OnlyDlpack


def refusal(call):
    with pytest.raises(baton.Error) as raised:
        call()
    assert raised.value.code == baton.Code.invalid_argument
    return str(raised.value)


def test_kernels_work_on_numpy_arrays_in_place(chip, ops):
    x, y = np.arange(100, dtype="f4"), np.zeros(100, dtype="f4")
    chip.run(lambda g: g.submit(ops["scale"], x, y, 2.0))
    assert np.array_equal(y, 2 * x)


def test_views_of_one_array_share_their_memory(chip, ops):
    x = np.arange(64, dtype="f4")

    def orchestration(g):
        g.submit(ops["scale"], x[:16], x[16:32], 10.0)
        g.submit(ops["scale"], x[16:32], x[32:48], 10.0)  # waits for the first: both views are of x

    chip.run(orchestration)
    assert np.array_equal(x[32:48], 100 * np.arange(16, dtype="f4"))


def test_a_tensor_of_the_chip_is_an_array_without_a_copy(chip):
    tensor = chip.alloc((2, 3), "int32")
    array = np.asarray(tensor)
    array[1, 2] = 7
    assert array.__array_interface__["data"][0] == tensor.address
    assert np.asarray(tensor)[1, 2] == 7
    assert memoryview(tensor).shape == (2, 3)
    assert tensor.shape == (2, 3) and tensor.dtype == "int32" and tensor.nbytes == 24


def test_dlpack_both_ways(chip, ops):
    tensor = chip.alloc(8)
    array = np.from_dlpack(tensor)
    assert array.__array_interface__["data"][0] == tensor.address

    x = np.ones(8, dtype="f4")
    chip.run(lambda g: g.submit(ops["scale"], OnlyDlpack(x), tensor, 5.0))
    assert np.array_equal(np.asarray(tensor), 5 * x)
    chip.run(ops["scale"], OnlyDlpack(x), OnlyDlpack(tensor), 6.0)  # memory of the chip that comes back
    assert np.array_equal(np.asarray(tensor), 6 * x)


def test_views_of_what_is_lent_by_dlpack_share_their_memory(chip, ops):
    root = np.zeros(64, dtype="f4")

    class Storage:
        data_ptr = staticmethod(lambda: root.__array_interface__["data"][0])
        nbytes = staticmethod(lambda: root.nbytes)

    class AsPyTorch(OnlyDlpack):
        untyped_storage = Storage

    first, second = AsPyTorch(root[:40]), AsPyTorch(root[20:])
    chip.run(lambda g: [g.submit(ops["scale"], np.ones(40, dtype="f4"), first, 2.0),
                        g.submit(ops["scale"], np.ones(44, dtype="f4"), second, 3.0)])  # in this order: both write some
    assert np.all(root[:20] == 2) and np.all(root[20:] == 3)


def test_bytearrays_and_other_buffers(chip):
    data = bytearray(b"abcd")
    tensor = baton.view(data, writable=True)
    assert tensor.dtype == "uint8" and tensor.shape == (4,)
    np.asarray(tensor)[0] = ord("x")
    assert data == b"xbcd"


def test_bfloat16_goes_by_its_bits(chip, ops):
    x, y = chip.alloc(4, "bfloat16"), chip.alloc(4, "bfloat16")
    x.reinterpret("uint16").numpy()[:] = [1, 2, 3, 0x3F80]
    chip.run(ops["copy_bits"], x, y)
    assert list(y.reinterpret("uint16").numpy()) == [1, 2, 3, 0x3F80]
    with pytest.raises(BufferError, match="reinterpret"):
        memoryview(x)


def test_views_of_tensors(chip):
    tensor = chip.alloc((4, 6))
    np.asarray(tensor)[:] = np.arange(24).reshape(4, 6)
    array = np.asarray(tensor)
    assert np.array_equal(np.asarray(tensor[1:3]), array[1:3])
    assert np.array_equal(np.asarray(tensor[2]), array[2])
    assert np.array_equal(np.asarray(tensor[:, 1::2]), array[:, 1::2])
    assert np.array_equal(np.asarray(tensor.transpose()), array.T)
    assert np.array_equal(np.asarray(tensor.reverse(1)), array[:, ::-1])
    assert np.array_equal(np.asarray(tensor.reshape([24])), array.reshape(24))
    with pytest.raises(IndexError):
        tensor[4]


def test_what_is_not_contiguous_is_refused_with_a_remedy(chip, ops):
    x, y = np.arange(20, dtype="f4"), np.zeros(10, dtype="f4")
    said = refusal(lambda: chip.run(ops["scale"], x[::2], y, 1.0))
    assert "argument 1 'x' of scale is not contiguous" in said and "ascontiguousarray" in said
    assert baton.view(x[::2]).strides == (2,)


def test_wrong_dtypes_are_refused_with_a_remedy(chip, ops):
    y = np.zeros(4, dtype="f4")
    said = refusal(lambda: chip.run(ops["scale"], np.zeros(4), y, 1.0))
    assert "float64" in said and "astype('float32')" in said
    said = refusal(lambda: chip.run(ops["scale"], np.zeros(4, dtype="i4"), y, 1.0))
    assert "'x' is In<float>, got a tensor of int32" in said


def test_read_only_arrays_are_read_but_not_written(chip, ops):
    x, y = np.arange(4, dtype="f4"), np.zeros(4, dtype="f4")
    x.flags.writeable = False
    chip.run(ops["scale"], x, y, 3.0)
    assert np.array_equal(y, 3 * x)
    said = refusal(lambda: chip.run(ops["scale"], y, x, 3.0))
    assert "argument 2 'y' of scale is read-only" in said and "copy()" in said


def test_lists_empty_arrays_and_wrong_scalars_are_refused(chip, ops):
    x, y = np.arange(4, dtype="f4"), np.zeros(4, dtype="f4")
    assert "is a list, not an array" in refusal(lambda: chip.run(ops["scale"], [1.0], y, 1.0))
    assert "has no elements" in refusal(lambda: chip.run(ops["scale"], x[:0], y, 1.0))
    assert "'factor' of scale is a str, not a number" in refusal(lambda: chip.run(ops["scale"], x, y, "2"))
    said = refusal(lambda: chip.run(ops["scale"], x, y))
    assert "takes 3 arguments, got 2" in said and "argument 3 is missing: float factor" in said


def test_memory_is_not_freed_under_an_array(chip):
    tensor = chip.alloc(16)
    array = np.asarray(tensor)
    assert "1 array uses its memory" in refusal(lambda: chip.free(tensor))
    del array
    gc.collect()
    chip.free(tensor)
    with pytest.raises(baton.Error) as raised:
        chip.run(lambda g: g.set(tensor, 0, value=1.0))
    assert raised.value.code == baton.Code.released


def test_arrays_outlive_their_chip():
    chip = baton.Chip(clusters=1, threads=1)
    array = np.asarray(chip.alloc(1000))
    chip.close()
    array[:] = 3
    assert array.sum() == 3000
    with pytest.raises(baton.Error) as raised:
        chip.alloc(1)
    assert raised.value.code == baton.Code.released


def test_a_tensor_that_nobody_holds_lives_until_its_task_is_complete(chip, ops):
    y = np.zeros(1000, dtype="f4")

    def orchestration(g):
        for _ in range(50):
            g.submit(ops["scale"], chip.tensor(np.ones(1000, dtype="f4")), y, 4.0)

    chip.run(orchestration)
    assert np.all(y == 4)
