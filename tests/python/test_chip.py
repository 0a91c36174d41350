"""Chips, graphs and kernels."""

import threading

import numpy as np
import pytest

import baton
from baton import IN, INOUT, OUT, SCALAR
from conftest import HERE


def test_a_chain_of_tasks_runs_in_the_order_of_its_edges(chip, ops):
    x = np.zeros(8, dtype="i4")

    def orchestration(g):
        tasks = [g.submit(ops["add_one"], x) for _ in range(300)]
        assert tasks == list(range(tasks[0], tasks[0] + 300))

    chip.run(orchestration)
    assert np.all(x == 300)


def test_outputs_scopes_elements_and_waits(chip, ops):
    x, y = np.arange(4, dtype="f4"), np.zeros(4, dtype="f4")

    def orchestration(g):
        assert g.clusters == 2 and g.vector_cores == 4
        with g.scope():
            middle = g.output([4])
            g.submit(ops["scale"], x, middle, 2.0)
            task = g.submit(ops["scale"], middle, y, 5.0)
            g.wait(task)
            assert g.get(y, 3) == 30.0
        g.set(y, 0, value=-1.0)

    chip.run(orchestration)
    assert list(y) == [-1.0, 10.0, 20.0, 30.0]


def test_explicit_edges_blocks_and_tokens(chip, ops):
    x = np.zeros(1, dtype="i4")

    def orchestration(g):
        with g.manual_scope():
            last = g.submit(ops["add_one"], x)
            for _ in range(20):
                last = g.submit(ops["add_one"], x, after=[last])
        g.submit_empty(INOUT(x))

    chip.run(orchestration)
    assert x[0] == 21
    with pytest.raises(TypeError, match="no argument 'block'"):
        chip.run(lambda g: g.submit(ops["add_one"], x, block=2))


def test_tasks_without_a_kernel_and_of_clusters_take_as_many_arguments_as_others(chip, ops):
    xs = [np.zeros(1, dtype="i4") for _ in range(40)]

    def orchestration(g):
        for x in xs:
            g.submit(ops["add_one"], x)
        joined = g.submit_empty(*[INOUT(x) for x in xs])
        g.wait(joined)
        assert all(x[0] == 1 for x in xs)  # it waited for all of them
        g.submit_cluster(*[INOUT(x) for x in xs], vectors=[many])

    many = baton.kernel("""
        #include "tensor.h"
        extern "C" void kernel_entry(int64_t* args) {
          for (int i = 0; i < 40; ++i) {
            const auto* x = reinterpret_cast<const Tensor*>(args[i]);
            *reinterpret_cast<int*>(x->buffer.addr) += 10;
          }
        }
    """)
    chip.run(orchestration)
    assert all(x[0] == 11 for x in xs)


def test_a_captured_graph_runs_many_times_and_with_other_memory(chip, ops):
    x, y, other = np.ones(4, dtype="f4"), np.zeros(4, dtype="f4"), np.full(4, 100, dtype="f4")
    tasks = []

    def orchestration(g):
        middle = g.output([4])
        tasks.append(g.submit(ops["scale"], x, middle, 2.0))
        g.submit(ops["scale"], middle, y, 3.0)

    captured = chip.capture(orchestration)
    assert captured.task_count == 2 and captured.edge_count == 1 and "digraph" in captured.drawing()
    assert np.all(y == 0)  # nothing ran yet
    for _ in range(3):
        x += 1
        chip.run(captured)
        assert np.array_equal(y, 6 * x)
    chip.run(captured, instead=[(x, other)])
    assert np.all(y == 600)
    captured.set_scalar(tasks[0], 0, 10.0)
    chip.run(captured)
    assert np.array_equal(y, 30 * x)
    del captured
    chip.run(ops["scale"], x, y, 1.0)  # the chip is good


def test_a_graph_cannot_be_used_after_its_run(chip, ops):
    kept = []
    chip.run(kept.append)
    with pytest.raises(baton.Error) as raised:
        kept[0].submit(ops["add_one"], np.zeros(1, dtype="i4"))
    assert raised.value.code == baton.Code.released


def test_an_exception_of_the_orchestration_comes_out_as_it_is(chip, ops):
    x = np.zeros(8, dtype="i4")

    def orchestration(g):
        g.submit(ops["add_one"], x)
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        chip.run(orchestration)
    chip.run(ops["add_one"], x)  # the chip is good
    assert np.all(x == 2)


