"""baton.compat: programs that run on chips, of level 2 and 3, each with the calls of one kind of existing program."""

import ctypes
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

from baton.compat import install
from mini_tensor import MiniTensor, args_of

install()

from simpler.task_interface import (ArgDirection, CallConfig, ChipCallable, CommBufferSpec, CoreCallable, DataType,
                                    TaskArgs, TensorArgType, scalar_to_uint64)
from simpler.worker import Worker
from simpler_setup.kernel_compiler import KernelCompiler
from simpler_setup.pto_isa import ensure_pto_isa_root
from simpler_setup.torch_interop import make_tensor_arg

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parents[1] / "examples" / "existing_project"
RUNTIME = "tensormap_and_ringbuffer"
IN, OUT, INOUT = TensorArgType.INPUT, TensorArgType.OUTPUT_EXISTING, TensorArgType.INOUT
D = ArgDirection
HALF = scalar_to_uint64(ctypes.c_float(0.5))


def build(orchestration, kernels, *, entry="aicpu_orchestration_entry", config="", runtime=RUNTIME,
          signature=(D.IN, D.IN, D.OUT)):
    compiler = KernelCompiler("a2a3sim")
    folders = [*compiler.get_orchestration_include_dirs(runtime), str(compiler.project_root / "src" / "common")]
    cores = [(number, CoreCallable.build(signature=list(signature), binary=compiler.compile_incore(
        source_path=str(source), core_type="aiv", pto_isa_root=ensure_pto_isa_root(), extra_include_dirs=folders)))
        for number, source in enumerate(kernels)]
    binary = compiler.compile_orchestration(runtime_name=runtime, source_path=str(orchestration),
                                            extra_include_dirs=folders)
    assert isinstance(binary, bytes)
    return ChipCallable.build(signature=list(signature), func_name=entry, binary=binary, children=cores,
                              config_name=config)


def blend(runtime=RUNTIME):
    return build(PROJECT / "orchestration" / "blend.cpp", [PROJECT / "kernels" / "add.cpp", PROJECT / "kernels" / "scale.cpp"],
                 runtime=runtime)


def sum_ranks():
    return build(PROJECT / "orchestration" / "sum_ranks.cpp", [PROJECT / "kernels" / "sum_ranks.cpp"],
                 entry="sum_ranks_entry", signature=(D.IN, D.OUT, D.INOUT, D.INOUT, D.SCALAR))


@pytest.fixture
def chip():
    with Worker(level=2, platform="a2a3sim", runtime=RUNTIME, device_id=0) as worker:
        worker.init()
        yield worker


@pytest.fixture
def node():
    with Worker(level=3, platform="a2a3sim", runtime=RUNTIME, device_ids=[4, 5], num_sub_workers=1) as worker:
        worker.init()
        yield worker


# Level 2


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
@pytest.mark.parametrize("runtime", [RUNTIME, "host_build_graph"])
def test_a_program_for_one_chip(platform, runtime):
    """Tensors of the host, used where they are, and reused arguments."""
    worker = Worker(level=2, platform=platform, runtime=runtime, device_id=3)
    handle = worker.register(blend(runtime))
    worker.init()
    a, b, out = MiniTensor(np.arange(3000, dtype="f4")), MiniTensor(np.full(3000, 2, "f4")), MiniTensor.zeros(3000)
    args = args_of((a, IN), (make_tensor_arg(worker, b), IN), (out, OUT), scalars=[HALF])
    worker.run(handle, args, CallConfig())
    assert np.array_equal(out.array, (a.array + 2) / 2)
    a.array[:] = 0
    worker.run(handle, args)
    assert np.array_equal(out.array, np.ones(3000))
    worker.close()


def test_memory_of_the_chip_as_arguments(chip):
    handle = chip.register(blend())  # after init()
    buffers = [chip.malloc(4 * 64) for _ in range(3)]
    x = MiniTensor(np.arange(64, dtype="f4"))
    chip.copy_to(buffers[0], x)
    chip.copy_to(buffers[1], x)
    views = [buffer.tensor((64,), DataType.FLOAT32) for buffer in buffers]
    chip.run(handle, args_of((views[0], IN), (views[1], IN), (views[2], OUT), scalars=[HALF]))
    back = MiniTensor.zeros(64)
    chip.copy_from(back, buffers[2])
    assert np.array_equal(back.array, x.array)
    part = [buffer.tensor((16,), DataType.FLOAT32, byte_offset=64) for buffer in buffers]
    chip.run(handle, args_of((part[0], IN), (part[0], IN), (part[2], INOUT), scalars=[scalar_to_uint64(1.0)]))
    chip.copy_from(back, buffers[2])
    assert np.array_equal(back.array[16:32], 2 * x.array[16:32]) and np.array_equal(back.array[:16], x.array[:16])
    for buffer in buffers:
        chip.free(buffer)
    with pytest.raises(RuntimeError, match="after it was freed"):
        chip.run(handle, args_of((views[0], IN), (views[1], IN), (views[2], OUT), scalars=[HALF]))


