"""Ranks that share memory: domains, windows, signals, the C interface and the struct that kernels receive."""

import ctypes

import numpy as np
import pytest

import baton
from baton import comm


def test_alone():
    me = baton.join()
    assert (me.rank, me.size) == (0, 1)
    x = me.window("x", 16)
    x[:] = 3
    me.barrier()
    assert np.asarray(x).sum() == 48 and x.peer(0)[5] == 3


def test_threads_as_ranks_put_get_and_signal():
    def body(me):
        data = me.window("data", (2, 4), "int32")
        signals = me.signals("signals", 2)
        following, preceding = (me.rank + 1) % me.size, (me.rank - 1) % me.size
        data.put_signal(following, np.full(8, me.rank, dtype="i4"), signals)
        signals.wait(0, ">=", 1)
        assert np.all(data.array == preceding)
        me.barrier()
        data.put(following, 100 + me.rank, first=7)
        signals.notify(following, 1, value=5, op="set")
        signals.wait(1, "==", 5)
        assert data[1, 3] == 100 + preceding and not signals.test(1, "!=", 5)
        assert list(data.get(following, first=6, count=2)) == [me.rank, 100 + me.rank]
        half = me.subset("half", [0, 1]) if me.rank < 2 else None
        if half:
            assert (half.rank, half.size, half.members) == (me.rank, 2, [0, 1])
        me.barrier()
        return me.rank

    assert baton.run_ranks(4, body) == [0, 1, 2, 3]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool"])
def test_windows_take_their_own_element_type_and_numbers(dtype):
    def body(me):
        x, signals = me.window("x", 4, dtype), me.signals("arrived")
        following = (me.rank + 1) % me.size
        x.put(following, np.array([1, 0, 1, 1], dtype=dtype))
        x.put_signal(following, np.zeros(1, dtype=dtype), signals, first=2)
        signals.wait()
        x.put(following, 1, first=1)
        me.barrier()
        out = np.zeros(4, dtype=dtype)
        assert x.get(following, out=out) is out and list(out) == list(x.array) == [1, 1, 0, 1]
        if dtype != "bool":  # which NumPy knows since 1.25
            shared = np.from_dlpack(x)
            assert shared.dtype == dtype and np.shares_memory(shared, x.array)
        x.put(following, x)  # a window of that type, too
        me.barrier()

    baton.run_ranks(2, body)


@pytest.mark.parametrize("window, given", [("float32", "int32"), ("float64", "float32"), ("float32", "float64"),
                                           ("float64", "uint64"), ("int32", "uint32"), ("uint8", "bool")])
def test_windows_refuse_another_element_type(window, given):
    me = baton.join()
    x, signals = me.window("typed", 4, window), me.signals("typed signals")
    other = np.ones(2, dtype=given)
    for call in (lambda: x.put(0, other), lambda: x.get(0, out=other), lambda: x.put_signal(0, other, signals)):
        with pytest.raises(baton.Error, match=f"has elements of {given}, and the window has {window}") as raised:
            call()
        assert raised.value.code == baton.Code.invalid_argument
    assert not np.any(x.array) and np.all(other == 1) and not signals.test()


@pytest.mark.parametrize("dtype, number", [("int32", 2.5), ("int8", 300), ("uint16", -1), ("int32", float("nan"))])
def test_a_number_that_the_window_cannot_hold_is_refused(dtype, number):
    x = baton.join().window("numbers", 4, dtype)
    with pytest.raises(baton.Error, match=f"is not a number of {dtype}"):
        x.put(0, number)


def test_a_list_is_no_memory():
    with pytest.raises(TypeError, match="a list is not an array"):
        baton.join().window("listed", 4).put(0, [1.0, 2.0])


@pytest.mark.parametrize("asks", [baton.Signals.wait, baton.Signals.test])
def test_a_value_in_place_of_a_comparison_is_told(asks):
    with pytest.raises(TypeError, match=r"a comparison is one of == .* not 5; its value is named"):
        asks(baton.join().signals("told"), 0, 5)


def test_a_wait_that_times_out_says_who_waits_for_what():
    def body(me):
        signals = me.signals("ready", 1)
        if me.rank == 0:
            with pytest.raises(baton.Error) as raised:
                signals.wait(timeout=0.05)
            assert raised.value.code == baton.Code.wait_timeout and raised.value.rank == 0
            assert 'signal 0 of "ready"' in raised.value.message
        me.barrier()

    baton.run_ranks(2, body)


def test_a_window_is_not_released_under_an_array():
    me = baton.join()
    x = me.window("held", 8)
    array = x.array
    with pytest.raises(baton.Error, match="1 array"):
        x.release()
    del array
    x.release()