def test_a_kernel_that_crashes_is_an_error_with_task_kernel_and_place(chip, ops):
    x = np.zeros(1, dtype="i4")

    def orchestration(g):
        g.submit(ops["add_one"], x)
        g.submit(ops["crash"], x)
        g.submit(ops["add_one"], x)  # never runs

    with pytest.raises(baton.Error) as raised:
        chip.run(orchestration)
    error = raised.value
    assert error.code == baton.Code.kernel_fault
    assert error.kernel == "crash" and error.task == 2
    assert error.place.file == __file__ and error.place.line == orchestration.__code__.co_firstlineno + 2
    assert x[0] == 1
    assert str(error).endswith("[BATON-E052]")


@pytest.mark.parametrize("kernel, said", [("asserts", "an assertion failed"), ("traps", "trap"),
                                          ("throws", "threw the int 5")])
def test_a_kernel_that_asserts_traps_or_throws_is_an_error_like_all_others(chip, ops, kernel, said):
    x = np.zeros(1, dtype="i4")
    with pytest.raises(baton.Error, match=said) as raised:
        chip.run(ops[kernel], x)
    error = raised.value
    assert error.code == baton.Code.kernel_fault and error.kernel == kernel
    assert f"kernel '{kernel}' on " in error.message and __file__ in str(error)
    chip.run(ops["add_one"], x)  # the chip is good
    assert x[0] == 1


def test_a_kernel_that_never_ends_is_interrupted(ops):
    x = np.zeros(1, dtype="i4")
    with baton.Chip(clusters=1, kernel_timeout=0.3) as chip:
        with pytest.raises(baton.Error, match="has run for more than 0.3 s.*ops.cpp") as raised:
            chip.run(ops["spins"], x)
        assert raised.value.code == baton.Code.kernel_timeout and raised.value.kernel == "spins"
        chip.run(ops["add_one"], x)
        assert x[0] == 1
    with pytest.raises(baton.Error, match="cannot be negative"):
        baton.Chip(kernel_timeout=-1)


def test_more_memory_than_there_is_is_an_error(chip):
    with pytest.raises(baton.Error, match="this machine can give") as raised:
        chip.alloc(1 << 50, "int8")
    assert raised.value.code == baton.Code.out_of_memory
    assert raised.value.remedy.startswith("Ask for less") and "try: Ask for less" in str(raised.value)


def test_raw_kernels_with_and_without_a_signature(chip):
    x, y = np.arange(4, dtype="f4"), np.zeros(4, dtype="f4")
    raw = baton.kernel(HERE / "kernels" / "raw.cpp")
    assert raw.signature is None
    chip.run(lambda g: g.submit(raw, IN(x), OUT(y), np.float32(3)))
    assert np.array_equal(y, 3 * x)
    with pytest.raises(baton.Error, match="mark it"):
        chip.run(raw, x, y, np.float32(3))
    with pytest.raises(baton.Error, match="32 or 64 bits"):
        chip.run(lambda g: g.submit(raw, IN(x), OUT(y), 3.0))

    signed = baton.kernel(HERE / "kernels" / "raw.cpp", signature=[IN, OUT, (SCALAR, "factor", "float32")])
    chip.run(signed, x, y, 4)
    assert np.array_equal(y, 4 * x)
    with pytest.raises(baton.Error, match="takes 3 arguments, got 2"):
        chip.run(signed, x, y)
    for more in (3.0, np.float32(3), x):
        with pytest.raises(baton.Error, match="takes 3 arguments, got 4"):
            chip.run(signed, x, y, 4, more)


def test_kernels_from_text_and_their_errors(chip):
    triple = baton.kernel("""
        #include <baton_kernel.hpp>
        BATON_KERNEL(triple, InOut<int> x) { x.data()[0] *= 3 * FACTOR; }
    """, defines={"FACTOR": 2})
    x = np.array([7], dtype="i4")
    chip.run(triple, x)
    assert x[0] == 42 and triple.name == "triple" and "InOut<int32> x" in repr(triple)
    with pytest.raises(baton.Error) as raised:
        baton.kernel("void f() { not C++; }")
    assert raised.value.code == baton.Code.compile_failed and "<text in test_chip.py>:1" in str(raised.value)


