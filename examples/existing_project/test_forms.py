"""Scene tests that change what the base class does, written for the public runtime."""

import ctypes

import numpy as np

from simpler.task_interface import ArgDirection as D
from simpler.task_interface import DataType, TaskArgs, TensorArgType, scalar_to_uint64
from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, TensorArg, scene_test
from simpler_setup.scene_test import (_build_chip_task_args, _build_l2_ref_args, _compare_outputs, _outputs_dir,
                                      _rehosted_buffer_for, _rehosted_ref, _sanitize_for_filename)

SIMULATORS = ["a2a3sim", "a5sim"]
BLEND = {
    "orchestration": {"source": "orchestration/blend.cpp", "function_name": "aicpu_orchestration_entry",
                      "config_name": "aicpu_orchestration_config", "signature": [D.IN, D.IN, D.OUT, D.SCALAR]},
    "incores": [
        {"func_id": 0, "name": "add", "source": "kernels/add.cpp", "core_type": "aiv"},
        {"func_id": 1, "name": "scale", "source": "kernels/scale.cpp", "core_type": "aiv"},
    ],
}


class Blend(SceneTestCase):
    def generate_args(self, params):
        count = params.get("count", 64)
        return TaskArgsBuilder(TensorArg("a", np.arange(count, dtype=np.float32)),
                               TensorArg("b", np.full(count, 2.0, np.float32)),
                               TensorArg("out", np.zeros(count, np.float32)), Scalar("factor", ctypes.c_float(0.5)))

    def compute_golden(self, args, params):
        args.out[:] = (args.a + args.b) * args.factor.value


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestCompared(Blend):
    """With tolerances and a comparison of its own; a case without a golden, and one that is manual on one platform."""

    CALLABLE = BLEND
    RTOL, ATOL = 1e-3, 1e-3
    CASES = [{"name": "close", "platforms": SIMULATORS, "params": {"count": 100}},
             {"name": "unseen", "platforms": SIMULATORS, "skip_golden": True},
             {"name": "large", "platforms": SIMULATORS, "manual": ["a5sim"], "params": {"count": 5000}}]

    def compare_outputs(self, test_args, golden, names, params):
        assert names == ["out"] and params["count"] == len(golden.out)
        _compare_outputs(test_args, golden, names, self.RTOL, self.ATOL)
        super().compare_outputs(test_args, golden, names, params)


@scene_test(level=2, runtime="host_build_graph")
class TestRunByItself(Blend):
    """A test_run of its own: it chooses cases, registers and compares itself."""

    CALLABLE = BLEND
    CASES = [{"name": "one", "platforms": SIMULATORS, "config": {"aicpu_thread_num": 3}}]

    def _build_config(self, config, *args, **kwargs):
        made = super()._build_config(config, *args, **kwargs)
        made.runtime_env.ring_dep_pool = 8
        return made

    def test_run(self, st_platform, st_worker, request):
        assert not self._effective_enable_dep_gen(request)
        handle = st_worker.register(self.build_callable(st_platform))
        for case in self._matching_cases(st_platform, request):
            args = self.generate_args(case.get("params", {}))
            golden = args.clone()
            self.compute_golden(golden, {})
            for build in (_build_l2_ref_args, _build_chip_task_args):
                args.out[:] = 0
                made, names = build(args, BLEND["orchestration"]["signature"], st_worker)
                st_worker.run(handle, made, self._build_config(case["config"]))
                self.compare_outputs(args, golden, names, {})
        st_worker.unregister(handle)
        assert _outputs_dir().name == "outputs" and _sanitize_for_filename("a b/c") == "a_b_c"


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestTwice(Blend):
    """Around what the base class does with a case."""

    CALLABLE = BLEND
    CASES = [{"name": "one", "platforms": SIMULATORS}]

    def _run_and_validate_l2(self, *args, **kwargs):
        super()._run_and_validate_l2(*args, **kwargs)
        super()._run_and_validate_l2(*args, **kwargs)


def blend_by_name(orch, callables, args, config):
    made = TaskArgs()
    for name, tag in (("a", TensorArgType.INPUT), ("b", TensorArgType.INPUT), ("out", TensorArgType.OUTPUT_EXISTING)):
        made.add_tensor(_rehosted_ref(args, name), tag)
    made.add_scalar(scalar_to_uint64(args.factor))
    assert _rehosted_buffer_for(args, args.out[3:5]).nbytes == args.out.nbytes
    assert callables.blend_sig == [D.IN, D.IN, D.OUT, D.SCALAR]
    orch.submit_next_level(callables.blend, made, config, worker=0)


@scene_test(level=3, runtime="tensormap_and_ringbuffer")
class TestByName(Blend):
    """Tensors of the test by their names, in memory that the node shares with its chips."""

    CALLABLE = {"orchestration": blend_by_name, "callables": [{"name": "blend", **BLEND}]}
    CASES = [{"name": "one", "platforms": SIMULATORS}]


@scene_test(level=3, runtime="tensormap_and_ringbuffer")
class TestOnANode(Blend):
    """Without an orchestration in CALLABLE: the test runs one itself, with the handles of its class."""

    CALLABLE = {"callables": [{"name": "blend", **BLEND}]}
    CASES = [{"name": "one", "platforms": SIMULATORS}]

    def test_run(self, st_platform, st_worker, request):
        handle = self._st_chip_handles["blend"]
        buffers = [st_worker.create_buffer(4 * 64) for _ in range(3)]
        a, b, out = (np.frombuffer(buffer.shm.buf, np.float32) for buffer in buffers)
        a[:], b[:] = np.arange(64), 2

        def orchestration(orch, args, config):
            made = TaskArgs()
            for buffer, tag in zip(buffers, (TensorArgType.INPUT, TensorArgType.INPUT, TensorArgType.OUTPUT_EXISTING)):
                made.add_tensor(buffer.tensor((64,), DataType.FLOAT32), tag)
            made.add_scalar(int(np.float32(0.5).view(np.uint32)))
            orch.submit_next_level(handle, made, config, worker=0)

        st_worker.run(orchestration)
        assert np.array_equal(out, (a + b) / 2)


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