def test_the_struct_that_kernels_receive():
    assert ctypes.sizeof(comm.CommContext) == 1056
    offsets = {name: getattr(comm.CommContext, name).offset for name, _ in comm.CommContext._fields_}
    assert offsets == {"workSpace": 0, "workSpaceSize": 8, "rankId": 16, "rankNum": 20, "winSize": 24, "windowsIn": 32,
                       "windowsOut": 544}


def test_the_base_of_every_rank_is_in_the_tables_of_all():
    """Of threads, who share addresses: the base that a rank has is the one that its peers have for it, up to where
    each mapped it. A mark in each window tells."""

    def body(me):
        handle = comm.comm_init(me.rank, me.size, "inproc:tables")
        address = comm.comm_alloc_windows(handle, 4096)
        base = comm.comm_get_local_window_base(handle)
        assert comm.comm_get_window_size(handle) == 4096
        context = comm.CommContext.from_address(address)
        assert (context.rankId, context.rankNum, context.winSize) == (me.rank, me.size, 4096)
        assert context.windowsIn[me.rank] == base
        ctypes.c_uint64.from_address(base).value = 1000 + me.rank
        comm.comm_barrier(handle)
        for rank in range(me.size):
            assert ctypes.c_uint64.from_address(context.windowsIn[rank]).value == 1000 + rank
            assert context.windowsOut[rank] in (0, context.windowsIn[rank])
        comm.comm_barrier(handle)
        half = comm.comm_derive_context(handle, [me.rank, (me.rank + 1) % me.size], 0, 1024, 512)
        derived = comm.CommContext.from_address(half)
        assert (derived.rankId, derived.rankNum, derived.winSize) == (0, 2, 512)
        assert derived.windowsIn[0] == base + 1024
        comm.comm_barrier(handle)
        comm.comm_destroy(handle)

    baton.run_ranks(4, body)


def test_errors_of_the_c_interface_have_codes():
    with pytest.raises(baton.Error) as raised:
        comm.comm_barrier(0)
    assert raised.value.code == baton.Code.invalid_argument and "handle is null" in raised.value.message
    with pytest.raises(baton.Error):
        comm.comm_init(5, 2, "inproc:x")


def test_processes_as_ranks_with_kernels_that_reach_windows(ranks, ops):
    result = ranks(3, f"""
import baton, numpy as np
me = baton.join()
x = me.window("x", 4, "int32")
with baton.Chip(domain=me, clusters=1, threads=1) as chip:
    tell = baton.kernel({ops.library!r}, "tell_next")
    wait = baton.kernel({ops.library!r}, "wait_for")
    me.barrier()
    chip.run(tell, x, x.context)
    chip.run(wait, x)
assert x[0] == 1
me.barrier()
print("good", me.rank)
""")
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("good") == 3


def test_a_peer_that_dies_is_an_error_with_its_rank(ranks):
    result = ranks(2, """
import baton, os, signal
me = baton.join()
signals = me.signals("s")
me.barrier()
if me.rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
try:
    signals.wait()
except baton.Error as error:
    print("code", error.code.name, error.message, flush=True)
""")
    assert "code peer_died" in result.stdout, result.stdout + result.stderr
    assert "rank 1" in result.stdout


def test_a_rank_that_raises_ends_the_others_at_once():
    said = []

    def body(me):
        if me.rank == 2:
            raise RuntimeError("bad data on rank 2")
        try:
            me.barrier(timeout=3600)
        except baton.Error as error:
            said.append((error.code, str(error)))
            raise

    with pytest.raises(RuntimeError, match="bad data on rank 2"):
        baton.run_ranks(4, body)
    assert len(said) == 3
    for code, text in said:
        assert code == baton.Code.peer_died and "RuntimeError: bad data on rank 2" in text
    assert baton.run_ranks(4, lambda me: me.rank) == [0, 1, 2, 3]


@pytest.mark.parametrize("size", [0, -1])
def test_a_job_without_ranks_is_an_error(size):
    with pytest.raises(baton.Error, match=f"1 or more ranks, not {size}"):
        baton.run_ranks(size, lambda me: me.rank)


@pytest.mark.parametrize("end, told", [
    ("raise ValueError('7 is odd')", "ValueError: 7 is odd"),
    ("os.kill(os.getpid(), signal.SIGINT); signal.pause()", "KeyboardInterrupt"),
])
def test_an_uncaught_exception_reaches_the_others_as_what_it_is(ranks, end, told):
    result = ranks(3, f"""
import os, signal
import baton
me = baton.join()
me.barrier()
if me.rank == 1:
    {end}
try:
    me.barrier(timeout=3600)
except baton.Error as error:
    print("code", error.code.name, str(error).replace(chr(10), " "), flush=True)
""")
    assert result.returncode != 0
    assert result.stdout.count("code peer_died") == 2 and result.stdout.count(told) == 2, result.stdout + result.stderr
    assert "Traceback" in result.stderr  # of the rank itself
    assert "rank 1" in result.stderr.split("baton: ")[-1]  # the report blames the right one
