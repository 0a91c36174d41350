"""Tile instructions on a simulated core, beside loops, memcpy and OpenBLAS; loading a compiled kernel."""

import os

from harness.cases import OURS, Case, Contender, Floor
from harness.machine import output_of, version_in
from harness.programs import Command

SUITE = "kernels"
KIB = 1 << 10
# Three tiles of 64 KiB fill the buffer of a vector core.
TILE_BYTES = (KIB, 4 * KIB, 16 * KIB, 64 * KIB)
SIDES = (32, 64, 96, 128)
# Instructions, and the loops that do the same: std::sort, std::merge, a loop.
SORTING = (("tsort32", "loop_sort"), ("tmrgsort", "loop_merge"), ("tgather", "loop_gather"))
SORTED_BYTES = 16 * KIB
# A program ends itself this long after the harness should have ended it.
BACKSTOP_S = 10


def cases(plan):
    """All cases of the suite, in the order of the table."""
    suite = KernelSuite(plan)
    return [
        *(suite.add(size) for size in TILE_BYTES),
        *(suite.transfer(operation, size) for operation in ("tload", "tstore") for size in TILE_BYTES),
        *(suite.multiply(side) for side in SIDES),
        *(suite.sort(operation, loop) for operation, loop in SORTING),
        *(suite.checks(operation, size) for operation in ("tadd", "tload") for size in (KIB, 64 * KIB)),
        suite.load(),
    ]


def versions():
    """The version of each peer that is installed, None for the others."""
    return {"openblas": version_in(output_of("pkg-config", "--modversion", "openblas"))}


class KernelSuite:
    def __init__(self, plan):
        self._plan = plan
        self._has_openblas = os.path.exists(self._program("openblas"))

    def add(self, size):
        floor = Floor({"loop": self._command("floor", "loop", bytes=size)}, lambda part: part["loop"], "vector loop")
        return self._tile_case("tadd", size, floor, in_quick=size in (KIB, 64 * KIB))

    def transfer(self, operation, size):
        floor = Floor({"copy": self._command("floor", "copy", bytes=size)}, lambda part: part["copy"], "memcpy")
        return self._tile_case(operation, size, floor, in_quick=size == 16 * KIB)

    def multiply(self, side):
        contenders = [Contender(OURS, "default", self._command("ours", "tmatmul", side=side))]
        if self._has_openblas:
            contenders.append(Contender("openblas", "one thread", self._command("openblas", "sgemm", side=side)))
        return Case(SUITE, f"tmatmul/{side}", tuple(contenders), in_quick=side in (32, 128))

    def sort(self, operation, loop):
        floor = Floor(
            {"loop": self._command("floor", loop, bytes=SORTED_BYTES)}, lambda part: part["loop"], "standard library"
        )
        return self._tile_case(operation, SORTED_BYTES, floor, in_quick=True)

    def checks(self, operation, size):
        """What the checks cost: the same kernel with them compiled out."""
        contenders = (
            Contender(OURS, "default", self._command("ours", operation, bytes=size)),
            Contender("unchecked", "PTO_NO_CHECKS", self._command("ours", operation, bytes=size, method="unchecked")),
        )
        return Case(SUITE, f"checks/{operation}/{size // KIB}K", contenders, bytes=size)

    def load(self):
        contenders = (Contender(OURS, "default", self._command("ours", "load", bytes=KIB)),)
        floor = Floor({"dlopen": self._command("floor", "dlopen", bytes=KIB)}, lambda part: part["dlopen"], "dlopen")
        return Case(SUITE, "load", contenders, floor, in_quick=True)

    def _tile_case(self, operation, size, floor, in_quick):
        contenders = (Contender(OURS, "default", self._command("ours", operation, bytes=size)),)
        return Case(SUITE, f"{operation}/{size // KIB}K", contenders, floor, bytes=size, in_quick=in_quick)

    def _command(self, program, operation, **arguments):
        limits = ("--budget-ms", str(self._plan.budget_ms), "--limit-s", str(int(self._plan.limit_s) + BACKSTOP_S))
        words = [word for name, value in arguments.items() for word in (f"--{name}", str(value))]
        return Command((self._program(program), "--operation", operation, *limits, *words), limit_s=self._plan.limit_s)

    def _program(self, name):
        return os.path.join(self._plan.programs, f"{SUITE}_{name}")
