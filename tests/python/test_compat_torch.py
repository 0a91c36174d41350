"""baton.compat with tensors of PyTorch, which existing programs use. Skipped where it is not installed."""

import ctypes

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed: scripts/setup --torch")

from baton.compat import install

install()

from simpler.task_interface import ArgDirection as D
from simpler.task_interface import DataType, TaskArgs, TensorArgType, scalar_to_uint64
from simpler.worker import Worker
from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, TensorArg, scene_test
from simpler_setup.goldens.paged_attention import compute_golden, generate_inputs
from simpler_setup.scene_test import _build_l3_task_args, _compare_outputs, _rehosted_ref_for
from simpler_setup.torch_interop import make_tensor_arg

from baton.compat.scene.workers import worker_for
from mini_tensor import args_of
from test_compat_chips import PROJECT, RUNTIME, blend
from test_compat_scene import Request

IN, OUT, INOUT = TensorArgType.INPUT, TensorArgType.OUTPUT_EXISTING, TensorArgType.INOUT


@pytest.fixture
def node():
    with Worker(level=3, device_ids=[0, 1], num_sub_workers=1, platform="a2a3sim", runtime=RUNTIME) as worker:
        worker.init()
        yield worker


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int8", "uint8", "int16", "int32", "int64", "bool"])
def test_tensors_show_their_type_and_their_storage(name):
    whole = torch.zeros(4, 6, dtype=getattr(torch, name))
    row = make_tensor_arg(Worker(2), whole[1])
    assert row.dtype == DataType["UINT8" if name == "bool" else name.upper()]
    assert row.byte_offset == 6 * whole.element_size() and row.memory.nbytes == whole.numel() * whole.element_size()
    with pytest.raises(ValueError, match="contiguous"):
        make_tensor_arg(Worker(2), whole.t())


def test_a_chip_works_on_tensors_in_place():
    with Worker(level=2, platform="a2a3sim", runtime=RUNTIME) as worker:
        handle = worker.register(blend())
        worker.init()
        a, b, out = torch.randn(500), torch.randn(500), torch.zeros(500)
        args = args_of((make_tensor_arg(worker, a), IN), (b, IN), (out, OUT), scalars=[scalar_to_uint64(0.5)])
        worker.run(handle, args)
        assert torch.allclose(out, (a + b) * 0.5)
        buffer = worker.malloc(2000)
        worker.copy_to(buffer, a)
        worker.copy_from(out, buffer)
        assert torch.equal(out, a)


def test_shared_tensors_have_the_results_of_a_node(node):
    handle = node.register(blend())
    a, b, out = torch.ones(64).share_memory_(), torch.full((64,), 3.0), torch.zeros(2, 64).share_memory_()

    def orchestration(orch, args, config):
        for chip in (0, 1):
            orch.submit_next_level(handle, args_of((a, IN), (b, IN), (out[chip], OUT), scalars=[scalar_to_uint64(0.5)]),
                                   worker=chip)

    node.run(orchestration)
    assert torch.equal(out, torch.full((2, 64), 2.0))
    with pytest.raises(ValueError, match="share_memory_"):
        node.run(lambda orch, args, config: orch.submit_next_level(
            handle, args_of((a, IN), (a, IN), (b, OUT), scalars=[0]), worker=0))


def test_memory_of_the_node_as_a_tensor(node):
    handle = node.register(blend())
    buffer = node.create_buffer(3 * 64)
    data = torch.frombuffer(buffer.shm.buf, dtype=torch.float32).reshape(3, 16)
    data[:2] = torch.arange(16)
    node.run(lambda orch, args, config: orch.submit_next_level(
        handle, args_of((make_tensor_arg(node, data[0]), IN), (data[1], IN), (data[2], OUT),
                        scalars=[scalar_to_uint64(0.5)]), worker=1))
    assert torch.equal(data[2], data[0])


class Blend(SceneTestCase):
    def generate_args(self, params):
        torch.manual_seed(3)
        return TaskArgsBuilder(TensorArg("a", torch.randn(params["count"])), TensorArg("b", torch.randn(params["count"])),
                               TensorArg("out", torch.zeros(params["count"])), Scalar("factor", ctypes.c_float(0.5)))

    def compute_golden(self, args, params):
        args.out[:] = (args.a + args.b) * args.factor.value


