"""What recording events costs, what a check for races costs, and how long a large trace takes until it is open in a browser."""

import dataclasses
import os
import sys

from harness import cli
from harness.cases import BYTES, NS, OURS, Case, Contender, Floor
from harness.programs import Command

SUITE = "seeing"
# Suites whose quick cases are measured with the ring of last events and without it.
WITH_RING = ("tasks", "comm", "collectives")
TARGETS = ("bench_seeing_ours", "bench_seeing_collectives", *(f"bench_{suite}_ours" for suite in WITH_RING), "baton_cli",
           "product")
# A large trace: this many ranks, and events of each.
LARGE = (1_000, 10_000)
SMALL = (100, 1_000)
# A program ends itself this long after the harness should have ended it.
BACKSTOP_S = 10
OPEN_LIMIT_S = 300
# Examples that are checked, and with how many ranks; that of allreduce starts its four chips itself.
CHECKED = (("vector_add", 1), ("async_completion", 2), ("allreduce", 1), ("moe_dispatch", 4), ("relay", 4))
# Collectives that are checked: how many ranks, and how often each is called.
CHECKED_COLLECTIVES = ((4, 1), (4, 100))


def cases(plan):
    """All cases of the suite, in the order of the table."""
    suite = SeeingSuite(plan)
    return [
        *(suite.event(level) for level in ("off", "last", "trace")),
        suite.size(),
        *(suite.page(*shape) for shape in (SMALL, LARGE)),
        *(suite.open(*shape) for shape in (SMALL, LARGE)),
        *(suite.check_example(*example) for example in CHECKED),
        *(suite.check_collectives(*size) for size in CHECKED_COLLECTIVES),
        *(suite.ring(name, case) for name in WITH_RING for case in cli.loaded(name).cases(plan) if case.in_quick and case.unit == NS),
    ]


def versions():
    """There are no peers."""
    return {}


class SeeingSuite:
    def __init__(self, plan):
        self._plan = plan

    def event(self, level):
        floor = Floor({"clock": self._command("clock")}, lambda part: part["clock"], "a look at the clock")
        ours = Contender(OURS, level, self._command("event", method=level))
        return Case(SUITE, f"event/{level}", (ours,), floor, in_quick=True)

    def size(self):
        ours = Contender(OURS, "file", self._command("size", ranks=10, tasks=100_000))
        return Case(SUITE, "size", (ours,), unit=BYTES, in_quick=True)

    def page(self, ranks, events):
        ours = Contender(OURS, "page", self._command("page", ranks=ranks, tasks=events, pattern=os.devnull,
                                                     limit_s=OPEN_LIMIT_S))
        return Case(SUITE, f"page/{ranks}x{events}", (ours,), ranks=ranks, in_quick=(ranks, events) == SMALL)

    def open(self, ranks, events):
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "open_page.py")
        command = Command((sys.executable, program, self._path(), str(ranks), str(events)), limit_s=OPEN_LIMIT_S)
        return Case(SUITE, f"open/{ranks}x{events}", (Contender(OURS, "chromium", command),), ranks=ranks,
                    in_quick=(ranks, events) == SMALL)

    def check_example(self, example, ranks):
        return self._check(f"check/{example}", ranks, os.path.join(self._built(), "examples", example))

    def check_collectives(self, ranks, rounds):
        program = os.path.join(self._plan.programs, "seeing_collectives")
        return self._check(f"check/collectives/{ranks}x{rounds}", ranks, program, str(rounds))

    def _check(self, name, ranks, *program):
        """A whole program under `baton check`, recording and analysis; the floor is the same under `baton run`."""
        here = os.path.dirname(os.path.abspath(__file__))

        def command(word):
            return Command((sys.executable, os.path.join(here, "time_program.py"), str(self._plan.budget_ms),
                            os.path.join(self._built(), "baton"), word, "-n", str(ranks), *program),
                           limit_s=self._plan.limit_s)

        floor = Floor({"run": command("run")}, lambda part: part["run"], "the program without a check")
        return Case(SUITE, name, (Contender(OURS, "check", command("check")),), floor, ranks=ranks)

    def ring(self, suite, case):
        """A case of another suite, as it is for everybody; the floor is the same without the ring of last events."""
        ours = next(contender.command for contender in case.contenders if contender.name == OURS)

        def command(level):
            return dataclasses.replace(ours, environments=tuple(one | {"BATON_TRACE": level} for one in ours.environments))

        floor = Floor({"off": command("off")}, lambda part: part["off"], "the same without the ring")
        return dataclasses.replace(case, suite=SUITE, name=f"ring/{suite}/{case.name}", floor=floor,
                                   contenders=(Contender(OURS, "ring", command("last")),), in_quick=False)

    def _built(self):
        return os.path.dirname(self._plan.programs)

    def _path(self):
        return os.path.join(self._plan.programs, f"{SUITE}_ours")

    def _command(self, operation, limit_s=None, **arguments):
        limit_s = limit_s or self._plan.limit_s
        limits = ("--budget-ms", str(self._plan.budget_ms), "--limit-s", str(int(limit_s) + BACKSTOP_S))
        words = [word for name, value in arguments.items() for word in (f"--{name}", str(value))]
        return Command((self._path(), "--operation", operation, *limits, *words), limit_s=limit_s)