def test_views_of_one_storage(chip):
    handle = chip.register(blend())
    data = MiniTensor(np.arange(12, dtype="f4"))
    chip.run(handle, args_of((data[0:4], IN), (data[4:8], IN), (data[8:12], OUT), scalars=[HALF]))
    assert data.array[8:].tolist() == [2, 3, 4, 5] and data.array[:8].tolist() == list(range(8))


def test_memory_that_several_tensors_show(chip):
    """Each object shows a storage of its own, and they overlap."""
    handle = chip.register(blend())
    data = bytearray(np.arange(12, dtype="f4"))
    a, rest = np.frombuffer(data, "f4", 8), np.frombuffer(data, "f4", 8, 16)
    a.flags.writeable = False
    chip.run(handle, args_of((a[:4], IN), (rest[:4], IN), (rest[4:], OUT), scalars=[HALF]))
    assert np.frombuffer(data, "f4").tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 2, 3, 4, 5]
    shared = chip.create_buffer(48)
    view = np.frombuffer(shared.shm.buf, "f4")
    view[:] = 1
    chip.run(handle, args_of((make_tensor_arg(chip, view[:4]), IN), (shared.tensor((4,), 0, byte_offset=16), IN),
                             (view[8:], OUT), scalars=[scalar_to_uint64(2.0)]))
    assert view.tolist() == [1] * 8 + [4] * 4
    shared.close()
    view[:] = 0  # an array over it stays good


def test_equal_callables_are_one(chip):
    one, other = chip.register(blend()), chip.register(blend())
    assert one.hashid == other.hashid and one.hashid != chip.register(sum_ranks()).hashid
    chip.unregister(one)
    data = [MiniTensor.zeros(8) for _ in range(3)]
    args = args_of((data[0], IN), (data[1], IN), (data[2], OUT), scalars=[HALF])
    chip.run(one, args)  # equal content is still registered
    chip.unregister(other)
    with pytest.raises(RuntimeError, match="not registered"):
        chip.run(one, args)


def test_each_run_may_have_its_own_configuration(chip):
    handle = chip.register(blend())
    data = [MiniTensor(np.ones(8, "f4")), MiniTensor(np.ones(8, "f4")), MiniTensor.zeros(8)]
    args = args_of((data[0], IN), (data[1], IN), (data[2], OUT), scalars=[HALF])
    for window in (4, 64, [4, 8, 16, 32]):
        config = CallConfig()
        config.aicpu_thread_num = 4
        config.runtime_env.ring_task_window = window
        config.runtime_env.ring_heap = 1 << 20
        data[2].array[:] = 0
        chip.run(handle, args, config)
        assert data[2].array.tolist() == [1] * 8
    config.runtime_env.ring_task_window = 6
    with pytest.raises(ValueError, match="power of 2"):
        chip.run(handle, args, config)


def test_kernels_have_numbers_and_cores(chip):
    compiler = KernelCompiler("a2a3sim")
    source = HERE / "compat" / "stamp_kernel.cpp"
    cores = {number: CoreCallable.build(signature=[D.OUT], binary=compiler.compile_incore(str(source), core_type=core))
             for number, core in ((7, "aic"), (9, "aiv"))}
    handle = chip.register(ChipCallable.build(signature=[D.OUT], func_name="stamp_entry", children=list(cores.items()),
                                              binary=compiler.compile_orchestration(RUNTIME, HERE / "compat" / "stamp.cpp")))
    out = MiniTensor.zeros(2)
    chip.run(handle, args_of((out, OUT)))
    assert out.array.tolist() == [1, 2]


