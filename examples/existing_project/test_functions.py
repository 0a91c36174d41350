"""Test functions, written for the public runtime: fixtures, marks, and workers that the tests make themselves."""

import ctypes

import numpy as np
import pytest

from callables import RUNTIME, blend, sum_ranks
from simpler.callable_identity import CallableHandle
from simpler.task_interface import CallConfig, CommBufferSpec, DataType, TaskArgs, TensorArgType, scalar_to_uint64
from simpler.worker import Worker
from simpler_setup.torch_interop import make_tensor_arg

SIMULATORS = ["a2a3sim", "a5sim"]
IN, OUT = TensorArgType.INPUT, TensorArgType.OUTPUT_EXISTING
HALF = scalar_to_uint64(ctypes.c_float(0.5))


def blend_args(a, b, out):
    args = TaskArgs()
    for tensor, tag in ((a, IN), (b, IN), (out, OUT)):
        args.add_tensor(tensor, tag)
    args.add_scalar(HALF)
    return args


@pytest.mark.platforms(SIMULATORS)
@pytest.mark.runtime(RUNTIME)
def test_tensors_of_the_host(st_platform, st_worker):
    handle: CallableHandle = st_worker.register(blend(st_platform))
    assert handle.hashid.startswith("sha256:") and handle.digest
    a, b, out = np.arange(64, dtype=np.float32), np.ones(64, np.float32), np.zeros(64, np.float32)
    named = st_worker.make_tensor_arg(b, (64,), DataType.FLOAT32)
    st_worker.run(handle, blend_args(make_tensor_arg(st_worker, a), named, out), CallConfig())
    assert np.array_equal(out, (a + 1) / 2)
    st_worker.unregister(handle)
    with pytest.raises(RuntimeError):
        st_worker.run(handle, blend_args(a, b, out))


@pytest.mark.platforms(SIMULATORS)
@pytest.mark.runtime(RUNTIME)
def test_too_few_arguments(st_platform, st_worker, capfd):
    handle = st_worker.register(blend(st_platform))
    args = TaskArgs()
    args.add_tensor(np.zeros(4, np.float32), IN)
    with pytest.raises(RuntimeError, match="run failed with code -5"):
        st_worker.run(handle, args)
    said = capfd.readouterr().err
    for text in ("orch_error_code=5", "PTO2_ERROR_INVALID_ARGS", "error detail:", "error hint:"):
        assert text in said
    st_worker.unregister(handle)


@pytest.mark.platforms(SIMULATORS)
@pytest.mark.device_count(1)
def test_memory_of_a_chip_of_a_node(st_platform, st_device_ids):
    """Weights are copied to the chip once, and stay there for later runs."""
    worker = Worker(level=3, platform=st_platform, runtime=RUNTIME, device_ids=st_device_ids[:1])
    handle = worker.register(blend(st_platform))
    worker.init()
    try:
        host, result = worker.create_buffer(256), worker.create_buffer(256)
        np.frombuffer(host.shm.buf, np.float32)[:] = np.arange(64)
        kept = {}

        def load(orch, args, config):
            kept["weights"] = orch.alloc_child_tensor(0, (64,), DataType.FLOAT32)
            between = orch.alloc((64,), DataType.FLOAT32)
            orch.copy_to(kept["weights"], host)
            x = host.tensor((64,), DataType.FLOAT32)
            orch.submit_next_level(handle, blend_args(kept["weights"], x, between), config, worker=0)
            orch.submit_next_level(handle, blend_args(between, x, result.tensor((64,), DataType.FLOAT32)), worker=0)

        def unload(orch, args, config):
            orch.copy_from(host, kept["weights"])
            orch.free(kept["weights"])

        worker.run(load)
        worker.run(unload)
        assert np.array_equal(np.frombuffer(result.shm.buf, np.float32), np.arange(64))
        assert np.array_equal(np.frombuffer(host.shm.buf, np.float32), np.arange(64))
    finally:
        worker.close()


@pytest.mark.platforms(SIMULATORS)
@pytest.mark.device_count(3)
def test_two_domains_over_three_chips(st_platform, device_pool):
    """Chip 1 is in both; the ranks of a domain are in the order of its workers."""
    devices = device_pool.allocate(3)
    count = 16
    with Worker(level=3, platform=st_platform, runtime=RUNTIME, device_ids=devices, num_sub_workers=1) as worker:
        handle = worker.register(sum_ranks(st_platform))
        seen = []
        tell = worker.register(lambda args: seen.append((args.tensor_count(), args.scalar(0))))
        worker.init()
        x = worker.create_buffer(4 * count * 3)
        np.frombuffer(x.shm.buf, np.float32)[:] = np.repeat([1.0, 10.0, 100.0], count)
        outs = {(name, chip): worker.create_buffer(4 * count)
                for name, chips in (("front", (1, 0)), ("back", (2, 1))) for chip in chips}
        specs = [CommBufferSpec(name="inbox", dtype="float32", count=2 * count, nbytes=8 * count),
                 CommBufferSpec(name="signal", dtype="int32", count=1, nbytes=4)]

        def task(name, domain, chip):
            context = domain[chip]
            args = TaskArgs()
            args.add_tensor(x.tensor((count,), DataType.FLOAT32, byte_offset=4 * count * chip), IN)
            args.add_tensor(outs[name, chip].tensor((count,), DataType.FLOAT32), OUT)
            args.add_tensor(context.buffers["inbox"].tensor((2 * count,), DataType.FLOAT32), TensorArgType.INOUT)
            args.add_tensor(context.buffers["signal"].tensor((1,), DataType.INT32), TensorArgType.INOUT)
            args.add_scalar(context.device_ctx)
            return args

        def orchestration(orch, args, config):
            front = orch.allocate_domain(name="front", workers=[1, 0], window_size=4096, buffers=specs)
            back = orch.allocate_domain(name="back", workers=[2, 1], window_size=4096, buffers=specs)
            assert (front[1].domain_rank, back[1].domain_rank, back[1].domain_size) == (0, 1, 2)
            assert back[2].actual_window_size == 4096 and front[1].local_window_base != back[1].local_window_base
            with pytest.raises(KeyError):
                front[2]
            orch.submit_next_level_group(handle, [task("front", front, chip) for chip in (1, 0)], config, workers=[1, 0])
            orch.submit_next_level_group(handle, [task("back", back, chip) for chip in (2, 1)], config, workers=[2, 1])
            front.release()
            back.release()
            told = TaskArgs()
            told.add_tensor(outs["back", 1].tensor((count,), DataType.FLOAT32), IN)
            told.add_scalar(7)
            orch.submit_sub(tell, told)

        worker.run(orchestration)
        for (name, chip), out in outs.items():
            expected = 11 if name == "front" else 110
            assert np.array_equal(np.frombuffer(out.shm.buf, np.float32), np.full(count, expected)), (name, chip)
        assert seen == [(1, 7)]
    device_pool.release(devices)


@pytest.mark.platforms(["a2a3sim"])
@pytest.mark.manual
def test_on_request():
    assert make_tensor_arg is not None


@pytest.mark.platforms(["a2a3"])
@pytest.mark.sdma
def test_for_a_chip(st_worker):
    raise AssertionError("this is for the platform a2a3")
