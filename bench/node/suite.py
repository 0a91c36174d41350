"""Tasks of a node: to a chip and back, many in flight, and its start; beside processes that talk through pipes."""

import os

from harness.cases import OURS, Case, Contender, Floor
from harness.programs import Command

SUITE = "node"
PIPELINED_TASKS = 10_000
# A program ends itself this long after the harness should have ended it.
BACKSTOP_S = 10


def cases(plan):
    """All cases of the suite, in the order of the table."""
    suite = NodeSuite(plan)
    return [
        suite.round_trip(),
        *(suite.pipelined(chips, tensors) for tensors in (0, 2) for chips in (2, 8)),
        *(suite.start(chips) for chips in (2, 16)),
    ]


def versions():
    """The peers are part of the system."""
    return {}


class NodeSuite:
    def __init__(self, plan):
        self._plan = plan

    def round_trip(self):
        return self._case("round_trip", ranks=1, in_quick=True, peer="pipes")

    def pipelined(self, chips, tensors):
        return self._case(
            "pipelined",
            suffix=f"/{tensors}-tensors/{chips}",
            ranks=chips,
            in_quick=chips == 2,
            peer="pipes",
            tasks=PIPELINED_TASKS,
            live=tensors,
        )

    def start(self, chips):
        floor = Floor(
            {"spawn": self._command("pipe", "start", ranks=chips)}, lambda part: part["spawn"], "processes that do nothing"
        )
        return self._case("start", suffix=f"/{chips}", ranks=chips, in_quick=True, floor=floor)

    def _case(self, operation, suffix="", *, ranks, in_quick, peer=None, floor=None, **arguments):
        contenders = [
            Contender(OURS, "processes", self._command("ours", operation, ranks=ranks, method="processes", **arguments)),
            Contender("inproc", "fibers", self._command("ours", operation, ranks=ranks, method="inproc", **arguments)),
        ]
        if peer is not None:
            contenders.append(Contender(peer, "processes", self._command("pipe", operation, ranks=ranks, **arguments)))
        return Case(SUITE, operation + suffix, tuple(contenders), floor, ranks=ranks, in_quick=in_quick)

    def _command(self, program, operation, **arguments):
        limits = ("--budget-ms", str(self._plan.budget_ms), "--limit-s", str(int(self._plan.limit_s) + BACKSTOP_S))
        words = [word for name, value in arguments.items() for word in (f"--{name}", str(value))]
        path = os.path.join(self._plan.programs, f"{SUITE}_{program}")
        return Command((path, "--operation", operation, *limits, *words), limit_s=self._plan.limit_s)
