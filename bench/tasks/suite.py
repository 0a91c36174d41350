"""Tasks with empty kernels, beside OpenMP, StarPU and oneTBB, and a loop that knows a right order."""

import os

from harness.cases import BYTES, OURS, Case, Contender, Floor
from harness.machine import output_of, version_in
from harness.programs import Command

SUITE = "tasks"
PATTERNS = ("chain", "independent", "fan", "cholesky", "stencil", "random")
TASKS, QUICK_TASKS = 100_000, 20_000
QUICK_SUBMIT = ("fan", "random")
MANY_VIEWS, FEW_VIEWS = 12_000, 12
LONG_STREAM, QUICK_LONG_STREAM, SHORT_STREAM = 10_000_000, 1_000_000, 100_000
DEFERRED = 10_000
# Microseconds that a task works, and how many of them there are.
SCALING = {1: 20_000, 10: 5_000, 100: 1_000}
SCALING_PATTERNS = ("independent", "cholesky")
# What the same program does with less: no peer, but in its column.
BASELINE = "baseline"
# A program ends itself this long after the harness should have ended it.
BACKSTOP_S = 10


def cases(plan):
    """All cases of the suite, in the order of the table."""
    suite = TaskSuite(plan)
    return [
        *(suite.tasks(pattern) for pattern in PATTERNS),
        *(suite.replay(pattern) for pattern in PATTERNS),
        *(suite.submit(pattern) for pattern in PATTERNS),
        *(suite.scaling(pattern, work) for pattern in SCALING_PATTERNS for work in SCALING),
        suite.run_one(),
        suite.views(),
        suite.memory(),
        suite.deferred(),
    ]


def versions():
    """The version of each peer that is installed, None for the others."""
    has_libomp = output_of("clang++", "-fopenmp", "-fsyntax-only", "-include", "omp.h", "-x", "c++", os.devnull)
    return {
        "gcc": version_in(output_of("g++", "-dumpfullversion")),
        "llvm": None if has_libomp is None else version_in(output_of("clang++", "--version")),
        "tbb": version_in(output_of("pkg-config", "--modversion", "tbb")),
        "starpu": version_in(output_of("pkg-config", "--modversion", "starpu-1.3")),
    }


