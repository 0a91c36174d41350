"""Collectives between ranks, over arrays and windows."""


import numpy as np
import pytest

import baton

SIZE = 4


def on_ranks(body, size=SIZE):
    return baton.run_ranks(size, body)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "uint8"])
@pytest.mark.parametrize("place", ["array", "window", "part of a window"])
def test_allreduce_in_place_wherever_the_data_is(place, dtype):
    def body(me):
        if place == "array":
            x = np.arange(10, dtype=dtype) + me.rank
        elif place == "window":
            x = me.window("x", 10, dtype)
            x[:] = np.arange(10) + me.rank
        else:
            window = me.window("x", (4, 10), dtype)
            x = window[2]
            x[:] = np.arange(10) + me.rank
        assert me.allreduce(x) is x
        return np.array(x)

    for result in on_ranks(body):
        assert result.dtype == dtype and np.array_equal(result, 4 * np.arange(10) + 6)


def test_an_array_over_a_window_is_the_window():
    """Ranks that name a window and memory elsewhere call different things; a window and an array over it are one."""
    def body(me):
        x = me.window("x", 16)
        x[:] = me.rank
        me.allreduce(x if me.rank == 0 else x[:])
        with pytest.raises(baton.Error):
            me.allreduce(x if me.rank == 0 else np.ones(16, dtype="f4"), timeout=10)
        return list(x[:])

    assert on_ranks(body, 2) == [[1.0] * 16] * 2


def test_reductions_and_results_elsewhere():
    def body(me):
        x = np.array([me.rank + 1, -me.rank], dtype="i4")
        results = {op: list(me.allreduce(x, np.empty_like(x), op)) for op in ("sum", "prod", "min", "max", "avg")}
        assert list(x) == [me.rank + 1, -me.rank]
        at_root = me.reduce(x, np.zeros(2, dtype="i4") if me.rank == 2 else np.empty(0, dtype="i4"), root=2)
        me.reduce(x, root=1, op="max")
        return results, list(at_root), list(x)

    for rank, (results, at_root, in_place) in enumerate(on_ranks(body)):
        assert results == {"sum": [10, -6], "prod": [24, 0], "min": [1, -3], "max": [4, 0], "avg": [2, -1]}
        assert at_root == ([10, -6] if rank == 2 else [])
        assert in_place == ([4, 0] if rank == 1 else [rank + 1, -rank])


def test_blocks_travel():
    def body(me):
        mine = np.full((2, 3), me.rank, dtype="f4")
        everyone = me.allgather(mine)
        assert everyone.shape == (SIZE, 2, 3) and all(np.all(everyone[r] == r) for r in range(SIZE))
        own = np.zeros((SIZE, 3), dtype="f4")
        own[me.rank] = me.rank
        me.allgather(own[me.rank], own)  # its own block of the result
        assert np.array_equal(own[:, 0], np.arange(SIZE))
        collected = me.gather(mine, root=3)
        assert (collected is None) == (me.rank != 3)
        part = me.scatter(everyone if me.rank == 3 else None, np.empty((2, 3), dtype="f4"), root=3)
        assert np.all(part == me.rank)
        sums = me.reduce_scatter(np.arange(8, dtype="f4"), np.empty(2, dtype="f4"))
        assert list(sums) == [4 * 2 * me.rank, 4 * (2 * me.rank + 1)]
        there = me.all_to_all(np.arange(SIZE, dtype="i8") + 10 * me.rank)
        assert list(there) == [me.rank + 10 * r for r in range(SIZE)]
        message = me.broadcast(np.full(5, me.rank, dtype="u2"), root=1)
        assert np.all(message == 1)
        return True

    assert all(on_ranks(body))


def test_blocks_of_different_sizes_also_of_none():
    def body(me):
        # Rank s sends s elements to everybody but itself.
        send = [me.rank if r != me.rank else 0 for r in range(SIZE)]
        receive = [r if r != me.rank else 0 for r in range(SIZE)]
        x = np.full(sum(send), me.rank, dtype="f8")
        out = np.empty(sum(receive), dtype="f8")
        me.all_to_all_v(x, send, out, receive)
        return list(out)

    for rank, got in enumerate(on_ranks(body)):
        assert got == [s for s in range(SIZE) if s != rank for _ in range(s)]


def test_messages_keep_their_order():
    def body(me):
        if me.rank == 0:
            for i in range(20):
                me.send(1, np.array([i, 7], dtype="i4"))
            return None
        return [int(me.recv(0, np.zeros(2, dtype="i4"))[0]) for _ in range(20)]

    assert on_ranks(body, 2)[1] == list(range(20))


