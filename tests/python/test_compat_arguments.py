"""baton.compat: arguments, configurations, callables, and the names that programs import."""

import ctypes
import fractions
import struct
import subprocess
import sys

import numpy as np
import pytest

from baton.compat import NotOffered, install
from mini_tensor import MiniTensor

install()

from simpler.task_interface import (ArgDirection, CallConfig, ChipCallable, CommBufferSpec, CoreCallable, DataType,
                                    TaskArgs, TensorArgType, scalar_to_uint64)
from simpler.worker import Worker
from simpler_setup.torch_interop import make_tensor_arg


def test_numbers_of_types_are_those_of_the_public_runtime():
    assert [member.name for member in DataType] == ["FLOAT32", "FLOAT16", "INT32", "INT16", "INT8", "UINT8", "BFLOAT16",
                                                    "INT64", "UINT64", "UINT16", "UINT32"]
    assert [int(member) for member in DataType] == list(range(11))
    assert [(member.name, int(member)) for member in ArgDirection] == [("SCALAR", 0), ("IN", 1), ("OUT", 2), ("INOUT", 3)]
    assert [member.name for member in TensorArgType] == ["INPUT", "OUTPUT", "INOUT", "OUTPUT_EXISTING", "NO_DEP"]


@pytest.mark.parametrize("value, bits", [
    (1.5, struct.unpack("<I", struct.pack("<f", 1.5))[0]),
    (ctypes.c_float(-2), struct.unpack("<I", struct.pack("<f", -2))[0]),
    (ctypes.c_double(0.1), struct.unpack("<Q", struct.pack("<d", 0.1))[0]),
    (7, 7), (-1, 2**64 - 1), (2**64 + 3, 3), (ctypes.c_int32(-2), 2**64 - 2), (ctypes.c_uint64(2**63), 2**63),
    (True, 1), (np.int64(-1), 2**64 - 1), (np.bool_(True), 1), (np.array(5, "i2"), 5),
    (np.float32(1.5), 0x3FC00000), (np.float16(1.5), 0x3FC00000), (np.array(1.5, "f4"), 0x3FC00000),
    (fractions.Fraction(3, 2), 0x3FC00000),
])
def test_a_scalar_is_64_bits(value, bits):
    assert scalar_to_uint64(value) == bits


def test_task_args_hold_tensors_then_scalars():
    args = TaskArgs()
    x, y = MiniTensor.zeros(4, 8), MiniTensor.zeros(3, dtype="int32")
    args.add_tensor(x)
    args.add_tensor(y, TensorArgType.INOUT)
    args.add_scalar(2**64 - 1)
    assert (args.tensor_count(), args.scalar_count(), args.scalar(0)) == (2, 1, 2**64 - 1)
    assert args.tensor(0).shapes == (4, 8) and args.tensor(1).dtype == DataType.INT32
    assert (args.tag(0), args.tag(1)) == (TensorArgType.INPUT, TensorArgType.INOUT)
    with pytest.raises(RuntimeError, match="after a scalar"):
        args.add_tensor(x)
    args.clear()
    assert args.tensor_count() == args.scalar_count() == 0
    args.add_tensor(x)


@pytest.mark.parametrize("value", [1.5, np.float32(1.5), np.array(1.5, "f4"), "3"])
def test_a_float_scalar_is_refused_because_its_bits_are_not_known(value):
    with pytest.raises(TypeError, match="scalar_to_uint64"):
        TaskArgs().add_scalar(value)


@pytest.mark.parametrize("first, second, overlapping", [
    (slice(0, 4), slice(4, 8), False), (slice(0, 5), slice(4, 8), True),
    (slice(0, 8, 2), slice(1, 8, 2), False), (slice(0, 8, 2), slice(2, 8, 2), True),
])
def test_tensors_of_a_task_that_are_written_do_not_overlap(first, second, overlapping):
    x = MiniTensor(np.arange(8, dtype="f4"))
    args = TaskArgs()
    args.add_tensor(x[first], TensorArgType.INOUT)
    args.add_tensor(x[second], TensorArgType.OUTPUT_EXISTING)
    args.add_tensor(x, TensorArgType.INPUT)
    if overlapping:
        with pytest.raises(ValueError, match="tensors 0 and 1 .* overlap"):
            args.tensors()
    else:
        assert len(args.tensors()) == 3


