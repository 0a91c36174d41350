"""Devices of platforms that are loaded at run time."""

import ctypes
import os
import pathlib
import threading

import numpy as np
import pytest

import baton
from baton import IN, OUT, SCALAR
from conftest import HERE


def template():
    path = pathlib.Path(os.environ.get("TEST_BUILD_DIR", ".")) / "lib" / "libbaton_template.so"
    if not path.exists():
        pytest.skip("the template platform is not built")
    return str(path)


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim", "template"])
def test_a_kernel_runs_on_memory_of_the_device(platform):
    raw = baton.kernel(HERE / "kernels" / "raw.cpp", signature=[IN, OUT, (SCALAR, "factor", "float32")])
    with baton.ChipWorker(template() if platform == "template" else platform) as worker:
        x, y = worker.alloc(16), worker.alloc(16)
        worker.copy_in(x, np.arange(16, dtype="f4"))
        worker.run(raw, x[4:8], y[4:8], 2.5)
        result = np.zeros(16, dtype="f4")
        worker.copy_out(y, result)
        assert list(result[3:9]) == [0, 10, 12.5, 15, 17.5, 0]
        worker.free(x)
        with pytest.raises(baton.Error):
            worker.copy_in(x, result)


def test_the_communication_group_and_kernels_that_reach_its_windows(ops):
    def live(rank):
        with baton.ChipWorker("a2a3sim", rank) as worker:
            worker.comm_init(rank, 2, "inproc:python-platform")
            address = worker.comm_alloc_windows(64)
            base = worker.comm_get_local_window_base()
            assert worker.comm_get_window_size() == 64
            context = baton.comm.CommContext.from_address(address)
            assert context.windowsIn[rank] == base and context.rankId == rank
            window = (ctypes.c_int32 * 16).from_address(base)
            worker.comm_barrier()
            worker.run(ops["tell_next"], window, address)
            worker.run(ops["wait_for"], window)
            assert window[0] == 1
            worker.comm_barrier()
            worker.comm_destroy()
            done.append(rank)

    done = []
    threads = [threading.Thread(target=live, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [0, 1]


def test_a_missing_function_is_an_error_when_it_is_used():
    worker = baton.ChipWorker(template())
    assert worker.has("baton_graph_run") and not worker.has("comm_init")
    for call in (lambda: worker.comm_init(0, 1, "x"), worker.comm_barrier, lambda: worker.comm_alloc_windows(8),
                 worker.comm_get_local_window_base, worker.comm_get_window_size, worker.comm_destroy):
        with pytest.raises(baton.Error, match=r"libbaton_template.so has no function comm_") as raised:
            call()
        assert raised.value.code == baton.Code.unsupported


def test_a_missing_platform_says_where_it_was_looked_for():
    with pytest.raises(baton.Error, match="libbaton_nonesuch.so") as raised:
        baton.ChipWorker("nonesuch")
    assert raised.value.code == baton.Code.invalid_argument
