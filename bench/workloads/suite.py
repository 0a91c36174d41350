"""A layer of experts: rows to their experts, and back and summed, beside the same exchange by MPI_Alltoallv.

The time is per token of all ranks: 1e9 divided by it are tokens per second. A token of 4,096 bfloat16 that chooses 6
experts moves 48 KiB to them, and in the whole layer as much back."""

import os

from harness import mpi
from harness.cases import OURS, Case, Contender
from harness.programs import Command

SUITE = "workloads"
OPERATIONS = ("dispatch", "layer")
RANKS = (2, 4, 8)
TOKENS = (8, 128, 512)
QUICK = {"dispatch/4/128", "layer/2/128", "layer/4/128"}
# A program ends itself this long after the harness should have ended it.
BACKSTOP_S = 10


def cases(plan):
    """All cases of the suite, in the order of the table."""
    suite = WorkloadsSuite(plan)
    return [suite.case(operation, ranks, tokens) for operation in OPERATIONS for ranks in RANKS for tokens in TOKENS]


class WorkloadsSuite:
    def __init__(self, plan):
        self._plan = plan
        self._mpis = mpi.installed(plan.programs, SUITE)

    def case(self, operation, ranks, tokens):
        words = ("--operation", operation, "--tokens", str(tokens), "--budget-ms", str(self._plan.budget_ms),
                 "--limit-s", str(int(self._plan.limit_s) + BACKSTOP_S))
        contenders = [Contender(OURS, setting, command) for setting, command in self._ours(ranks, words)]
        contenders += self._peers(ranks, words)
        name = f"{operation}/{ranks}/{tokens}"
        return Case(SUITE, name, tuple(contenders), ranks=ranks, bytes=tokens, in_quick=name in QUICK)

    def _ours(self, ranks, words):
        program = (self._program("ours"), *words, "--ranks", str(ranks))
        if self._plan.launcher is not None:
            launch = (self._plan.launcher, "run", "--no-prefix", "-n", str(ranks))
            yield "processes", Command((*launch, *program), limit_s=self._plan.limit_s)

    def _peers(self, ranks, words):
        crowded = ranks > self._plan.processors
        found = []
        for peer in self._mpis:
            # MPICH never yields by itself.
            methods = ("library",) if not crowded else ("yield",) if peer.name == "mpich" else ("library", "yield")
            settings = [s for s in peer.settings if crowded or s.name != "yield when idle"]
            for method in methods if not self._plan.quick else methods[:1]:
                for setting in settings if not self._plan.quick else settings[:1]:
                    command = peer.command(setting, ranks, self._program(peer.name), (*words, "--method", method),
                                           self._plan.limit_s)
                    found.append(Contender(peer.name, f"{method}, {setting.name}", command))
        return found

    def _program(self, name):
        return os.path.join(self._plan.programs, f"{SUITE}_{name}")
