"""Signals, puts, barriers and starts, beside MPI and UCX and the floor of the machine."""

import os

from harness import mpi
from harness.cases import OURS, Case, Contender, Floor
from harness.mpi import NO_CMA, Setting
from harness.programs import Command

SUITE = "comm"
KIB, MIB = 1 << 10, 1 << 20
PUT_SIZES = (8, 64, 512, 4 * KIB, 64 * KIB, 256 * KIB, MIB, 8 * MIB, 64 * MIB)
PAIR_RANKS = (4, 8, 16)
BARRIER_RANKS = (2, 4, 8, 16, 64)
INPROC_RANKS = (2, 4, 8, 16, 64, 1024)
START_RANKS = (2, 8, 16, 64)
MOST_PROCESSES = 64
# From here on MPICH is faster with one-sided puts than with messages; it only decides which is tried first.
LARGE = 256 * KIB
# A program ends itself this long after the harness should have ended it.
BACKSTOP_S = 10


def cases(plan):
    """All cases of the suite, in the order of the table."""
    suite = CommSuite(plan)
    return [
        suite.signal(),
        *(suite.put(size) for size in PUT_SIZES),
        *(suite.pairs(ranks) for ranks in PAIR_RANKS),
        *(suite.barrier(ranks) for ranks in BARRIER_RANKS),
        *(suite.barrier_inproc(ranks) for ranks in INPROC_RANKS),
        *(suite.start(ranks) for ranks in START_RANKS),
    ]


def size_text(count):
    """8, 64K, 1M."""
    for suffix, unit in (("M", MIB), ("K", KIB)):
        if count >= unit:
            return f"{count // unit}{suffix}"
    return str(count)