def test_a_tensor_of_the_host_is_anything_that_shows_its_memory():
    worker = Worker(2)
    assert make_tensor_arg(worker, np.zeros((2, 3), "i2")).dtype == DataType.INT16
    assert make_tensor_arg(worker, bytearray(5)).shapes == (5,)
    number = MiniTensor.zeros(3)[1, ...]  # without dimensions
    assert number.shape == () and make_tensor_arg(worker, number).shapes == (1,)
    named = worker.make_tensor_arg(MiniTensor.zeros(12), (3, 4), DataType.FLOAT32)  # before init()
    assert named.shapes == (3, 4)
    with pytest.raises(ValueError, match="contiguous"):
        make_tensor_arg(worker, np.zeros((4, 4), "f4")[:, :2])
    with pytest.raises(ValueError, match="bytes 0 to 51 of memory that has 48"):
        worker.make_tensor_arg(MiniTensor.zeros(12), (13,), 0)
    with pytest.raises(TypeError, match="does not show its memory"):
        make_tensor_arg(worker, [1, 2])
    with pytest.raises(ValueError, match="no elements of the type float64"):
        make_tensor_arg(worker, np.zeros(3))


def test_call_config_reads_rings_as_lists_and_checks_them():
    config = CallConfig()
    config.runtime_env.ring_task_window = 16
    config.runtime_env.ring_heap = [1024, 2048, 0, 0]
    assert config.runtime_env.ring_task_window == [16] * 4 and config.runtime_env.ring_dep_pool == [0] * 4
    config.validate()
    for name, value in (("ring_task_window", 24), ("ring_task_window", 2), ("ring_heap", 512), ("ring_dep_pool", 3)):
        config = CallConfig()
        setattr(config.runtime_env, name, value)
        with pytest.raises(ValueError, match=name):
            config.validate()
    with pytest.raises(ValueError, match="4"):
        config.runtime_env.ring_heap = [1024, 2048]
    with pytest.raises(AttributeError, match="ring_heap"):
        config.runtime_env.ring_heaps = 5
    with pytest.raises(AttributeError, match="CallConfig has aicpu_thread_num.*not block_count"):
        config.block_count = 3


def test_diagnostics_need_a_prefix_and_say_that_nothing_is_written(capsys):
    config = CallConfig()
    config.enable_dump_args = 2
    with pytest.raises(ValueError, match="output_prefix"):
        config.validate()
    config.output_prefix = "somewhere"
    config.check()
    assert "enable_dump_args is accepted, but no file is written" in capsys.readouterr().err
    config.enable_chip_swimlane = 5
    with pytest.raises(ValueError, match="0 to 4"):
        config.validate()


def test_registering_counts_what_differs():
    worker = Worker(3, device_ids=[0])

    def one(args):
        return 1

    first, again = worker.register(one), worker.register(one)
    assert first is not again and first.hashid == again.hashid and first.hashid.startswith("sha256:")
    assert len(first.digest) == 32 and worker.register(lambda args: 2).hashid != first.hashid
    made = [worker.register(_adder(number)) for number in range(62)]  # one code, but each holds another number
    with pytest.raises(RuntimeError, match="MAX_REGISTERED_CALLABLE_IDS is 64"):
        worker.register(lambda args, number=3: number)
    worker.unregister(made[0])
    worker.register(lambda args, number=3: number)
    worker.unregister(first)
    worker.unregister(again)
    with pytest.raises(RuntimeError, match="not registered"):
        worker.unregister(again)


def _adder(number):
    return lambda args: number


def test_level_2_registers_chip_callables_only():
    with pytest.raises(TypeError, match="a ChipCallable, not a function"):
        Worker(2).register(lambda args: None)


