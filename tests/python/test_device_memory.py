"""Chips whose memory is not the host's: copies, DLPack, and refusals instead of crashes. On a platform that pretends."""

import os
import pathlib

import numpy as np
import pytest

import baton
from baton import IN, OUT, SCALAR
from conftest import HERE, OnlyDlpack

KIND, DEVICE = 12, 3


def apart_library():
    path = pathlib.Path(os.environ.get("TEST_BUILD_DIR", ".")) / "lib" / "libbaton_apart.so"
    if not path.exists():
        pytest.skip("the platform of this test is not built")
    return str(path)


@pytest.fixture
def apart():
    with baton.Chip(apart_library()) as made:
        yield made


@pytest.fixture(scope="module")
def scale():
    return baton.kernel(HERE / "kernels" / "raw.cpp", signature=[IN, OUT, (SCALAR, "factor", "float32")])


def refusal(call, code=baton.Code.invalid_argument):
    with pytest.raises(baton.Error) as raised:
        call()
    assert raised.value.code == code
    return str(raised.value)


def test_copies_go_through_the_chip(apart, scale):
    x, y = apart.tensor(np.arange(6, dtype="f4")), apart.alloc(6)
    apart.run(scale, x, y, 2.0)
    y = y.reshape([2, 3])
    assert np.array_equal(apart.copy_out(y), 2 * np.arange(6, dtype="f4").reshape(2, 3))
    half = np.zeros(3, dtype="f4")
    assert apart.copy_out(y[1], half) is half
    assert list(half) == [6, 8, 10]
    apart.copy_in(y[0], half)
    assert list(apart.copy_out(y[0])) == [6, 8, 10]


def test_bfloat16_is_copied_by_its_bits_or_as_ml_dtypes_has_it(apart):
    x = apart.tensor(np.array([1, 0x3F80], dtype="u2")).reinterpret("bfloat16")
    assert list(apart.copy_out(x).view("u2")) == [1, 0x3F80]


def test_dumps_are_copied_out_when_their_tasks_have_run(scale, tmp_path):
    with baton.Chip(apart_library(), dump=tmp_path) as chip:
        x, y = chip.tensor(np.arange(6, dtype="f4")), chip.alloc(6)

        def orchestration(graph):
            for factor in (2.0, 3.0):
                graph.submit(scale, x, y, factor)
                graph.dump(y.reshape([2, 3])[:, 1:], "y")

        chip.run(orchestration)
        seen = [np.load(file).tolist() for file in sorted(tmp_path.iterdir())]
        assert seen == [[[2, 4], [8, 10]], [[3, 6], [12, 15]]]
        assert "dump in Chip::run()" in refusal(lambda: chip.capture(orchestration), baton.Code.unsupported)


def test_captured_graphs_run_on_other_memory(apart, scale):
    x, y, z = apart.tensor(np.ones(4, dtype="f4")), apart.alloc(4), apart.alloc(4)
    graph = apart.capture(lambda g: g.submit(scale, x, y, 3.0))
    apart.run(graph)
    apart.run(graph, instead=[(y, z)])
    assert apart.copy_out(y)[0] == 3 and apart.copy_out(z)[0] == 3


def test_an_orchestration_looks_at_elements(apart, scale):
    x, y = apart.tensor(np.array([5], dtype="f4")), apart.alloc(1)
    seen = []

    def orchestration(g):
        g.submit(scale, x, y, 2.0)
        seen.append(g.get(y, 0))
        g.set(x, 0, value=7.0)
        g.submit(scale, x, y, 2.0)

    apart.run(orchestration)
    assert seen == [10] and apart.copy_out(y)[0] == 14


def test_arrays_of_the_host_do_not_show_the_memory(apart):
    with pytest.raises(BufferError, match=r"memory of a device(.|\n)*copy_out"):
        memoryview(apart.alloc(4))


def test_arrays_of_the_host_are_refused_with_a_remedy(apart, scale):
    x, y = np.ones(4, dtype="f4"), apart.alloc(4)
    said = refusal(lambda: apart.run(scale, x, y, 1.0), baton.Code.unsupported)
    assert "memory of the host" in said and "copy_in" in said


def test_memory_of_a_device_is_refused_where_the_host_would_touch_it(apart, scale, chip):
    tensor = apart.alloc(4)
    assert "copy_out" in refusal(lambda: chip.tensor(tensor))
    assert "memory of another device" in refusal(lambda: chip.run(scale, OnlyDlpack(tensor), chip.alloc(4), 1.0),
                                                 baton.Code.unsupported)
    assert "memory of another device" in refusal(lambda: chip.copy_out(tensor))
    assert "copy_out" in refusal(lambda: apart.copy_in(tensor, tensor))


def test_dlpack_lends_the_memory_without_a_copy(apart, scale):
    x, y = apart.tensor(np.ones(8, dtype="f4")), apart.alloc(8)
    assert x.__dlpack_device__() == (KIND, DEVICE)
    lent = baton.view(OnlyDlpack(x))
    assert lent.address == x.address and lent.shape == (8,) and lent.__dlpack_device__() == (KIND, DEVICE)
    said = refusal(lambda: apart.free(x))
    assert "uses its memory" in said
    # What comes back is memory of the chip: there is nothing to add, and edges are found.
    apart.run(lambda g: [g.submit(scale, OnlyDlpack(x[:4]), OnlyDlpack(x[4:]), 5.0), g.submit(scale, x[4:], y[:4], 2.0)])
    assert list(apart.copy_out(y[:4])) == [10] * 4


def test_memory_that_somebody_else_allocated_there(apart, scale):
    """By another chip of the same device, here."""
    with baton.Chip(apart.platform) as other:
        theirs = other.tensor(np.arange(4, dtype="f4"))
        y = apart.alloc(4)
        apart.run(scale, OnlyDlpack(theirs), y, 2.0)
        assert list(apart.copy_out(y)) == [0, 2, 4, 6]
        added = apart.add(OnlyDlpack(theirs))
        apart.run(scale, added, y, 3.0)
        assert list(apart.copy_out(y)) == [0, 3, 6, 9]
        apart.remove(added)


def test_a_worker_of_one_device_shows_no_arrays_either(apart, scale):
    with baton.ChipWorker(apart.platform) as worker:
        x, y = worker.alloc(4), worker.alloc(4)
        worker.copy_in(x, np.ones(4, dtype="f4"))
        worker.run(scale, x, y, 4.0)
        result = np.zeros(4, dtype="f4")
        worker.copy_out(y, result)
        assert list(result) == [4] * 4
        with pytest.raises(BufferError):
            memoryview(y)
