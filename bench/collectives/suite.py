"""Collectives of processes and of ranks in one process, beside MPI and the floor of the machine."""

import os

from harness import mpi
from harness.cases import OURS, Case, Contender, Floor
from harness.programs import Command

SUITE = "collectives"
KIB, MIB = 1 << 10, 1 << 20
OPERATIONS = (
    "broadcast", "reduce", "allreduce", "reduce_scatter", "allgather", "gather", "scatter", "all_to_all", "all_to_all_v",
)
SIZES = (8, 512, 4 * KIB, 64 * KIB, MIB, 16 * MIB, 64 * MIB)
RANKS = (2, 4, 8, 16)
# Between those, in windows: what is chosen for the grid alone shows here.
BETWEEN_SIZES = (1000, 24 * KIB, 300 * KIB, 5 * MIB)
BETWEEN_RANKS = (3, 5, 6, 12)
# Where our data is: in windows of the domain, in memory of each rank alone, or in windows with all ranks in one process.
MEMORIES = ("windows", "private", "inproc")
QUICK = {
    "windows/barrier/8", "windows/allreduce/2/8", "windows/allreduce/4/4K", "windows/allreduce/4/1M",
    "windows/broadcast/4/64K", "windows/all_to_all/8/64K", "private/allreduce/4/1M", "inproc/allreduce/16/8",
}
# A program ends itself this long after the harness should have ended it.
BACKSTOP_S = 10


def cases(plan):
    """All cases of the suite, in the order of the table."""
    suite = CollectivesSuite(plan)
    found = [suite.case(memory, "barrier", ranks, 0) for memory in MEMORIES if memory != "private" for ranks in RANKS]
    for memory in MEMORIES:
        found += [
            suite.case(memory, operation, ranks, size) for operation in OPERATIONS for ranks in RANKS for size in SIZES
        ]
    found += [suite.case("windows", "barrier", ranks, 0) for ranks in BETWEEN_RANKS]
    found += [
        suite.case("windows", operation, ranks, size)
        for operation in OPERATIONS for ranks in BETWEEN_RANKS for size in BETWEEN_SIZES
    ]
    return found


def size_text(count):
    """8, 64K, 1M."""
    for suffix, unit in (("M", MIB), ("K", KIB)):
        if count >= unit:
            return f"{count // unit}{suffix}"
    return str(count)


def name_of(memory, operation, ranks, size):
    return f"{memory}/{operation}/{ranks}" + (f"/{size_text(size)}" if operation != "barrier" else "")


# The least work of each operation, in copies and sums of N bytes by all ranks together, with a barrier b: `size` is N.
WORK = {
    "barrier": (lambda p: 0, lambda p: 0, 1),
    "broadcast": (lambda p: p - 1, lambda p: 0, 1),
    "reduce": (lambda p: 0, lambda p: p - 1, 1),
    "allreduce": (lambda p: p - 1, lambda p: p - 1, 2),
    "reduce_scatter": (lambda p: 0, lambda p: p - 1, 2),
    "allgather": (lambda p: p, lambda p: 0, 2),
    "gather": (lambda p: 1, lambda p: 0, 1),
    "scatter": (lambda p: 1, lambda p: 0, 1),
    "all_to_all": (lambda p: p, lambda p: 0, 2),
    "all_to_all_v": (lambda p: p, lambda p: 0, 2),
}


class CollectivesSuite:
    def __init__(self, plan):
        self._plan = plan
        self._mpis = mpi.installed(plan.programs, SUITE)

    def case(self, memory, operation, ranks, size):
        arguments = ("--operation", operation, "--bytes", str(size))
        contenders = [Contender(OURS, memory, self._ours(memory, ranks, arguments))]
        contenders += self._peers(ranks, arguments)
        name = name_of(memory, operation, ranks, size)
        floor = self.floor(memory, operation, ranks, size)
        return Case(SUITE, name, tuple(contenders), floor, ranks=ranks, bytes=size, in_quick=name in QUICK)

    def _ours(self, memory, ranks, arguments):
        program = (self._program("ours"), *arguments, *self._limits(), "--method", memory, "--ranks", str(ranks))
        if memory == "inproc":
            return Command(program, limit_s=self._plan.limit_s)
        if self._plan.launcher is not None:
            launch = (self._plan.launcher, "run", "--no-prefix", "-n", str(ranks))
            return Command((*launch, *program), limit_s=self._plan.limit_s)
        job = {"BATON_SIZE": str(ranks), "BATON_JOB": f"bench-{os.getpid()}-collectives-{ranks}"}
        return Command(program, tuple(job | {"BATON_RANK": str(r)} for r in range(ranks)), self._plan.limit_s)

    def _peers(self, ranks, arguments):
        crowded = ranks > self._plan.processors
        found = []
        for peer in self._mpis:
            # MPICH never yields by itself.
            methods = ("library",) if not crowded else ("yield",) if peer.name == "mpich" else ("library", "yield")
            settings = [s for s in peer.settings if crowded or s.name != "yield when idle"]
            # What serves Open MPI best most of the time comes first.
            settings.sort(key=lambda setting: setting.name != "without CMA" if peer.name == "openmpi" else 0)
            for method in methods:
                for setting in settings:
                    words = (*arguments, *self._limits(), "--method", method)
                    command = peer.command(setting, ranks, self._program(peer.name), words, self._plan.limit_s)
                    found.append(Contender(peer.name, f"{method}, {setting.name}", command))
        if not self._plan.quick:
            return found
        first = {}
        for contender in found:
            first.setdefault(contender.name, contender)
        return list(first.values())

    def floor(self, memory, operation, ranks, size):
        """The least that an operation costs here."""
        copies, sums, barriers = WORK[operation]
        copies, sums = copies(ranks), sums(ranks)
        if size <= 32 * KIB:
            barriers = 1
        workers = min(ranks, self._plan.processors)
        together = -(-ranks // self._plan.processors)  # on one processor
        switches = together - 1
        switch = "fiber" if memory == "inproc" else "yield"
        parts = {"handoff": self._comm_floor("handoff"), switch: self._comm_floor(switch, max(2, together))}
        formula = f"{barriers} x (hand-off + {switches} x {switch})"
        for name, count in (("copy", copies), ("sum", sums)):
            if count and size > 32 * KIB:
                parts[name] = self._floor_part(name, workers, size)
                formula += f" + {count} x {name} of {size_text(size)} by {workers} processors"

        def of(part):
            barrier = part["handoff"] + switches * part[switch]
            moved = (copies * part.get("copy", 0) + sums * part.get("sum", 0)) / workers
            return barriers * barrier + moved

        return Floor(parts, of, formula)

    def _floor_part(self, operation, workers, size):
        words = ("--operation", operation, "--ranks", str(workers), "--bytes", str(size))
        return Command((self._program("floor"), *words, *self._limits()), limit_s=self._plan.limit_s)

    def _comm_floor(self, operation, ranks=2):
        program = os.path.join(self._plan.programs, "comm_floor")
        words = ("--operation", operation, "--ranks", str(ranks))
        return Command((program, *words, *self._limits()), limit_s=self._plan.limit_s)

    def _limits(self):
        return ("--budget-ms", str(self._plan.budget_ms), "--limit-s", str(int(self._plan.limit_s) + BACKSTOP_S))

    def _program(self, name):
        return os.path.join(self._plan.programs, f"{SUITE}_{name}")
