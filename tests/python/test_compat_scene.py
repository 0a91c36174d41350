"""Scene tests of baton.compat: arguments, selection, the order of things, memory of level 3."""

import ctypes
import os
import pathlib

import numpy as np
import pytest

from baton.compat import NotOffered, install
from mini_tensor import MiniTensor

install()

from simpler.task_interface import ArgDirection as D
from simpler.task_interface import CallConfig, DataType, TensorArgType
from simpler.worker import Worker
from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, TensorArg, scene_test
from simpler_setup.scene_test import (_build_chip_task_args, _build_l2_ref_args, _build_l3_task_args, _compare_outputs,
                                      _outputs_dir, _rehosted_buffer_for, _rehosted_ref, _rehosted_ref_for)

from baton.compat.scene.options import SceneOptions
from baton.compat.scene.rehost import rehost
from baton.compat.scene.workers import worker_for
from baton.compat.scene.selection import device_count, matching_cases


class Request:
    """As much of pytest's request as a scene test needs."""

    def __init__(self, **options):
        self.config = self
        self.options = {"--case": [], "--manual": "exclude", "--rounds": 1, "--skip-golden": False, **options}

    def getoption(self, name, default=None):
        return self.options.get(name, default)


class Chip:
    """A worker that runs a function of the test instead of a callable of a chip."""

    def __init__(self, work):
        self.work, self.configs, self.registered = work, [], 0

    def register(self, target):
        self.registered += 1
        return target

    def unregister(self, handle):
        self.registered -= 1

    def run(self, handle, args, config):
        self.configs.append(config)
        self.work(args)


def builder():
    return TaskArgsBuilder(TensorArg("x", np.arange(4, dtype="f4")), TensorArg("y", np.zeros(4, "f4")),
                           Scalar("factor", ctypes.c_float(2)), Scalar("count", 4))


def test_arguments_by_name():
    args = builder()
    assert args.tensor_names() == ["x", "y"] and args.count == 4 and args.factor.value == 2
    assert [spec.name for spec in args.specs] == ["x", "y", "factor", "count"]
    copy = args.clone()
    copy.x[:] = 7
    assert args.x.tolist() == [0, 1, 2, 3] and copy.count == 4
    with pytest.raises(AttributeError, match="no argument 'z'; there are x, y"):
        args.z
    with pytest.raises(ValueError, match="tensors come before scalars"):
        TaskArgsBuilder(Scalar("a", 1), TensorArg("x", np.zeros(1, "f4")))
    with pytest.raises(ValueError, match="one name"):
        TaskArgsBuilder(Scalar("a", 1), Scalar("a", 2))


def test_task_args_follow_the_signature():
    args = builder()
    made, outputs = _build_chip_task_args(args, [D.IN, D.INOUT, D.SCALAR, D.SCALAR])
    assert outputs == ["y"] and [made.tag(i) for i in (0, 1)] == [TensorArgType.INPUT, TensorArgType.INOUT]
    assert [made.scalar(i) for i in (0, 1)] == [0x40000000, 4]
    made, outputs = _build_l2_ref_args(args, [D.IN, D.OUT], Worker(2))  # scalars need not be told
    assert made.tag(1) == TensorArgType.OUTPUT_EXISTING and made.scalar_count() == 2
    with pytest.raises(ValueError, match="1 tensors and the arguments have 2"):
        _build_chip_task_args(args, [D.IN])


def test_comparison_shows_what_differs():
    one, other = builder(), builder()
    other.y[2] = 0.5
    _compare_outputs(one, other, ["x"])
    with pytest.raises(AssertionError, match="y: 1 of 4 elements"):
        _compare_outputs(one, other, ["x", "y"])
    _compare_outputs(one, other, ["y"], atol=1)
    bits = TaskArgsBuilder(TensorArg("n", MiniTensor(np.array([1, 100000], "i4"))))
    off = TaskArgsBuilder(TensorArg("n", MiniTensor(np.array([1, 100001], "i4"))))
    _compare_outputs(bits, off, ["n"], rtol=1e-4)
    assert _outputs_dir().name == "outputs"
    one.y[1] = other.y[1] = np.nan
    with pytest.raises(AssertionError, match="y: 1 of 4 elements are not numbers"):
        _compare_outputs(one, other, ["y"], atol=1)


@scene_test(level=2, runtime="host_build_graph")
class Doubled(SceneTestCase):
    CALLABLE = {"orchestration": {"source": "orchestration/double.cpp", "function_name": "f", "signature": [D.IN, D.OUT]},
                "incores": [{"func_id": 0, "source": pathlib.Path("/kernels/double.cpp"), "core_type": "aiv"}]}
    CASES = [{"name": "small", "platforms": ["a2a3sim", "a5sim"], "params": {"n": 4},
              "config": {"aicpu_thread_num": 3, "runtime_env": {"ring_heap": 4096}}},
             {"name": "large", "platforms": ["a2a3sim"], "manual": True, "params": {"n": 400}},
             {"name": "odd", "platforms": ["a2a3sim", "a5sim"], "manual": ["a5sim"], "params": {"n": 3}},
             {"name": "chip", "platforms": ["a2a3"]}]
    order: list = []

    @classmethod
    def build_callable(cls, platform):
        return f"callable for {platform}"

    def generate_args(self, params):
        self.order.append("generate")
        return TaskArgsBuilder(TensorArg("x", np.ones(params["n"], "f4")), TensorArg("y", np.zeros(params["n"], "f4")))

    def compute_golden(self, args, params):
        self.order.append("golden")
        args.y[:] = 2 * args.x

    def compare_outputs(self, test_args, golden, names, params):
        self.order.append(("compare", names, params["n"]))
        super().compare_outputs(test_args, golden, names, params)


