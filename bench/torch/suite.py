"""torch.distributed with the backend "baton" beside Gloo, and MPI where PyTorch was built with it."""

import functools
import os
import subprocess

from collectives.suite import KIB, MIB, size_text
from harness.cases import OURS, Case, Contender
from harness.programs import Command

SUITE = "torch"
OPERATIONS = ("all_reduce", "broadcast", "reduce", "all_gather_into_tensor", "all_gather", "reduce_scatter_tensor",
              "all_to_all_single", "gather", "scatter", "send_recv")
# Bytes of a rank's whole contribution.
SIZES = (8, 4 * KIB, 64 * KIB, MIB, 16 * MIB, 64 * MIB)
RANKS = (2, 4, 8)
QUICK = {"all_reduce/2/8", "all_reduce/4/1M", "broadcast/4/64K", "all_gather/2/1M", "send_recv/2/8", "ddp/2"}
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "measure.py")
# The package, with what is compiled against PyTorch at its first import.
TARGETS = ("baton_python",)
# Beside the time that is measured: PyTorch is imported, and the first time the process group is compiled.
IMPORT_S = 300


def cases(plan):
    """None where BENCH_PYTHON, or python3, has no PyTorch."""
    if not versions():
        return []
    found = [case(plan, "barrier", ranks, 0) for ranks in RANKS]
    found += [case(plan, operation, ranks, size) for operation in OPERATIONS for ranks in RANKS for size in SIZES
              if is_measured(operation, ranks)]
    return found + [case(plan, "ddp", ranks, 0) for ranks in RANKS]


def is_measured(operation, ranks):
    """Messages have two ends, however many ranks there are."""
    return operation != "send_recv" or ranks == 2


def case(plan, operation, ranks, size):
    name = f"{operation}/{ranks}" + (f"/{size_text(size)}" if size else "")

    def command(backend):
        # The package of the build tree; BENCH_PYTHON is one that imports PyTorch.
        package = os.path.join(os.path.dirname(os.path.dirname(plan.programs)), "python")
        argv = (python(), PROGRAM, "--backend", backend, "--operation", operation, "--ranks", str(ranks), "--bytes",
                str(size), "--budget-ms", str(plan.budget_ms))
        return Command(argv, ({"PYTHONPATH": package, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},),
                       plan.limit_s + IMPORT_S)

    contenders = [Contender(OURS, "baton", command("baton"))]
    contenders += [Contender(peer, "default", command(peer)) for peer in versions()]
    return Case(SUITE, name, tuple(contenders), ranks=ranks, bytes=size, in_quick=name in QUICK)


def python():
    return os.environ.get("BENCH_PYTHON", "python3")


@functools.cache
def versions():
    """The peers that this PyTorch was built with, with its version."""
    code = """import torch, torch.distributed as d
print(torch.__version__, *(name for name in ("gloo", "mpi") if getattr(d, f"is_{name}_available")()))"""
    try:
        words = subprocess.run([python(), "-c", code], capture_output=True, text=True, timeout=IMPORT_S).stdout.split()
    except (OSError, subprocess.TimeoutExpired):
        words = []
    return {peer: words[0] for peer in words[1:]}