def test_binaries_of_others_are_refused():
    with pytest.raises(ValueError, match="KernelCompiler"):
        CoreCallable.build(signature=[ArgDirection.IN], binary=b"\x7fELF")


def test_what_is_not_offered_is_named():
    with pytest.raises(NotOffered, match=r"Worker\(level=4\).*several hosts"):
        Worker(level=4)
    with pytest.raises(NotOffered, match="simpler.task_interface.MpiL3GroupSpec"):
        from simpler.task_interface import MpiL3GroupSpec  # noqa: F401
    with pytest.raises(NotOffered, match="simpler.worker.RemoteL3"):
        from simpler.worker import RemoteL3  # noqa: F401
    with pytest.raises(ImportError, match="Wroker"):
        from simpler.worker import Wroker  # noqa: F401
    with pytest.raises(ModuleNotFoundError, match="does not offer the module simpler_setup.parallel_scheduler"):
        import simpler_setup.parallel_scheduler  # noqa: F401
    from simpler_setup.elf_parser import extract_text_section
    with pytest.raises(NotOffered, match="simpler_setup.elf_parser.extract_text_section"):
        extract_text_section("x.o")
    from simpler_setup.tools import swimlane_converter
    with pytest.raises(NotOffered, match="swimlane_converter.main"):
        swimlane_converter.main()
    with pytest.raises(NotOffered, match="create_worker_chip_queue"):
        Worker(3).create_worker_chip_queue()
    with pytest.raises(TypeError, match="no option 'plattform'"):
        Worker(2, plattform="a5sim")
    with pytest.raises(ValueError, match="there are a2a3sim, a5sim"):
        Worker(2, platform="a2a3")
    with pytest.raises(ValueError, match="host_build_graph"):
        Worker(2, runtime="aicpu_build_graph")


def test_all_module_names_can_be_imported():
    import simpler.callable_identity
    import simpler_setup
    from _task_interface import MAX_REGISTERED_CALLABLE_IDS, OWNER_INSTANCE_ID_BYTES
    from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, TensorArg, scene_test  # noqa: F401
    from simpler_setup.goldens.paged_attention import compute_golden, generate_inputs  # noqa: F401
    from simpler_setup.kernel_compiler import KernelCompiler  # noqa: F401
    from simpler_setup.log_config import configure_logging  # noqa: F401
    from simpler_setup.pto_isa import ensure_pto_isa_root
    from simpler_setup.scene_test import (_build_chip_task_args, _build_l2_ref_args, _build_l3_task_args,  # noqa: F401
                                          _compare_outputs, _outputs_dir, _rehosted_buffer_for, _rehosted_ref,
                                          _rehosted_ref_for, _sanitize_for_filename)
    assert (MAX_REGISTERED_CALLABLE_IDS, OWNER_INSTANCE_ID_BYTES) == (64, 8)
    assert isinstance(ensure_pto_isa_root(), str) and callable(simpler_setup.scene_test)
    assert simpler.callable_identity.CallableHandle and ChipCallable and CommBufferSpec
    assert _sanitize_for_filename("Class::case [1]") == "Class_case_1_"


def test_programs_get_the_names_and_other_processes_do_not(tmp_path):
    """Even with folders of those names beside the program."""
    (tmp_path / "simpler").mkdir()
    (tmp_path / "simpler" / "__init__.py").write_text("raise ImportError('the folder beside the program')")
    program = tmp_path / "main.py"
    program.write_text("import sys\nfrom simpler.worker import Worker\nimport helper\nprint(sys.argv[1:], helper.x)\n")
    (tmp_path / "helper.py").write_text("x = 3\n")
    done = subprocess.run([sys.executable, "-m", "baton.compat", str(program), "-p", "a5sim"], capture_output=True,
                          text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "['-p', 'a5sim'] 3\n"), done.stderr
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60)
    assert "the folder beside the program" in done.stderr
    done = subprocess.run([sys.executable, "-m", "baton.compat", str(tmp_path / "none.py")], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 1 and "there is no program" in done.stderr