def double(args):
    x, y = (np.frombuffer(args.tensor(i).memory.bytes_array(), "f4") for i in (0, 1))
    assert not y.any()  # each round starts from the initial values
    y[:] = 2 * x
    Doubled.order.append("run")


def test_sources_are_found_beside_the_file():
    described = Doubled.CALLABLE
    assert described["orchestration"]["source"] == os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                                "orchestration/double.cpp")
    assert described["incores"][0]["source"] == "/kernels/double.cpp"
    assert Doubled._st_level == 2 and Doubled._st_runtime == "host_build_graph"


def test_a_scene_test_runs_its_cases_in_order():
    Doubled.order.clear()
    chip = Chip(double)
    Doubled().test_run("a2a3sim", chip, Request())
    once = ["generate", "golden", "run"]
    assert Doubled.order == [*once, ("compare", ["y"], 4), *once, ("compare", ["y"], 3)]
    assert chip.configs[0].aicpu_thread_num == 3 and chip.configs[0].runtime_env.ring_heap == [4096] * 4
    assert chip.registered == 0


def test_rounds_and_no_golden():
    Doubled.order.clear()
    Doubled().test_run("a2a3sim", Chip(double), Request(**{"--rounds": 3, "--case": ["small"]}))
    compared = ("compare", ["y"], 4)
    assert Doubled.order == ["generate", "golden", "run", compared, "run", compared, "run", compared]
    Doubled.order.clear()
    Doubled().test_run("a5sim", Chip(double), Request(**{"--skip-golden": True}))
    assert Doubled.order == ["generate", "run"]


def test_a_wrong_result_fails_and_names_the_case():
    with pytest.raises(AssertionError, match="y: 4 of 4 elements") as failure:
        Doubled().test_run("a5sim", Chip(lambda args: None), Request())
    assert getattr(failure.value, "__notes__", ["in case 'small'"])[0].startswith("in case 'small'")
    with pytest.raises(AssertionError, match="no case for a5sim"):
        Doubled().test_run("a5sim", Chip(double), Request(**{"--case": ["large"]}))


@pytest.mark.parametrize("platform, wanted, manual, names", [
    ("a2a3sim", [], "exclude", ["small", "odd"]), ("a2a3sim", [], "include", ["small", "large", "odd"]),
    ("a2a3sim", [], "only", ["large"]), ("a5sim", [], "exclude", ["small"]), ("a5sim", [], "only", ["odd"]),
    ("a2a3sim", ["large"], "include", ["large"]), ("a2a3sim", ["Doubled::odd", "small"], "exclude", ["small", "odd"]),
    ("a2a3sim", ["Doubled::"], "exclude", ["small", "odd"]), ("a2a3sim", ["Other::"], "include", []),
    ("a2a3", [], "exclude", ["chip"]),
])
def test_which_cases_run(platform, wanted, manual, names):
    assert [case["name"] for case in matching_cases(Doubled, platform, wanted, manual)] == names


def test_devices_of_a_test():
    assert device_count(Doubled, Doubled.CASES) == 1

    @scene_test(level=3, runtime="tensormap_and_ringbuffer")
    class Node(SceneTestCase):
        CASES = [{"name": "a", "config": {"device_count": 2}}, {"name": "b", "config": {"device_count": 4}}, {"name": "c"}]

    assert device_count(Node, Node.CASES) == 4 and device_count(Node, Node.CASES[2:]) == 1
    with pytest.raises(NotOffered, match="level=4"):
        scene_test(level=4, runtime="tensormap_and_ringbuffer")


def test_files_that_nobody_writes_are_refused_by_name():
    for name in ("--enable-chip-swimlane", "--enable-pmu", "--enable-dep-gen", "--enable-scope-stats", "--dump-args"):
        with pytest.raises(NotOffered, match=name):
            SceneOptions.read(Request(**{name: "1"}).getoption)


def test_what_tests_override():
    class Twice(Doubled):
        def _matching_cases(self, *args, **kwargs):
            return [case for case in super()._matching_cases(*args, **kwargs) if case["name"] == "odd"]

        def _build_config(self, config, *args, **kwargs):
            made = super()._build_config(config, *args, **kwargs)
            made.aicpu_thread_num = 9
            return made

        def _run_and_validate_l2(self, *args, **kwargs):
            super()._run_and_validate_l2(*args, **kwargs)
            super()._run_and_validate_l2(*args, **kwargs)

        def test_run(self, st_platform, st_worker, request):
            super().test_run(st_platform, st_worker, request)
            assert not self._effective_enable_dep_gen(request)

    Doubled.order.clear()
    chip = Chip(double)
    Twice().test_run("a2a3sim", chip, Request())
    assert Doubled.order == ["generate", "golden", "run", ("compare", ["y"], 3)] * 2
    assert [config.aicpu_thread_num for config in chip.configs] == [9, 9]