def test_a_kernel_that_nobody_holds_stays_loaded_until_its_task_is_complete(chip):
    x = np.zeros(4, dtype="i4")

    def orchestration(g):
        for _ in range(50):
            g.submit(baton.kernel(HERE / "kernels" / "ops.cpp", "add_one"), x)

    chip.run(orchestration)
    assert np.all(x == 50)


def test_several_kernels_in_a_file(ops):
    assert {"scale", "add_one", "crash"} <= set(ops)
    with pytest.raises(KeyError, match="no kernel 'none'; there are .*scale"):
        ops["none"]
    assert "none" not in ops and ops.get("none") is None
    with pytest.raises(baton.Error, match="say which one"):
        baton.kernel(ops.library)
    assert baton.kernel(ops.library, "scale").name == "scale"


def test_an_orchestration_of_a_library_runs_without_python(chip):
    file = baton.kernels(HERE / "kernels" / "halves.cpp")
    halves = file.orchestration("times_in_halves")
    assert halves.name == "times_in_halves" and halves.library == file.library
    x, y = np.arange(8, dtype="f4"), np.zeros(8, dtype="f4")
    chip.run(halves, x, y, np.float32(2))
    assert list(y) == [0, 2, 4, 6, 80, 100, 120, 140]
    with pytest.raises(baton.Error, match="32 or 64 bits"):
        chip.run(halves, x, y, 2.0)
    with pytest.raises(baton.Error) as raised:
        chip.run(halves, x, y)
    assert raised.value.code == baton.Code.out_of_range
    with pytest.raises(baton.Error, match="times_in_halves"):
        file.orchestration("none")
    chip.run(halves, x, chip.tensor(y), np.float32(1))  # the chip is good


def test_profiles_tell_what_tasks_did(ops):
    x = np.zeros(4, dtype="i4")
    with baton.Chip(clusters=1, threads=1, profile="records") as chip:
        for _ in range(3):
            chip.run(ops["add_one"], x)
        with pytest.raises(baton.Error):
            chip.run(lambda g: (g.submit(ops["crash"], x), g.submit(ops["add_one"], x)))
        profile = chip.task_profile()
    named = {one.kernel: one for one in profile.kernels}
    assert named["add_one"].count == 4 and named["add_one"].not_run == 1 and named["crash"].failed == 1
    assert named["add_one"].total_ns >= named["add_one"].max_ns > 0 and profile.elapsed_ns > 0
    assert profile.cores[0].kernels >= 1 and profile.high_water.tasks >= 2
    assert "add_one" in profile.table()
    records = profile.records
    assert len(records) == 5 and sorted(records["outcome"]) == [0, 0, 0, 2, 3]
    done = records[records["outcome"] == 0]
    assert np.all(done["submitted"] <= done["started"]) and np.all(done["started"] <= done["completed"])
    assert {profile.names[number] for number in records["kernel"]} == {"add_one", "crash"}
    with baton.Chip(clusters=1, threads=1, profile="off") as chip:
        with pytest.raises(baton.Error) as raised:
            chip.task_profile()
    assert raised.value.code == baton.Code.invalid_argument
    with pytest.raises(baton.Error, match="no profile 'all'"):
        baton.Chip(profile="all")


def test_two_threads_with_a_chip_each(ops):
    def live(result):
        with baton.Chip(clusters=1, threads=1) as chip:
            x = np.zeros(1, dtype="i4")
            for _ in range(20):
                chip.run(ops["add_one"], x)
            result.append(int(x[0]))

    results = []
    threads = [threading.Thread(target=live, args=(results,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [20, 20]


def test_a_wrong_platform_lists_those_there_are():
    with pytest.raises(baton.Error, match="a2a3sim"):
        baton.Chip("a9sim")


def test_documentation():
    assert "orchestration" in baton.Chip.run.__doc__
    assert "arguments" in baton.Graph.submit.__doc__
    assert baton.Code.kernel_fault == 52


def test_a_kernel_may_take_the_token_of_a_notification():
    after = baton.kernel("#include <baton_kernel.hpp>\n"
                         "BATON_KERNEL(after, In<int> token, InOut<int> x) { x.data()[0] += 1; }")
    signal, x = np.ones(1, dtype="i4"), np.zeros(1, dtype="i4")

    def orchestration(g):
        token = g.submit_notification_wait(signal, 1)
        assert (token.dtype, token.shape) == ("int32", (1,))
        g.submit(after, token, x)

    with baton.Chip(clusters=1, threads=1) as chip:
        chip.add(signal)
        chip.run(orchestration)
    assert x[0] == 1
