"""Nodes: chips as processes, domains, groups, sub-workers."""

import os
import sys
import traceback

import numpy as np
import pytest

import baton
import sub_functions
from baton import IN, INOUT, OUT, CommBufferSpec, TaskArgs, TensorArgType
from conftest import HERE


def test_the_first_example():
    with baton.Worker(devices="0-3", clusters=1) as node:
        xs = [node.tensor(np.arange(256, dtype="f4") + 100 * r) for r in range(4)]
        node.allreduce(xs)
        node.allreduce(xs)  # again, in place
    expected = 4 * (4 * np.arange(256, dtype="f4") + 600)
    for x in xs:  # arrays outlive the node
        assert np.array_equal(x, expected)


def test_tasks_wait_for_each_other_because_of_their_tensors(node, ops):
    x = node.tensor(np.arange(32, dtype="f4"))
    y, z = node.create_buffer(32), node.create_buffer(32)
    scale = node.register(ops["scale"])

    def orchestration(orch):
        assert orch.chip_count == 3
        for _ in range(5):
            orch.submit_next_level(scale, [x, y, 2.0], worker=0)
            args = TaskArgs().add_tensor(y, TensorArgType.INPUT).add_tensor(z, TensorArgType.OUTPUT).add_scalar(5.0)
            last = orch.submit_next_level(scale, args, worker=1)
        orch.wait(last)
        assert np.asarray(z)[3] == 30

    node.run(orchestration)
    assert np.array_equal(z.numpy(), 10 * x)


def test_domains_give_members_windows_and_ranks(node, ops):
    def orchestration(orch, args, config):
        assert (args, config) == ("mine", {"n": 1})
        spec = [CommBufferSpec("cells", "int32", 4), CommBufferSpec("bytes", "float32", nbytes=64)]
        with orch.allocate_domain("pair", [2, 0], buffers=spec) as domain:
            assert domain.workers == [2, 0] and len(domain) == 2 and 2 in domain and 1 not in domain
            assert (domain[2].domain_rank, domain[0].domain_rank, domain[0].domain_size) == (0, 1, 2)
            assert domain[0].buffers["bytes"].shape == (16,) and domain[0].actual_window_size >= 80
            with pytest.raises(KeyError, match="chip 1 is not a member"):
                domain[1]
            cells = {chip: domain[chip].buffers["cells"] for chip in domain}
            orch.copy_to(cells[2], np.array([0, 0, 0, 5], dtype="i4"))
            orch.submit_next_level_group(ops["tell_next"], [[cells[i], domain[i].device_ctx] for i in domain],
                                         workers=domain.workers)
            orch.submit_next_level_group(ops["wait_for"], [[cells[i]] for i in domain], workers=domain.workers)
            got = np.zeros(4, dtype="i4")
            orch.copy_from(cells[2], got)
            assert list(got) == [1, 0, 0, 5]  # its neighbour told it, once
            with pytest.raises((baton.Error, BufferError), match="window of a chip"):
                memoryview(cells[2])
        with orch.scope():
            middle = orch.alloc(8)
            orch.submit_next_level(ops["scale"], [node.tensor(np.ones(8, dtype="f4")), middle, 2.0], worker=0)
            orch.submit_next_level(ops["scale"], [middle, result, 4.0], worker=1)

    result = node.create_buffer(8)
    node.run(orchestration, "mine", {"n": 1})
    assert np.all(result.numpy() == 8)


def test_buffers_of_a_domain_have_the_bytes_that_are_asked_for(node, ops):
    specs = [CommBufferSpec("first", "float32", count=4, nbytes=256), CommBufferSpec("second", "int32", 4),
             CommBufferSpec("third", "int32", nbytes=64)]
    refused = {"2 elements of float32 take 8 bytes": CommBufferSpec("small", "float32", count=2, nbytes=4),
               "cannot have 0 elements of float32 in 3 bytes": CommBufferSpec("none", "float32", nbytes=3)}

    def orchestration(orch):
        with orch.allocate_domain("sized", [0, 1], buffers=specs) as domain:
            member = domain[1]
            buffers = member.buffers
            assert [buffers[spec.name].shape for spec in specs] == [(4,), (4,), (16,)]
            # Where the chip has them: the second begins behind the bytes of the first.
            assert [buffers[spec.name].base - member.local_window_base for spec in specs] == [0, 256, 320]
            assert buffers["second"][2:3].base == buffers["second"].base + 8
            orch.copy_to(buffers["first"], np.full(4, 7, dtype="f4"))
            orch.submit_next_level(ops["add_one"], [buffers["second"]], worker=1)
            got = np.zeros(4, dtype="i4")
            orch.copy_from(buffers["second"], got)
            assert list(got) == [1, 1, 1, 1]
        for said, spec in refused.items():
            with pytest.raises(baton.Error, match=said), orch.allocate_domain("refused", [0], buffers=[spec]):
                pass

    node.run(orchestration)