class TaskSuite:
    def __init__(self, plan):
        self._plan = plan
        self._tasks = QUICK_TASKS if plan.quick else TASKS

    def tasks(self, pattern):
        contenders = self._contenders("tasks", pattern, self._tasks)
        return Case(SUITE, f"tasks/{pattern}", contenders, self._loop(pattern), in_quick=True)

    def _loop(self, pattern):
        return Floor(
            {"loop": self._command("floor", "tasks", pattern=pattern, tasks=self._tasks)},
            lambda part: part["loop"],
            "calls in a known order",
        )

    def replay(self, pattern):
        """A captured graph, run again; peers build theirs each time."""
        ours = self._command("ours", "replay", pattern=pattern, tasks=self._tasks)
        peers = self._contenders("tasks", pattern, self._tasks)[1:]
        floor = self._loop(pattern)
        return Case(SUITE, f"replay/{pattern}", (Contender(OURS, "default", ours), *peers), floor, in_quick=True)

    def submit(self, pattern):
        contenders = self._contenders("submit", pattern, self._tasks)
        return Case(SUITE, f"submit/{pattern}", contenders, in_quick=pattern in QUICK_SUBMIT)

    def scaling(self, pattern, work):
        """Tasks that work, on all processors: the floor over ours is the efficiency."""
        arguments = {"pattern": pattern, "tasks": SCALING[work], "work-ns": 1000 * work}
        loop = self._command("floor", "tasks", **arguments)
        threads = self._plan.processors
        floor = Floor({"loop": loop}, lambda part: part["loop"] / threads, f"the work / {threads} processors")
        replay = Contender(OURS, "replay", self._command("ours", "replay", **arguments))
        contenders = self._contenders("tasks", **arguments)
        return Case(SUITE, f"scaling/{pattern}/{work}us", (*contenders, replay), floor, in_quick=False)

    def run_one(self):
        handoff = self._command("floor", "handoff", suite="comm")
        floor = Floor({"handoff": handoff}, lambda part: 2 * part["handoff"], "2 x hand-off: there and back")
        return Case(SUITE, "run_one", self._contenders("tasks", "chain", 1), floor, in_quick=True)

    def views(self):
        contenders = (
            Contender(OURS, f"{MANY_VIEWS} live views", self._command("ours", "views", live=MANY_VIEWS)),
            Contender(BASELINE, f"{FEW_VIEWS} live views", self._command("ours", "views", live=FEW_VIEWS)),
        )
        return Case(SUITE, "views", contenders, in_quick=True)

    def memory(self):
        tasks = QUICK_LONG_STREAM if self._plan.quick else LONG_STREAM
        contenders = tuple(
            Contender(name, f"{count} tasks", self._command("ours", "memory", pattern="random", tasks=count))
            for name, count in ((OURS, tasks), (BASELINE, SHORT_STREAM))
        )
        return Case(SUITE, "memory", contenders, in_quick=True, unit=BYTES)

    def deferred(self):
        contenders = (
            Contender(OURS, f"{DEFERRED} deferred tasks", self._command("ours", "deferred", live=DEFERRED)),
            Contender(BASELINE, "none", self._command("ours", "deferred", live=0)),
        )
        return Case(SUITE, "deferred", contenders, in_quick=True)

    def _contenders(self, operation, pattern, tasks, **others):
        graph = {"pattern": pattern, "tasks": tasks, **others}
        contenders = [Contender(OURS, "default", self._command("ours", operation, **graph))]
        for peer, settings in self._settings(pattern).items():
            if not os.path.exists(self._program(peer)):
                continue
            for setting, (environment, arguments) in settings.items():
                command = self._command(peer, operation, environment, **graph, **arguments)
                contenders.append(Contender(peer, setting, command))
                if self._plan.quick:
                    break
        return tuple(contenders)

    def _settings(self, pattern):
        """Environment and arguments by peer and setting, the one that is expected to serve best first."""
        threads = str(max(2, self._plan.processors))
        openmp = {"OMP_NUM_THREADS": threads, "OMP_DYNAMIC": "false"}
        active = openmp | {"OMP_WAIT_POLICY": "active", "OMP_PROC_BIND": "true"}
        passive = openmp | {"OMP_WAIT_POLICY": "passive"}
        # Its workers never sleep, so the submitter gets a processor. It keeps files for each machine below the folder.
        starpu = {
            "STARPU_HOME": self._plan.programs,
            "STARPU_SILENT": "1",
            "STARPU_NCPU": str(max(1, self._plan.processors - 1)),
        }
        tbb = {"lightweight nodes": ({}, {"method": "lightweight"}), "default": ({}, {})}
        if pattern == "chain":
            # A lightweight node calls the next one: no stack holds a chain.
            del tbb["lightweight nodes"]
        return {
            "gcc": {"active": (active, {}), "default": (openmp, {}), "passive": (passive, {})},
            "llvm": {
                "active": (active | {"KMP_BLOCKTIME": "infinite"}, {}),
                "default": (openmp, {}),
                "passive": (passive, {}),
            },
            "tbb": tbb,
            "starpu": {name: (starpu | {"STARPU_SCHED": name}, {}) for name in ("lws", "prio")},
        }

    def _command(self, program, operation, environment=None, suite=SUITE, **arguments):
        limits = ("--budget-ms", str(self._plan.budget_ms), "--limit-s", str(int(self._plan.limit_s) + BACKSTOP_S))
        words = [word for name, value in arguments.items() for word in (f"--{name}", str(value))]
        argv = (self._program(program, suite), "--operation", operation, *limits, *words)
        return Command(argv, (environment or {},), self._plan.limit_s)

    def _program(self, name, suite=SUITE):
        return os.path.join(self._plan.programs, f"{suite}_{name}")