SOURCES = {"orchestration": {"source": PROJECT / "orchestration" / "blend.cpp", "function_name": "aicpu_orchestration_entry",
                             "signature": [D.IN, D.IN, D.OUT]},
           "incores": [{"func_id": 0, "source": PROJECT / "kernels" / "add.cpp", "core_type": "aiv"},
                       {"func_id": 1, "source": PROJECT / "kernels" / "scale.cpp", "core_type": "aiv"}]}


@scene_test(level=2, runtime=RUNTIME)
class OnAChip(Blend):
    CALLABLE = SOURCES
    CASES = [{"name": "one", "platforms": ["a2a3sim"], "params": {"count": 300}}]


def orchestrate(orch, callables, args, config):
    half = len(args.a) // 2
    for chip in (0, 1):
        part = slice(chip * half, (chip + 1) * half)
        made = TaskArgs()
        for name, tag in (("a", IN), ("b", IN), ("out", OUT)):
            made.add_tensor(_rehosted_ref_for(args, getattr(args, name)[part]), tag)
        made.add_scalar(scalar_to_uint64(args.factor))
        orch.submit_next_level(callables.blend, made, config, worker=chip)
    again, outputs = _build_l3_task_args(args, callables.blend_sig)
    assert outputs == ["out"] and again.tensor_count() == 3


@scene_test(level=3, runtime=RUNTIME)
class OnTwoChips(Blend):
    CALLABLE = {"orchestration": orchestrate, "callables": [{"name": "blend", **SOURCES}]}
    CASES = [{"name": "one", "platforms": ["a2a3sim"], "params": {"count": 300}, "config": {"device_count": 2}}]


@pytest.mark.parametrize("test_class", [OnAChip, OnTwoChips])
def test_scenes_with_tensors(test_class):
    with worker_for(test_class, "a2a3sim", [0, 1], test_class.CASES) as worker:
        test_class().test_run("a2a3sim", worker, Request(**{"--rounds": 2}))


def test_bfloat16_is_compared_as_numbers():
    one = TaskArgsBuilder(TensorArg("x", torch.tensor([1.0, -2.5]).bfloat16()))
    other = TaskArgsBuilder(TensorArg("x", torch.tensor([1.0, -2.0]).bfloat16()))
    _compare_outputs(one, one.clone(), ["x"])
    with pytest.raises(AssertionError, match=r"got -2.5 +expected -2.0"):
        _compare_outputs(one, other, ["x"])


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_paged_attention(dtype):
    """Against attention over keys and values that are contiguous."""
    params = {"batch": 3, "num_heads": 4, "kv_head_num": 2, "head_dim": 16, "block_size": 8, "context_lens": [1, 8, 21],
              "max_model_len": 64, "dtype": dtype}
    inputs = generate_inputs(params)
    assert [name for name, _ in inputs] == ["query", "key_cache", "value_cache", "block_table", "context_lens", "out",
                                            "scale"]
    tensors = dict(inputs)
    assert tensors["out"].dtype == torch.float32 and tensors["block_table"].shape == (3, 8)
    tensors["scale"] = ctypes.c_float(0.25)
    compute_golden(tensors, params)
    for i, length in enumerate(params["context_lens"]):
        for head in range(4):
            rows = [(tensors["block_table"][i, j // 8].item(), j % 8) for j in range(length)]
            keys = torch.stack([tensors["key_cache"][page, row, head // 2] for page, row in rows]).double()
            values = torch.stack([tensors["value_cache"][page, row, head // 2] for page, row in rows]).double()
            weights = torch.softmax(keys @ tensors["query"][i, head].double() * 0.25, dim=0)
            assert torch.allclose(tensors["out"][i, head].double(), weights @ values, atol=1e-5)
    with pytest.raises(KeyError, match="block_size"):
        generate_inputs({key: value for key, value in params.items() if key != "block_size"})