def test_algorithms_and_what_is_wrong_are_told():
    def body(me):
        x = np.ones(64, dtype="f4")
        for algorithm in ("ring", "tree", "mesh", "recursive_halving"):
            me.allreduce(x, algorithm=algorithm)
        me.barrier(algorithm="automatic")
        with pytest.raises(baton.Error, match="no algorithm 'rings'.*"):
            me.allreduce(x, algorithm="rings")
        with pytest.raises(baton.Error, match="no reduction 'mean'"):
            me.allreduce(x, op="mean")
        with pytest.raises(TypeError, match="truth values"):
            me.allreduce(x > 0)
        assert me.broadcast(x > 0).all()
        with pytest.raises(baton.Error, match="not contiguous"):
            me.allreduce(x[::2])
        with pytest.raises(baton.Error) as raised:
            me.allgather(x, np.empty(3, dtype="f4"))
        assert raised.value.code == baton.Code.invalid_argument
        frozen = np.ones(4, dtype="f4")
        frozen.flags.writeable = False
        with pytest.raises(baton.Error, match="read-only"):
            me.broadcast(frozen)
        return x[0]

    assert on_ranks(body) == [4.0**4] * SIZE


def test_data_that_overlaps_by_a_part_is_refused():
    def body(me):
        x = np.zeros(12, dtype="f4")
        for call in (lambda: me.allreduce(x[:4], x[2:6]), lambda: me.allgather(x[1:4], x[:12]),
                     lambda: me.reduce_scatter(x, x[1:4]), lambda: me.all_to_all(x[:8], x[4:])):
            with pytest.raises(baton.Error, match="overlap by a part"):
                call()
        me.allgather(x[3 * me.rank:3 * me.rank + 3], x)

    on_ranks(body)


def test_ranks_that_call_different_things_are_told():
    def body(me):
        with pytest.raises(baton.Error) as raised:
            me.allreduce(np.ones(4 if me.rank else 5, dtype="f4"), timeout=10)
        return raised.value.code

    assert baton.Code.mismatch in on_ranks(body, 2)


def test_processes_as_ranks(ranks):
    result = ranks(3, """
import baton, numpy as np
me = baton.join()
x = me.window("x", 1000, "float64")
for i in range(50):
    x[:] = me.rank + i
    me.allreduce(x)
    assert np.all(np.asarray(x) == 3 * i + 3)
    me.barrier()
y = np.full(3, me.rank)
assert np.array_equal(me.allgather(y)[:, 0], [0, 1, 2])
print("good", me.rank)
""")
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.count("good") == 3


def test_ctrl_c_ends_a_collective(interrupted):
    code, output = interrupted("""
import os, threading
os.environ['BATON_WAIT_TIMEOUT'] = '60s'
import baton, numpy as np
keep = []
def other():
    keep.append(baton.join('inproc:collective', 1, 2))
    keep[0].allreduce(np.ones(4, dtype='f4'))
threading.Thread(target=other, daemon=True).start()
me = baton.join('inproc:collective', 0, 2)
x = np.ones(4, dtype='f4')
me.allreduce(x)
try:
    print('READY', flush=True)
    me.allreduce(x)
except KeyboardInterrupt:
    print('INTERRUPTED', flush=True)
""")
    assert code == 0 and "INTERRUPTED" in output, output


def test_a_forked_child_makes_calls_of_its_own(ranks):
    """The thread that makes calls for the main thread is not in the child."""
    result = ranks(1, """
import os
import baton, numpy as np
me = baton.join()
me.allreduce(np.ones(4, dtype='f4'))
child = os.fork()
if child == 0:
    kernel = baton.kernel('#include <baton_kernel.hpp>\\nBATON_KERNEL(nothing, InOut<int> x) { (void)x; }')
    print('compiled', flush=True)
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""")
    assert result.returncode == 0 and "compiled" in result.stdout, result.stdout + result.stderr


def test_signals_of_kernels_with_collectives():
    """Whole cache lines, more with each rank; examples run kernels with just as many."""
    counts = [baton.signals_needed(ranks) for ranks in range(1, 65)]
    assert all(count % 16 == 0 for count in counts)
    assert counts == sorted(counts) and counts[0] < counts[-1]
    with pytest.raises(baton.Error, match="0 ranks"):
        baton.signals_needed(0)