def test_a_fatal_error_has_its_code(chip, capfd):
    handle = chip.register(build(HERE / "compat" / "report.cpp", [], entry="report_entry", config="report_config",
                                 signature=(D.OUT,)))
    out = MiniTensor.zeros(4)
    with pytest.raises(RuntimeError, match="run failed with code -9"):
        chip.run(handle, args_of((out, OUT), scalars=[9]))
    said = capfd.readouterr().err
    for text in ("orch_error_code=9", "PTO2_ERROR_EXPLICIT_ORCH_FATAL", "error detail:", "asked for 9", "error hint:"):
        assert text in said, said
    with pytest.raises(RuntimeError, match="run failed with code -5"):
        chip.run(handle, args_of((out, OUT)))  # the config says 2 arguments
    chip.run(handle, args_of((out, OUT), scalars=[0]))
    assert out.array.tolist() == [5, 0, 0, 0]


def test_what_is_missing_is_named(chip):
    with pytest.raises(RuntimeError, match="no_such_entry"):
        chip.run(chip.register(build(HERE / "compat" / "report.cpp", [], entry="no_such_entry")), TaskArgs())
    with pytest.raises(ValueError, match="there is no core 'dsp'"):
        KernelCompiler("a2a3sim").compile_incore("x.cpp", core_type="dsp")
    with pytest.raises(ValueError, match="there is no platform 'a2a3'"):
        KernelCompiler("a2a3")


# Level 3


def test_tasks_of_chips_and_of_the_host(node):
    """Shared tensors in place; the host's task waits for those of the chips, and chip 1 for chip 0."""
    a, b = (MiniTensor(np.arange(64, dtype="f4")).share_memory_() for _ in range(2))
    middle, out = (MiniTensor.zeros(64).share_memory_() for _ in range(2))
    seen = []
    blended = node.register(blend())
    told = node.register(lambda args: seen.append((np.frombuffer(args[0].buffer, "f4").sum(), out.array.sum())))

    def orchestration(orch, args, config):
        orch.submit_next_level(blended, args_of((a, IN), (b, IN), (middle, OUT), scalars=[HALF]), config, worker=0)
        reused = args_of((middle, IN), (make_tensor_arg(node, b), IN), (out, OUT), scalars=[HALF])
        orch.submit_next_level(blended, reused, config, worker=1)
        reused.clear()  # a submission has its own copy
        orch.submit_sub(told, args_of((out, IN)))

    for _ in range(2):
        node.run(orchestration)
        assert np.array_equal(middle.array, a.array) and np.array_equal(out.array, a.array)
        out.array[:] = 0
    assert seen == [(a.array.sum(), a.array.sum())] * 2  # a closure sees results in the tensor that it holds, too
    with pytest.raises(ValueError, match="no worker 2"):
        node.run(lambda orch, args, config: orch.submit_next_level(blended, TaskArgs(), worker=2))
    with pytest.raises(TypeError, match="submit_next_level runs"):
        node.run(lambda orch, args, config: orch.submit_sub(blended))
    with pytest.raises(TypeError, match="not a ChipCallable"):
        node.run(lambda orch, args, config: orch.submit_next_level(told, TaskArgs(), worker=0))


def test_callables_that_are_registered_between_runs(node):
    data = [node.create_buffer(64) for _ in range(3)]
    np.frombuffer(data[0].shm.buf, "f4")[:] = 4
    views = [buffer.tensor((16,), DataType.FLOAT32) for buffer in data]
    for runtime in (RUNTIME, "host_build_graph"):
        handle = node.register(blend(runtime))
        node.run(lambda orch, args, config: orch.submit_next_level(
            handle, args_of((views[0], IN), (views[1], IN), (views[2], OUT), scalars=[HALF]), worker=1))
        assert np.frombuffer(data[2].shm.buf, "f4").tolist() == [2] * 16
        node.unregister(handle)
        data[2].shm.buf[:] = bytes(64)


def test_memory_of_a_chip_of_a_node(node):
    """Allocated once, filled once, used by tasks of several runs."""
    host, result = node.create_buffer(256), node.create_buffer(256)
    np.frombuffer(host.shm.buf, "f4")[:] = np.arange(64)
    handle, kept = node.register(blend()), {}

    def first(orch, args, config):
        kept["weights"] = orch.alloc_child_tensor(1, (64,), DataType.FLOAT32)
        orch.copy_to(kept["weights"], host)
        between = orch.alloc((64,), DataType.FLOAT32)
        x = host.tensor((64,), DataType.FLOAT32)
        orch.submit_next_level(handle, args_of((kept["weights"], IN), (x, IN), (between, OUT), scalars=[HALF]), worker=1)
        orch.submit_next_level(handle, args_of((between, IN), (between, IN), (kept["weights"].tensor((64,), 0), OUT),
                                               scalars=[scalar_to_uint64(1.0)]), worker=1)

    def second(orch, args, config):
        orch.copy_from(result, kept["weights"])
        orch.free(kept["weights"])

    node.run(first)
    node.run(second)
    assert np.frombuffer(result.shm.buf, "f4").tolist() == [2 * value for value in range(64)]