# Level 3


@pytest.fixture(scope="module")
def node():
    with Worker(3, device_ids=[0], num_sub_workers=1) as worker:
        worker.init()
        yield worker


def test_tensors_move_to_memory_of_the_worker(node):
    args = TaskArgsBuilder(TensorArg("x", np.arange(12, dtype="f4").reshape(3, 4)), TensorArg("n", np.zeros(2, "i8")),
                           Scalar("k", 1))
    before = args.x
    rehost(args, node)
    assert args.x.tolist() == before.tolist() and args.x is not before
    buffer = _rehosted_buffer_for(args, args.x[1])
    assert buffer.nbytes == 48 and np.frombuffer(buffer.shm.buf, "f4")[5] == 5
    args.x[1, 1] = 50
    assert np.frombuffer(buffer.shm.buf, "f4")[5] == 50
    whole, row, column = _rehosted_ref(args, "x"), _rehosted_ref_for(args, args.x[1]), _rehosted_ref_for(args, args.x[:, 1])
    assert (whole.shapes, whole.byte_offset) == ((3, 4), 0)
    assert (row.shapes, row.byte_offset, row.dtype) == ((4,), 16, DataType.FLOAT32)
    assert (column.shapes, column.strides, column.byte_offset) == ((3,), (4,), 4)
    made, outputs = _build_l3_task_args(args, [D.IN, D.OUT, D.SCALAR])
    assert outputs == ["n"] and made.tensor(0).memory is buffer and made.scalar(0) == 1
    with pytest.raises(ValueError, match="none of those"):
        _rehosted_ref_for(args, before)


def test_tensors_that_cannot_move(node):
    x = np.arange(8, dtype="f4")
    with pytest.raises(ValueError, match="'a' and 'b' overlap"):
        rehost(TaskArgsBuilder(TensorArg("a", x[:5]), TensorArg("b", x[4:])), node)
    with pytest.raises(ValueError, match="'a' has strides"):
        rehost(TaskArgsBuilder(TensorArg("a", x[::2])), node)
    rehost(TaskArgsBuilder(TensorArg("a", x[:4]), TensorArg("b", x[4:])), node)


def fill(args):
    np.frombuffer(args[0].buffer, "f4")[:] = args.scalar(0)


def orchestrate(orch, callables, args, config):
    assert isinstance(config, CallConfig)
    made, _ = _build_l3_task_args(args, [D.OUT])
    callables.keep(made)
    orch.submit_sub(callables.fill, made)
    with pytest.raises(AttributeError, match="no callable 'other'; there are fill"):
        callables.other


@scene_test(level=3, runtime="tensormap_and_ringbuffer")
class Filled(SceneTestCase):
    CALLABLE = {"orchestration": orchestrate, "callables": [{"name": "fill", "callable": fill}]}
    CASES = [{"name": "one", "platforms": ["a2a3sim"], "config": {"num_sub_workers": 1}}]

    def generate_args(self, params):
        return TaskArgsBuilder(TensorArg("x", np.zeros(4, "f4")), Scalar("value", 3))

    def compute_golden(self, args, params):
        args.x[:] = 3


def test_a_worker_for_a_class_knows_its_callables():
    with worker_for(Filled, "a2a3sim", [0], Filled.CASES) as worker:
        assert set(Filled._st_chip_handles) == {"fill"}
        worker.run(lambda orch, args, config: orch.submit_sub(Filled._st_chip_handles["fill"], args), _filled_args(worker))
        Filled().test_run("a2a3sim", worker, Request())
    assert Filled._st_chip_handles == {}


def _filled_args(worker):
    args = Filled().generate_args({})
    rehost(args, worker)
    return _build_l3_task_args(args, [D.OUT])[0]


def test_a_scene_of_level_3(node):
    made = []

    class Kept(Filled):
        def compare_outputs(self, test_args, golden, names, params):
            made.extend(test_args.rehosted.values())
            super().compare_outputs(test_args, golden, names, params)

    Kept().test_run("a2a3sim", node, Request(**{"--rounds": 2}))
    assert made and not any(buffer.live for buffer in made)  # cases do not add up their memory


def test_level_3_compares_all_tensors(node):
    class Wrong(Filled):
        def compute_golden(self, args, params):
            args.x[:] = 4

    with pytest.raises(AssertionError, match="x: 4 of 4"):
        Wrong().test_run("a2a3sim", node, Request())

    class Without(Filled):
        CALLABLE = {"callables": Filled.CALLABLE["callables"]}

    with pytest.raises(NotImplementedError, match="no orchestration"):
        Without().test_run("a2a3sim", node, Request())
