"""What recording events costs, what a check for races costs, and how long a large trace takes until it is open in a browser."""

import os
import sys

from harness.cases import BYTES, OURS, Case, Contender, Floor
from harness.programs import Command

SUITE = "seeing"
TARGETS = ("bench_seeing_ours", "baton_cli", "product")
# A large trace: so many ranks, and events of each.
LARGE = (1_000, 10_000)
SMALL = (100, 1_000)
# A program ends itself this long after the harness should have ended it.
BACKSTOP_S = 10
OPEN_LIMIT_S = 300
# Examples that are checked, and with how many ranks.
CHECKED = (("vector_add", 1), ("async_completion", 2), ("allreduce", 4), ("moe_dispatch", 4), ("relay", 4))


def cases(plan):
    """All cases of the suite, in the order of the table."""
    suite = SeeingSuite(plan)
    return [
        *(suite.event(level) for level in ("off", "last", "trace")),
        suite.size(),
        *(suite.page(*shape) for shape in (SMALL, LARGE)),
        *(suite.open(*shape) for shape in (SMALL, LARGE)),
        *(suite.check(*example) for example in CHECKED),
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

    def check(self, example, ranks):
        """A whole program under `baton check`, recording and analysis; the floor is the same under `baton run`."""
        here = os.path.dirname(os.path.abspath(__file__))
        built = os.path.dirname(self._plan.programs)

        def command(word):
            return Command((sys.executable, os.path.join(here, "time_program.py"), str(self._plan.budget_ms),
                            os.path.join(built, "baton"), word, "-n", str(ranks), os.path.join(built, "examples", example)),
                           limit_s=self._plan.limit_s)

        floor = Floor({"run": command("run")}, lambda part: part["run"], "the program without a check")
        return Case(SUITE, f"check/{example}", (Contender(OURS, "check", command("check")),), floor, ranks=ranks)

    def _path(self):
        return os.path.join(self._plan.programs, f"{SUITE}_ours")

    def _command(self, operation, limit_s=None, **arguments):
        limit_s = limit_s or self._plan.limit_s
        limits = ("--budget-ms", str(self._plan.budget_ms), "--limit-s", str(int(limit_s) + BACKSTOP_S))
        words = [word for name, value in arguments.items() for word in (f"--{name}", str(value))]
        return Command((self._path(), "--operation", operation, *limits, *words), limit_s=limit_s)