class CommSuite:
    def __init__(self, plan):
        self._plan = plan
        self._mpis = mpi.installed(plan.programs, SUITE)
        self._has_ucx = os.path.exists(self._program("ucx"))

    def signal(self):
        return self._pairs_case("signal", ranks=2, size=0, in_quick=True, floor=self._handoff_floor())

    def put(self, size):
        floor = Floor({"copy": self._floor_part("copy", bytes=size)}, lambda part: part["copy"], "copy and hand-off")
        quick = size in (8, 4 * KIB, 64 * KIB, MIB, 64 * MIB)
        return self._pairs_case(f"put/{size_text(size)}", ranks=2, size=size, in_quick=quick, floor=floor)

    def pairs(self, ranks):
        # A hand-off occupies two processors, so at most processors / 2 happen at once.
        share = max(1.0, ranks / self._plan.processors)
        floor = self._handoff_floor(lambda part: share * part["handoff"], f"{share:g} x hand-off")
        return self._pairs_case(f"pairs/{ranks}", ranks=ranks, size=8, in_quick=ranks in (4, 16), floor=floor)

    def barrier(self, ranks):
        contenders = (Contender(OURS, "default", self._ours(ranks, "barrier")), *self._mpi_barriers(ranks))
        # Every processor must run all of its ranks, and the last of one barrier can be the first of the next.
        together = -(-ranks // self._plan.processors)
        switches = together - 1
        floor = Floor(
            {"handoff": self._floor_part("handoff"), "yield": self._floor_part("yield", ranks=max(2, together))},
            lambda part: part["handoff"] + switches * part["yield"],
            f"hand-off + {switches} x yield",
        )
        return Case(SUITE, f"barrier/{ranks}", contenders, floor, ranks=ranks, in_quick=ranks in (2, 8, 16))

    def barrier_inproc(self, ranks):
        inproc = self._command(("ours", "barrier", "--method", "inproc", "--ranks", str(ranks)))
        contenders = [Contender(OURS, "default", inproc)]
        if ranks <= MOST_PROCESSES:
            contenders.append(Contender("processes", "default", self._ours(ranks, "barrier")))
            contenders += self._mpi_barriers(ranks)
        switches = -(-ranks // self._plan.processors) - 1
        floor = Floor(
            {"handoff": self._floor_part("handoff"), "fiber": self._floor_part("fiber")},
            lambda part: min(part["handoff"] + switches * part["fiber"], (ranks - 1) * part["fiber"]),
            f"the less of hand-off + {switches} x fiber switch and {ranks - 1} x fiber switch",
        )
        name, quick = f"barrier_inproc/{ranks}", ranks in (8, 1024)
        return Case(SUITE, name, tuple(contenders), floor, ranks=ranks, in_quick=quick)

    def start(self, ranks):
        contenders = [Contender(OURS, "default", self._ours(ranks, "start"))]
        shared_memory_only = Setting("ob1, shared memory only", ("--mca", "pml", "ob1", "--mca", "btl", "self,vader"))
        for peer in self._mpis:
            settings = (peer.settings[0],) + ((shared_memory_only,) if peer.name == "openmpi" else ())
            contenders += (self._mpi(peer, setting, ranks, "start", "library") for setting in settings)
        floor = Floor({"start": self._floor_part("start", ranks=ranks)}, lambda part: part["start"], "spawn")
        return Case(SUITE, f"start/{ranks}", self._tried(contenders), floor, ranks=ranks, in_quick=ranks == 8)

    def _pairs_case(self, name, ranks, size, in_quick, floor):
        contenders = [Contender(OURS, "default", self._ours(ranks, "pairs", "--bytes", str(size)))]
        for peer in self._mpis:
            contenders += self._mpi_pairs(peer, ranks, size)
        if self._has_ucx:
            contenders += self._ucx_pairs(ranks, size)
        return Case(SUITE, name, self._tried(contenders), floor, ranks=ranks, bytes=size, in_quick=in_quick)

    def _mpi_pairs(self, peer, ranks, size):
        # Eight bytes can be their own flag: one put carries both.
        carried = "0" if size == 8 else str(size)
        if ranks <= self._plan.processors:
            put, sends = "put", ("send",)
        elif peer.name == "openmpi":
            put, sends = "put-yield", ("send", "send-yield")
        else:
            put, sends = "put-yield", ("send-yield", "send")
        puts = [self._mpi(peer, peer.settings[0], ranks, "pairs", put, "--bytes", carried)]
        messages = [
            self._mpi(peer, setting, ranks, "pairs", send, "--bytes", str(size))
            for setting in self._settings(peer, ranks)
            for send in sends
        ]
        puts_first = size >= LARGE or (peer.name == "openmpi" and ranks <= self._plan.processors)
        return puts + messages if puts_first else messages + puts

    def _ucx_pairs(self, ranks, size):
        method = "put-yield" if ranks > self._plan.processors else "put"
        carried = "0" if size == 8 else str(size)
        arguments = ("ucx", "pairs", "--method", method, "--ranks", str(ranks), "--bytes", carried)
        yield Contender("ucx", f"{method}, without CMA", self._command(arguments, NO_CMA))
        yield Contender("ucx", f"{method}, default", self._command(arguments))

    def _mpi_barriers(self, ranks):
        contenders = []
        for peer in self._mpis:
            waits = ("library",)
            if ranks > self._plan.processors:
                # MPICH never yields by itself.
                waits = ("library", "library-yield") if peer.name == "openmpi" else ("library-yield", "library")
            for setting in self._settings(peer, ranks):
                contenders += (self._mpi(peer, setting, ranks, "barrier", wait) for wait in waits)
        return self._tried(contenders)

    def _settings(self, peer, ranks):
        crowded = ranks > self._plan.processors
        return [setting for setting in peer.settings if crowded or setting.name != "yield when idle"]

    def _tried(self, contenders):
        """With --quick only the first setting of each peer, which is the one that is expected to serve it best."""
        if not self._plan.quick:
            return tuple(contenders)
        first = {}
        for contender in contenders:
            first.setdefault(contender.name, contender)
        return tuple(first.values())

    def _handoff_floor(self, of=lambda part: part["handoff"], formula="hand-off"):
        return Floor({"handoff": self._floor_part("handoff")}, of, formula)

    def _floor_part(self, operation, **arguments):
        words = [word for name, value in arguments.items() for word in (f"--{name}", str(value))]
        return self._command(("floor", operation, *words))

    def _ours(self, ranks, operation, *arguments):
        program = (self._program("ours"), *self._arguments(operation, *arguments))
        if self._plan.launcher is not None:
            launch = (self._plan.launcher, "run", "--no-prefix", "-n", str(ranks))
            return Command((*launch, *program), limit_s=self._plan.limit_s)
        job = {"BATON_SIZE": str(ranks), "BATON_JOB": f"bench-{os.getpid()}-{operation}-{ranks}"}
        environments = tuple(job | {"BATON_RANK": str(rank)} for rank in range(ranks))
        return Command(program, environments, self._plan.limit_s)

    def _mpi(self, peer, setting, ranks, operation, method, *arguments):
        words = self._arguments(operation, "--method", method, *arguments)
        command = peer.command(setting, ranks, self._program(peer.name), words, self._plan.limit_s)
        return Contender(peer.name, f"{method}, {setting.name}", command)

    def _command(self, words, environment=None):
        """A program that starts its ranks itself: its name, the operation, and arguments."""
        name, operation, *arguments = words
        argv = (self._program(name), *self._arguments(operation, *arguments))
        return Command(argv, (environment or {},), self._plan.limit_s)

    def _arguments(self, operation, *arguments):
        limits = ("--budget-ms", str(self._plan.budget_ms), "--limit-s", str(int(self._plan.limit_s) + BACKSTOP_S))
        return ("--operation", operation, *limits, *arguments)

    def _program(self, name):
        return os.path.join(self._plan.programs, f"{SUITE}_{name}")
