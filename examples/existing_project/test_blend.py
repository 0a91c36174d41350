"""Scene tests, written for the public runtime: a chip, and a node of two."""

import ctypes

import numpy as np

from simpler.task_interface import ArgDirection as D
from simpler.task_interface import CommBufferSpec, DataType, TaskArgs, TensorArgType
from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, TensorArg, scene_test
from simpler_setup.scene_test import _build_l3_task_args, _rehosted_ref_for

BLEND = {
    "orchestration": {"source": "orchestration/blend.cpp", "function_name": "aicpu_orchestration_entry",
                      "signature": [D.IN, D.IN, D.OUT]},
    "incores": [
        {"func_id": 0, "source": "kernels/add.cpp", "core_type": "aiv", "signature": [D.IN, D.IN, D.OUT]},
        {"func_id": 1, "source": "kernels/scale.cpp", "core_type": "aiv", "signature": [D.IN, D.OUT, D.SCALAR]},
    ],
}


def blend_args(count):
    a = np.arange(count, dtype=np.float32)
    return TaskArgsBuilder(TensorArg("a", a), TensorArg("b", np.full(count, 2.0, np.float32)),
                           TensorArg("out", np.zeros(count, np.float32)), Scalar("factor", ctypes.c_float(0.5)))


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestBlend(SceneTestCase):
    CALLABLE = BLEND
    CASES = [
        {"name": "one_tile", "platforms": ["a2a3sim", "a5sim", "a2a3"], "params": {"count": 1000}},
        {"name": "many_tiles", "platforms": ["a2a3sim"], "params": {"count": 5000},
         "config": {"aicpu_thread_num": 4, "runtime_env": {"ring_task_window": 64}}},
        {"name": "on_request", "platforms": ["a2a3sim"], "manual": True, "params": {"count": 100000}},
    ]

    def generate_args(self, params):
        return blend_args(params["count"])

    def compute_golden(self, args, params):
        args.out[:] = (args.a + args.b) * args.factor.value


@scene_test(level=2, runtime="host_build_graph")
class TestBlendAsGraph(TestBlend):
    """The same, with the graph built before it runs."""

    CASES = [{"name": "one_tile", "platforms": ["a2a3sim", "a5sim"], "params": {"count": 1000}}]


def orchestrate(orch, callables, args, config):
    """Two chips blend a half each, then add up their results."""
    count = len(args.a) // 2
    specs = [CommBufferSpec(name="inbox", dtype="float32", count=2 * count, nbytes=8 * count),
             CommBufferSpec(name="signal", dtype="int32", count=1, nbytes=4)]
    with orch.allocate_domain(name="pair", workers=[0, 1], window_size=8 * count + 64, buffers=specs) as domain:
        for chip in (0, 1):
            half = slice(chip * count, (chip + 1) * count)
            blend = TaskArgs()
            blend.add_tensor(_rehosted_ref_for(args, args.a[half]), TensorArgType.INPUT)
            blend.add_tensor(_rehosted_ref_for(args, args.b[half]), TensorArgType.INPUT)
            blend.add_tensor(_rehosted_ref_for(args, args.out[half]), TensorArgType.OUTPUT_EXISTING)
            blend.add_scalar(args.factor)
            orch.submit_next_level(callables.blend, blend, config, worker=chip)
        sums = []
        for chip in (0, 1):
            buffers = domain[chip].buffers
            one = TaskArgs()
            one.add_tensor(_rehosted_ref_for(args, args.out[chip * count:(chip + 1) * count]), TensorArgType.INPUT)
            one.add_tensor(_rehosted_ref_for(args, args.sums[chip]), TensorArgType.OUTPUT_EXISTING)
            one.add_tensor(buffers["inbox"].tensor((2 * count,), DataType.FLOAT32), TensorArgType.INOUT)
            one.add_tensor(buffers["signal"].tensor((1,), DataType.INT32), TensorArgType.INOUT)
            one.add_scalar(domain[chip].device_ctx)
            sums.append(one)
        orch.submit_next_level_group(callables.sum_ranks, sums, config, workers=[0, 1])
    told = TaskArgs()
    told.add_tensor(_rehosted_ref_for(args, args.sums), TensorArgType.INPUT)
    orch.submit_sub(callables.tell, told)


def tell(args):
    print("sums of", args[0].shapes)


@scene_test(level=3, runtime="tensormap_and_ringbuffer")
class TestBlendOnTwoChips(SceneTestCase):
    CALLABLE = {
        "orchestration": orchestrate,
        "callables": [
            {"name": "blend", **BLEND},
            {"name": "sum_ranks",
             "orchestration": {"source": "orchestration/sum_ranks.cpp", "function_name": "sum_ranks_entry",
                               "signature": [D.IN, D.OUT, D.INOUT, D.INOUT, D.SCALAR]},
             "incores": [{"func_id": 0, "source": "kernels/sum_ranks.cpp", "core_type": "aiv"}]},
            {"name": "tell", "callable": tell},
        ],
    }
    CASES = [{"name": "pair", "platforms": ["a2a3sim", "a5sim"], "params": {"count": 64},
              "config": {"device_count": 2, "num_sub_workers": 1}}]

    def generate_args(self, params):
        made = blend_args(2 * params["count"])
        factor = int(np.float32(0.5).view(np.uint32))
        return TaskArgsBuilder(*made.specs[:3], TensorArg("sums", np.zeros((2, params["count"]), np.float32)),
                               Scalar("factor", factor))

    def compute_golden(self, args, params):
        args.out[:] = (args.a + args.b) * 0.5
        args.sums[:] = args.out.reshape(2, -1).sum(axis=0)


def blend_on(orch, callables, args, config, worker):
    made, outputs = _build_l3_task_args(args, callables.blend_sig, worker)
    assert outputs == ["out"]
    callables.keep(made)
    orch.submit_next_level(callables.blend, made, config, worker=worker)


@scene_test(level=3, runtime="tensormap_and_ringbuffer")
class TestBlendOnTheSecondChip(TestBlend):
    CALLABLE = {"orchestration": lambda orch, callables, args, config: blend_on(orch, callables, args, config, 1),
                "callables": [{"name": "blend", **BLEND}]}
    CASES = [{"name": "second", "platforms": ["a2a3sim", "a5sim"], "params": {"count": 100},
              "config": {"device_count": 2}}]


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
