"""What the programs and test functions of this project run on chips, compiled."""

import pathlib

from simpler.task_interface import ArgDirection as D
from simpler.task_interface import ChipCallable, CoreCallable
from simpler_setup.kernel_compiler import KernelCompiler
from simpler_setup.pto_isa import ensure_pto_isa_root

HERE = pathlib.Path(__file__).resolve().parent
RUNTIME = "tensormap_and_ringbuffer"


def build(platform, orchestration, function, kernels, signature, *, runtime=RUNTIME, config_name=""):
    compiler = KernelCompiler(platform=platform)
    include_dirs = [*compiler.get_orchestration_include_dirs(runtime), str(compiler.project_root / "src" / "common")]
    children = []
    for func_id, kernel in enumerate(kernels):
        binary = compiler.compile_incore(source_path=str(HERE / "kernels" / kernel), core_type="aiv",
                                         pto_isa_root=ensure_pto_isa_root(), extra_include_dirs=include_dirs)
        children.append((func_id, CoreCallable.build(signature=signature, binary=binary)))
    binary = compiler.compile_orchestration(runtime_name=runtime, extra_include_dirs=include_dirs,
                                            source_path=str(HERE / "orchestration" / orchestration))
    return ChipCallable.build(signature=signature, func_name=function, binary=binary, children=children,
                              config_name=config_name)


def blend(platform, runtime=RUNTIME):
    """a, b, out, factor: out = (a + b) * factor."""
    return build(platform, "blend.cpp", "aicpu_orchestration_entry", ["add.cpp", "scale.cpp"],
                 [D.IN, D.IN, D.OUT, D.SCALAR], runtime=runtime, config_name="aicpu_orchestration_config")


def sum_ranks(platform):
    """x, out, inbox, signal, context: out = the sum of x over the ranks of a domain."""
    return build(platform, "sum_ranks.cpp", "sum_ranks_entry", ["sum_ranks.cpp"],
                 [D.IN, D.OUT, D.INOUT, D.INOUT, D.SCALAR])
