"""baton.compat.Worker: life, memory, functions of the host and domains. What chips run is in test_compat_chips.py."""

import threading

import numpy as np
import pytest

from baton.compat import NotOffered, install
from mini_tensor import MiniTensor, args_of

install()

from simpler.task_interface import CallConfig, CommBufferSpec, DataType, TaskArgs, TensorArgType
from simpler.worker import Worker
from simpler_setup.torch_interop import make_tensor_arg

from baton.compat.buffer import view_of


@pytest.fixture
def chip():
    with Worker(level=2, platform="a2a3sim", runtime="tensormap_and_ringbuffer", device_id=0) as worker:
        worker.init()
        yield worker


@pytest.fixture
def node():
    with Worker(level=3, platform="a2a3sim", runtime="tensormap_and_ringbuffer", device_ids=[0, 1],
                num_sub_workers=2) as worker:
        worker.init()
        yield worker


# Life


def test_a_worker_is_used_between_init_and_close():
    worker = Worker(2)
    with pytest.raises(RuntimeError, match="needs init"):
        worker.malloc(8)
    with pytest.raises(RuntimeError, match="needs init"):
        worker.run(None)
    worker.init(CallConfig())
    with pytest.raises(RuntimeError, match="twice"):
        worker.init()
    worker.close()
    worker.close()
    for use in (lambda: worker.malloc(8), worker.init, lambda: worker.register(lambda args: None)):
        with pytest.raises(RuntimeError, match="was closed"):
            use()


def test_prewarming_checks_its_configuration():
    config = CallConfig()
    config.runtime_env.ring_heap = 7
    with pytest.raises(ValueError, match="ring_heap"):
        Worker(2).init(prewarm_config=config)


# Memory of a chip


def test_memory_of_a_chip(chip):
    first, second = chip.malloc(64), chip.malloc(64)
    assert first.base and second.base and first.base != second.base and first.nbytes == 64
    assert first.identity != second.identity and first.backend_kind == second.backend_kind and first.shm is None
    x = MiniTensor(np.arange(16, dtype="f4"))
    chip.copy_to(first, x)
    back, start = MiniTensor.zeros(16), bytearray(8)
    chip.copy_from(back, first)
    chip.copy_from(start, first)
    assert np.array_equal(back.array, x.array) and bytes(start) == x.array[:2].tobytes()
    with pytest.raises(ValueError, match="68 bytes of the host, and the buffer has 64"):
        chip.copy_to(first, MiniTensor.zeros(17))
    base = first.base
    chip.free(first)
    assert first.base == base
    with pytest.raises(RuntimeError, match="after it was freed"):
        chip.copy_to(first, x)
    with pytest.raises(RuntimeError, match="after it was freed"):
        chip.free(first)


def test_views_of_a_buffer_stay_inside(chip):
    buffer = chip.malloc(96)
    view = buffer.tensor((4, 4), DataType.FLOAT32, byte_offset=32)
    assert view.shapes == (4, 4) and view.strides == (4, 1)
    assert buffer.tensor([4, 2], 0, strides=[6, 1]).strides == (6, 1)
    for wrong in (dict(shapes=(25,)), dict(shapes=(4, 4), byte_offset=33 * 4), dict(shapes=(4, 2), strides=(8, 1))):
        with pytest.raises(ValueError, match="of memory that has 96"):
            buffer.tensor(dtype=DataType.FLOAT32, **wrong)


def test_views_with_strides():
    root = np.arange(24, dtype="u1")
    root[:] = np.frombuffer(np.arange(12, dtype="u2").tobytes(), "u1")
    worker = Worker(2)
    every_other = worker.make_tensor_arg(root, (2, 3), DataType.UINT16, strides=(6, 2))
    assert np.asarray(view_of(root, every_other)).tolist() == [[0, 2, 4], [6, 8, 10]]
    assert view_of(root, worker.make_tensor_arg(root, (3,), DataType.BFLOAT16, strides=(4,))).dtype == "bfloat16"
    with pytest.raises(ValueError, match="cannot begin at byte 3"):
        view_of(root, worker.make_tensor_arg(root[3:], (2,), DataType.UINT16))


def test_calls_of_the_other_level_are_refused(chip, node):
    with pytest.raises(RuntimeError, match="level 2; this one has level 3"):
        node.malloc(8)
    with pytest.raises(NotOffered, match="create_worker_chip_region"):
        chip.create_worker_chip_region(0)


# Functions of the host


def test_a_closure_gets_tensors_and_scalars(node):
    seen, shared = [], MiniTensor(np.arange(6, dtype="i4").reshape(2, 3)).share_memory_()

    def look(args):
        seen.append((args.tensor_count(), len(args), args[0].shapes, args[0].dtype, bytes(args[0].buffer),
                     args.scalar(0), args.scalar_count(), threading.current_thread().name))

    handle = node.register(look)
    node.run(lambda orch, args, config: orch.submit_sub(handle, args),
             args_of((shared, TensorArgType.INPUT), scalars=[7]))
    assert seen[0][:-1] == (1, 1, (2, 3), DataType.INT32, shared.array.tobytes(), 7, 1)
    empty = node.register(lambda args: seen.append(len(args)))  # after init()
    node.run(lambda orch, args, config: orch.submit_sub(empty))
    assert seen[-1] == 0