def test_an_orchestration_gets_as_many_arguments_as_it_takes(node):
    calls = []

    class Three:
        def __call__(self, orch, args, config):
            calls.append((args, config))

        def two(self, orch, args):
            calls.append(args)

    def with_defaults(orch, x="default", y="default"):
        calls.append((x, y))

    node.run(lambda orch: calls.append("one"), "args", "config")
    node.run(Three().two, "args", "config")
    node.run(Three(), "args", "config")
    node.run(Three())
    node.run(with_defaults)
    node.run(with_defaults, "args")
    node.run(lambda *given: calls.append(given[1:]), "args", "config")
    assert calls == ["one", "args", ("args", "config"), (None, None), ("default", "default"), ("args", "default"),
                     ("args", "config")]


def test_a_token_of_a_notification_keeps_tasks_until_it_comes(node, ops):
    result = node.create_buffer(2, "int32")
    beside = node.create_buffer(1, "int32")

    def orchestration(orch):
        specs = [CommBufferSpec("x", "int32", 1), CommBufferSpec("signals", "int32", 4)]
        with orch.allocate_domain("pair", [0, 1], buffers=specs) as domain:
            there = domain[1].buffers["signals"][3:4]
            with pytest.raises(baton.Error, match="a signal is one int32"):
                orch.submit_notification_wait(domain[1].buffers["signals"])
            for round in (1, 2):
                arrived = orch.submit_notification_wait(there, round)
                orch.wait(orch.submit_next_level(ops["add_one"], [beside], worker=1))  # the chip goes on meanwhile
                y = result[round - 1:round]
                last = orch.submit_next_level(ops["copy_int"], [domain[1].buffers["x"], y],
                                              baton.TaskConfig(tokens=[arrived]), worker=1)
                orch.submit_next_level(ops["give_next"], [domain[0].buffers["x"], domain[0].buffers["signals"][3:4],
                                                          domain[0].device_ctx, 10 * round], worker=0)
                orch.wait(last)

    node.run(orchestration)
    assert list(result.numpy()) == [10, 20] and beside.numpy()[0] == 2


def test_a_kernel_may_take_the_token_of_a_notification(node, ops):
    after = baton.kernel("#include <baton_kernel.hpp>\n"
                         "BATON_KERNEL(after, In<int> token, In<int> x, Out<int> y) "
                         "{ y.data()[0] = x.data()[0] + token.size(); }")
    result, pid = node.create_buffer(1, "int32"), node.create_buffer(1, "int64")

    def orchestration(orch):
        specs = [CommBufferSpec("x", "int32", 1), CommBufferSpec("signals", "int32", 4)]
        with orch.allocate_domain("pair", [0, 1], buffers=specs) as domain:
            arrived = orch.submit_notification_wait(domain[1].buffers["signals"][0:1], 1)
            orch.submit_next_level(after, [arrived, domain[1].buffers["x"], result], worker=1)
            orch.submit_next_level(ops["give_next"], [domain[0].buffers["x"], domain[0].buffers["signals"][0:1],
                                                      domain[0].device_ctx, 30], worker=0)
            orch.submit_sub(sub_functions.write_pid, [IN(arrived), OUT(pid)])

    node.run(orchestration)
    assert result.numpy()[0] == 31
    assert pid.numpy()[0] > 0, "a function of the host sees no token"


def test_an_orchestration_of_a_library_runs_on_a_chip(node):
    halves = baton.kernels(HERE / "kernels" / "halves.cpp").orchestration("times_in_halves")
    x, y = node.tensor(np.arange(8, dtype="f4")), node.create_buffer(8)
    z = node.create_buffer(8)

    def orchestration(orch):
        orch.submit_next_level(halves, [IN(x), OUT(y), np.float32(2)], worker=0)
        orch.submit_next_level(halves, [IN(y), OUT(z), np.float32(1)], worker=1)  # after it
        with pytest.raises(baton.Error, match="chips cannot run a function"):
            orch.submit_next_level(lambda: None, [], worker=0)

    node.run(orchestration)
    assert list(z.numpy()) == [0, 2, 4, 6, 800, 1000, 1200, 1400]


