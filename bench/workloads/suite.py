"""Layers of experts, and sums over ranks behind calculations, beside MPI_Alltoallv and MPI_Iallreduce.

The time of a layer is per token of all ranks: 1e9 divided by it are tokens per second. A token of 4,096 bfloat16 that
chooses 6 experts moves 48 KiB to them, and in the whole layer as much back. That of `overlap` and `in_turn` is per
bucket of a step."""

import os

from collectives.suite import KIB, MIB, CollectivesSuite, size_text
from harness import mpi
from harness.cases import OURS, Case, Contender, Floor
from harness.programs import Command

SUITE = "workloads"
OPERATIONS = ("dispatch", "layer")
RANKS = (2, 4, 8)
TOKENS = (8, 128, 512)
# The sum of a bucket while the next one is calculated, or before; of ours, buckets lie in windows or in memory of the
# chip.
ORDERS = {"overlap": ("overlap", "windows"), "overlap_private": ("overlap", "private"),
          "in_turn": ("in_turn", "windows")}
ORDER_RANKS = (2, 4)
BUCKET_BYTES = (4 * KIB, 64 * KIB, MIB)
QUICK = {"dispatch/4/128", "layer/2/128", "layer/4/128", "overlap/2/64K", "in_turn/2/64K"}
# A program ends itself this long after the harness should have ended it.
BACKSTOP_S = 10


def cases(plan):
    """All cases of the suite, in the order of the table."""
    suite = WorkloadsSuite(plan)
    layers = [suite.layer(operation, ranks, tokens) for operation in OPERATIONS for ranks in RANKS for tokens in TOKENS]
    steps = [suite.steps(order, ranks, size) for order in ORDERS for ranks in ORDER_RANKS for size in BUCKET_BYTES]
    return layers + steps


class WorkloadsSuite:
    def __init__(self, plan):
        self._plan = plan
        self._collectives = CollectivesSuite(plan)

    def layer(self, operation, ranks, tokens):
        words = ("--operation", operation, "--tokens", str(tokens), *self._limits())
        methods = {False: ("library",), True: ("library", "yield")}
        contenders = [*self._ours(SUITE, ranks, words), *self._peers(SUITE, ranks, words, methods)]
        name = f"{operation}/{ranks}/{tokens}"
        return Case(SUITE, name, tuple(contenders), ranks=ranks, bytes=tokens, size_in="tokens",
                    in_quick=name in QUICK)

    def steps(self, name, ranks, size):
        order, memory = ORDERS[name]
        words = ("--operation", order, "--bytes", str(size), *self._limits())
        program = f"{SUITE}_overlap"
        if order == "overlap":
            methods = {False: ("test", "wait"), True: ("wait", "test", "wait-yield", "test-yield")}
        else:
            methods = {False: ("wait",), True: ("wait", "wait-yield")}
        contenders = [*self._ours(program, ranks, (*words, "--method", memory)),
                      *self._peers(program, ranks, words, methods)]
        name = f"{name}/{ranks}/{size_text(size)}"
        return Case(SUITE, name, tuple(contenders), self._floor(memory, ranks, size), ranks=ranks, bytes=size,
                    in_quick=name in QUICK)

    def _floor(self, memory, ranks, size):
        """Nobody is faster than the calculations alone, or the sums alone."""
        words = ("--ranks", str(ranks), "--bytes", str(size), *self._limits())
        calculation = Command((self._program(f"{SUITE}_overlap_floor"), *words), limit_s=self._plan.limit_s)
        sums = self._collectives.floor(memory, "allreduce", ranks, size)
        return Floor(sums.parts | {"calculation": calculation}, lambda part: max(part["calculation"], sums.of(part)),
                     f"the larger of calculation and {sums.formula}")

    def _ours(self, prefix, ranks, words):
        program = (self._program(f"{prefix}_ours"), *words, "--ranks", str(ranks))
        if self._plan.launcher is not None:
            launch = (self._plan.launcher, "run", "--no-prefix", "-n", str(ranks))
            yield Contender(OURS, "processes", Command((*launch, *program), limit_s=self._plan.limit_s))

    def _peers(self, prefix, ranks, words, methods):
        """`methods` for ranks that have a processor each (False) and for those that do not (True)."""
        crowded = ranks > self._plan.processors
        for peer in mpi.installed(self._plan.programs, prefix):
            useful = methods[crowded]
            if crowded and peer.name == "mpich":  # never yields by itself
                useful = [method for method in useful if method.endswith("yield")]
            settings = [s for s in peer.settings if crowded or s.name != "yield when idle"]
            for method in useful if not self._plan.quick else useful[:1]:
                for setting in settings if not self._plan.quick else settings[:1]:
                    command = peer.command(setting, ranks, self._program(f"{prefix}_{peer.name}"),
                                           (*words, "--method", method), self._plan.limit_s)
                    yield Contender(peer.name, f"{method}, {setting.name}", command)

    def _limits(self):
        return ("--budget-ms", str(self._plan.budget_ms), "--limit-s", str(int(self._plan.limit_s) + BACKSTOP_S))

    def _program(self, name):
        return os.path.join(self._plan.programs, name)