def test_results_are_in_shared_tensors_when_a_run_returns(node):
    data = MiniTensor.zeros(8).share_memory_()

    def add_one(args):
        np.frombuffer(args[0].buffer, "f4")[:] += 1

    def double(args):
        np.frombuffer(args[0].buffer, "f4")[:] *= 2

    one, two = node.register(add_one), node.register(double)

    def orchestration(orch, args, config):
        assert isinstance(config, CallConfig)
        orch.submit_sub(one, args_of((data, TensorArgType.INOUT)))
        orch.submit_sub(two, args_of((data[2:6], TensorArgType.INOUT)))  # a part of the same storage: after the first
        orch.submit_sub(one, args_of((make_tensor_arg(node, data), TensorArgType.INOUT)))

    node.run(orchestration)
    assert data.array.tolist() == [2, 2, 3, 3, 3, 3, 2, 2]
    data.array[:] = 10  # between runs the host changes it
    node.run(orchestration)
    assert data.array.tolist() == [12, 12, 23, 23, 23, 23, 12, 12]


def test_a_closure_may_use_the_tensor_that_it_holds(node):
    data, seen = MiniTensor.zeros(4).share_memory_(), []

    def fill(args):
        data.array[:] = 3

    def look(args):
        seen.append(data.array.tolist())

    first, second = node.register(fill), node.register(look)

    def orchestration(orch, args, config):
        orch.submit_sub(first, args_of((data, TensorArgType.OUTPUT_EXISTING)))
        orch.submit_sub(second, args_of((data, TensorArgType.INPUT)))

    node.run(orchestration)
    assert seen == [[3, 3, 3, 3]] and data.array.tolist() == [3, 3, 3, 3]


def test_tensors_that_are_not_shared_are_inputs_only(node):
    seen, plain = [], MiniTensor(np.arange(4, dtype="f4"))
    look = node.register(lambda args: seen.append(np.frombuffer(args[0].buffer, "f4").tolist()))
    node.run(lambda orch, args, config: orch.submit_sub(look, args_of((plain, TensorArgType.INPUT))))
    assert seen == [[0, 1, 2, 3]]
    with pytest.raises(ValueError, match="contiguous"):
        node.run(lambda orch, args, config: orch.submit_sub(look, args_of((plain[::2], TensorArgType.INPUT))))
    with pytest.raises(ValueError, match="share_memory_"):
        node.run(lambda orch, args, config: orch.submit_sub(look, args_of((plain, TensorArgType.INOUT))))


def test_memory_of_the_worker_is_used_in_place(node):
    buffer = node.create_buffer(32)
    view = np.frombuffer(buffer.shm.buf, "f4")
    assert view.tolist() == [0] * 8
    seen = []

    def fill(args):
        np.frombuffer(args[0].buffer, "f4")[:] = 5
        seen.append(view[2:4].tolist())  # the same memory

    handle = node.register(fill)
    node.run(lambda orch, args, config: orch.submit_sub(handle, args_of(
        (buffer.tensor((2,), DataType.FLOAT32, byte_offset=8), TensorArgType.OUTPUT_EXISTING))))
    assert seen == [[5, 5]]
    node.run(lambda orch, args, config: orch.submit_sub(handle, args_of(
        (make_tensor_arg(node, view[6:]), TensorArgType.OUTPUT_EXISTING))))  # by way of a tensor of the host
    assert view.tolist() == [0, 0, 5, 5, 0, 0, 5, 5]
    buffer.close()
    view[:] = 1  # an array over it stays good
    with pytest.raises(RuntimeError, match="after it was freed"):
        buffer.tensor((2,), 0)


def test_exceptions_come_out(node):
    class Mine(Exception):
        pass

    def orchestration(orch, args, config):
        raise Mine("of the orchestration")

    with pytest.raises(Mine, match="of the orchestration"):
        node.run(orchestration)

    def fail(args):
        raise ValueError("of a sub")

    handle = node.register(fail)
    with pytest.raises(RuntimeError, match="of a sub") as failure:
        node.run(lambda orch, args, config: orch.submit_sub(handle))
    assert isinstance(failure.value.__cause__, ValueError) and failure.value.__cause__.__traceback__ is not None
    node.run(lambda orch, args, config: None)  # the worker goes on


def test_bad_configurations_are_refused_at_the_run(node):
    config = CallConfig()
    config.runtime_env.ring_dep_pool = 1
    with pytest.raises(ValueError, match="ring_dep_pool"):
        node.run(lambda orch, args, config: None, None, config)