def test_sub_workers_run_functions_in_processes_on_the_same_memory(node, ops):
    x, y = node.tensor(np.arange(8, dtype="f4")), node.create_buffer(8)
    pids = node.create_buffer(1, "int64")

    def orchestration(orch):
        orch.submit_next_level(ops["scale"], [x, y, 10.0], worker=0)
        orch.submit_sub(sub_functions.triple, TaskArgs().add_tensor(y, TensorArgType.INPUT)
                        .add_tensor(x, TensorArgType.OUTPUT).add_scalar(2))
        orch.submit_sub(sub_functions.write_pid, [OUT(pids)])
        orch.submit_next_level(ops["scale"], [x, y, 0.5], worker=1)

    node.run(orchestration)
    assert np.array_equal(y.numpy(), 30 * np.arange(8))
    assert pids.numpy()[0] not in (0, os.getpid())


def test_a_function_that_raises_keeps_its_traceback(node):
    y = node.create_buffer(1)
    with pytest.raises(baton.Error) as raised:
        node.run(lambda orch: orch.submit_sub(sub_functions.fail_with_value, [INOUT(y)]))
    cause = raised.value.__cause__
    assert isinstance(cause, ValueError) and "wrong: 0.0" in str(cause)
    text = "".join(traceback.format_exception(raised.value))
    assert "sub_functions.py" in text and "in fail_with_value" in text
    with pytest.raises(baton.Error, match="exit code 7"):
        node.run(lambda orch: orch.submit_sub(sub_functions.die, [INOUT(y)]))


def test_inner_functions_and_lambdas_travel_by_cloudpickle(node):
    pytest.importorskip("cloudpickle", reason="python3-cloudpickle is missing: functions of no module are untested")
    x, y = node.tensor(np.arange(4, dtype="f4")), node.create_buffer(4)
    factor, pids = 3.0, node.create_buffer(1, "int64")

    def inner(x, y):
        y[:] = factor * x

    def orchestration(orch):
        orch.submit_sub(inner, [IN(x), OUT(y)])
        orch.submit_sub(lambda y, pids, one: (np.add(y, one, out=y), pids.fill(os.getpid())), [INOUT(y), OUT(pids), 1])

    node.run(orchestration)
    assert list(y.numpy()) == [1, 4, 7, 10]
    assert pids.numpy()[0] not in (0, os.getpid())


def test_without_cloudpickle_a_lambda_cannot_travel(node, monkeypatch):
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    y = node.create_buffer(1)
    with pytest.raises(baton.Error, match="cannot travel"):
        node.run(lambda orch: orch.submit_sub(lambda y: None, [INOUT(y)]))


def test_runs_side_by_side(node, ops):
    xs = [node.create_buffer(4, "int32") for _ in range(3)]
    runs = [node.submit(lambda orch, x=x, i=i: [orch.submit_next_level(ops["add_one"], [x], worker=i)
                                                for _ in range(10)]) for i, x in enumerate(xs)]
    for run in runs:
        run.result(timeout=30)
    assert all(np.all(x.numpy() == 10) for x in xs)
    bad = node.submit(lambda orch: {}["nothing"])
    with pytest.raises(KeyError):
        bad.result(timeout=30)


def test_level_2_is_one_chip_in_this_process(ops):
    with baton.Worker(level=2, clusters=1, chip_threads=1) as worker:
        x = worker.create_buffer(4, "int32")
        worker.run(lambda orch: orch.submit_next_level(ops["add_one"], [x], worker=0))
        assert np.all(x.numpy() == 1) and worker.pid_of(0) == os.getpid()
    with pytest.raises(baton.Error, match="closed"):
        worker.create_buffer(1)


def test_help_reads_like_documentation():
    assert "num_sub_workers" in baton.Worker.__doc__ and "with baton.Worker" in baton.Worker.__doc__
    for method in ("run", "submit", "create_buffer", "copy_to", "allreduce", "close", "register"):
        assert getattr(baton.Worker, method).__doc__