def test_chips_sum_over_domains_that_overlap():
    """Two domains over three chips: ranks follow their order, windows do not meet."""
    count = 32
    with Worker(level=3, platform="a2a3sim", runtime=RUNTIME, device_ids=[0, 1, 2]) as worker:
        handle = worker.register(sum_ranks())
        worker.init()
        x = [MiniTensor(np.full(count, 10.0**chip, "f4")).share_memory_() for chip in range(3)]
        outs = {(name, chip): MiniTensor.zeros(count).share_memory_()
                for name, chips in (("front", (1, 0)), ("back", (2, 1))) for chip in chips}

        def task(name, domain, chip):
            context = domain[chip]
            return args_of((x[chip], IN), (outs[name, chip], OUT),
                           (context.buffers["inbox"].tensor((context.domain_size * count,), DataType.FLOAT32), INOUT),
                           (context.buffers["signal"].tensor((1,), DataType.INT32), INOUT), scalars=[context.device_ctx])

        def orchestration(orch, args, config):
            specs = [CommBufferSpec(name="inbox", dtype="float32", count=2 * count, nbytes=8 * count),
                     CommBufferSpec(name="signal", dtype="int32", count=1, nbytes=64)]
            with orch.allocate_domain(name="front", workers=[1, 0], window_size=4096, buffers=specs) as front, \
                    orch.allocate_domain(name="back", workers=[2, 1], window_size=4096, buffers=specs) as back:
                assert (front[1].domain_rank, back[1].domain_rank, back[2].domain_rank) == (0, 1, 0)
                assert front[1].local_window_base != back[1].local_window_base
                orch.submit_next_level_group(handle, [task("front", front, chip) for chip in (1, 0)], config,
                                             workers=[1, 0])
                orch.submit_next_level_group(handle, [task("back", back, chip) for chip in (2, 1)], config,
                                             workers=[2, 1])

        for _ in range(2):
            worker.run(orchestration)
            for (name, chip), out in outs.items():
                assert out.array.tolist() == [11 if name == "front" else 110] * count, (name, chip)
                out.array[:] = 0


def test_a_task_that_fails_is_a_runtime_error(node, capfd):
    handle = node.register(build(HERE / "compat" / "report.cpp", [], entry="report_entry", signature=(D.OUT,)))
    out = node.create_buffer(16)
    with pytest.raises(RuntimeError, match="run failed with code -42"):
        node.run(lambda orch, args, config: orch.submit_next_level(
            handle, args_of((out.tensor((4,), 0), OUT), scalars=[42]), worker=1))
    node.run(lambda orch, args, config: orch.submit_next_level(
        handle, args_of((out.tensor((4,), 0), OUT), scalars=[0]), worker=1))
    assert np.frombuffer(out.shm.buf, "f4")[0] == 5


def test_runs_from_several_threads_share_a_node(node):
    handle = node.register(blend())
    a = node.create_buffer(64)
    outs = [node.create_buffer(64) for _ in range(4)]
    np.frombuffer(a.shm.buf, "f4")[:] = 3
    x = a.tensor((16,), 0)

    def run(index):
        node.run(lambda orch, args, config: orch.submit_next_level(
            handle, args_of((x, IN), (x, IN), (outs[index].tensor((16,), 0), OUT), scalars=[HALF]), worker=index % 2))

    threads = [threading.Thread(target=run, args=(index,)) for index in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.frombuffer(out.shm.buf, "f4").tolist() == [3] * 16 for out in outs)


# The example project, as it stands


@pytest.mark.parametrize("devices", ["0", "0-1", "1-3"])
def test_the_program_of_the_example_project(devices):
    done = subprocess.run([sys.executable, "-m", "baton.compat", str(PROJECT / "main.py"), "-d", devices],
                          capture_output=True, text=True, timeout=220)
    assert done.returncode == 0 and "all ranks agree" in done.stdout, done.stdout + done.stderr