def test_a_run_may_go_on_by_itself(node):
    begun, go = threading.Event(), threading.Event()

    def wait(args):
        begun.set()
        assert go.wait(30)

    handle = node.register(wait)
    run = node.submit(lambda orch, args, config: orch.submit_sub(handle))
    assert begun.wait(30) and not run.done
    go.set()
    run.result(30)
    assert run.done and run.wait(0)


# Memory in a run


def test_memory_of_chips_and_copies(node):
    source, target = node.create_buffer(64), node.create_buffer(64)
    np.frombuffer(source.shm.buf, "u1")[:] = np.arange(64, dtype="u1")
    kept = []

    def orchestration(orch, args, config):
        memory = orch.alloc_child_tensor(1, (16,), DataType.FLOAT32)
        assert memory.base and memory.nbytes == 64
        orch.copy_to(memory, source)
        orch.copy_from(target, memory)
        with orch.scope():
            assert orch.alloc((4, 4), DataType.FLOAT32).nbytes == 64
        kept.append(memory)

    node.run(orchestration)
    assert bytes(target.shm.buf) == bytes(source.shm.buf)

    def again(orch, args, config):  # it outlives the run
        orch.copy_from(target, kept[0])
        orch.free(kept[0])

    target.shm.buf[:] = bytes(64)
    node.run(again)
    assert bytes(target.shm.buf) == bytes(source.shm.buf)


def test_memory_comes_before_tasks(node):
    handle = node.register(lambda args: None)
    calls = [lambda orch: orch.alloc((1,), 0), lambda orch: orch.alloc_child_tensor(0, (1,), 0),
             lambda orch: orch.copy_to(None, None), lambda orch: orch.copy_from(None, None),
             lambda orch: orch.allocate_domain(name="late", workers=[0], window_size=64)]
    for call in calls:
        def orchestration(orch, args, config, call=call):
            orch.submit_sub(handle)
            call(orch)

        with pytest.raises(RuntimeError, match="before the first task"):
            node.run(orchestration)


# Domains


def test_domains_have_ranks_windows_and_buffers(node):
    host = node.create_buffer(8)

    def orchestration(orch, args, config):
        specs = [CommBufferSpec(name="data", dtype="float32", count=5, nbytes=24),
                 CommBufferSpec(name="flag", dtype="int32", count=1, nbytes=4)]
        with orch.allocate_domain(name="pair", workers=[1, 0], window_size=4096, buffers=specs) as domain:
            assert [domain[worker].domain_rank for worker in (0, 1)] == [1, 0]
            context = domain[1]
            assert (context.domain_size, context.actual_window_size) == (2, 4096)
            assert context.device_ctx and context.buffers["data"].base == context.local_window_base
            assert context.buffers["flag"].base == context.local_window_base + 24  # nbytes counts, not count
            assert context.buffers["data"].nbytes == 24
            with pytest.raises(KeyError, match="not a member"):
                domain[7]
            orch.copy_from(host, context.buffers["data"].tensor((2,), DataType.FLOAT32))
            assert bytes(host.shm.buf) == bytes(8)  # windows start with zeros
            np.frombuffer(host.shm.buf, "f4")[:] = [1, 2]
            orch.copy_to(context.buffers["data"].tensor((2,), DataType.FLOAT32, byte_offset=16), host)
            host.shm.buf[:] = bytes(8)
            orch.copy_from(host, context.buffers["data"].tensor((2,), DataType.FLOAT32, byte_offset=16))
            assert np.frombuffer(host.shm.buf, "f4").tolist() == [1, 2]
            with orch.allocate_domain(name="other", workers=[0], window_size=100) as other:
                assert other[0].actual_window_size == 100
                with pytest.raises(ValueError, match='a domain "pair" already'):
                    orch.allocate_domain(name="pair", workers=[0], window_size=64)
        with pytest.raises(RuntimeError, match="released"):
            domain[0]
        domain.release()
        orch.allocate_domain(name="pair", workers=[0], window_size=64)  # the name is free again; the run ends it

    node.run(orchestration)
    node.run(orchestration)


@pytest.mark.parametrize("wrong, message", [
    (dict(workers=[]), "no workers"), (dict(workers=[0, 0]), "twice"), (dict(workers=[0, 2]), "no worker 2"),
    (dict(buffers=[CommBufferSpec("a", "float32", 1, 40), CommBufferSpec("b", "float32", 1, 40)]), "80 bytes"),
    (dict(buffers=[CommBufferSpec("a", "float32", 1, 4), CommBufferSpec("a", "float32", 1, 4)]), "one name"),
])
def test_wrong_domains_are_refused(node, wrong, message):
    given = {"name": "wrong", "workers": [0, 1], "window_size": 64, **wrong}
    with pytest.raises(ValueError, match=message):
        node.run(lambda orch, args, config: orch.allocate_domain(**given))
