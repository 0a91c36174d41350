"""Runs the tests of a schedule and gathers what became of them."""

from __future__ import annotations

import dataclasses
import select
import time

from baton.runner.case import Case
from baton.runner.collect import Test
from baton.runner.report import Progress
from baton.runner.schedule import Schedule

_OUTCOMES = {0: "passed", 5: "skipped"}


@dataclasses.dataclass(frozen=True)
class Result:
    test: Test
    outcome: str  # passed, failed, skipped, killed, impossible, not run
    waited: float = 0.0
    ran: float = 0.0
    devices: tuple[int, ...] = ()
    output: str = ""


class Session:
    def __init__(self, schedule: Schedule, platform: str, limit: float, arguments: list[str], progress: Progress, *,
                 compat: bool = False):
        self._schedule, self._platform, self._limit = schedule, platform, limit
        self._arguments, self._progress, self._compat = arguments, progress, compat
        self._started = time.monotonic()
        self._running: dict[int, Case] = {}
        self._poll = select.poll()
        self.results: list[Result] = []
        self.interrupted = False

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    def run(self) -> list[Result]:
        for test in self._schedule.impossible():
            self._add(Result(test, "impossible", output=f"needs {test.devices} devices, more than --device gives"))
        for test in self._schedule.unreadable():
            self._add(Result(test, "failed", output=test.problem))
        try:
            while self._start_what_fits() or self._running:
                self._wait_for_one()
        except KeyboardInterrupt:
            self.interrupted = True
            for case in self._running.values():
                case.finish()
                self._add(self._result(case, "killed", case.output() + "\ninterrupted"))
            for test in self._schedule.drop_waiting():
                self._add(Result(test, "not run"))
        self._progress.close()
        return self.results

    def _start_what_fits(self) -> bool:
        started = False
        while True:
            fits = self._schedule.next()
            if fits is None:
                return started
            test, devices = fits
            case = Case(test, devices, self._platform, self._limit, self._arguments, compat=self._compat)
            self._running[case.pidfd] = case
            self._poll.register(case.pidfd, select.POLLIN)
            self._progress.show([running.test.name for running in self._running.values()])
            started = True

    def _wait_for_one(self) -> None:
        deadline = min(case.deadline for case in self._running.values())
        ended = self._poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
        for pidfd, _ in ended:
            case = self._take(pidfd)
            code = case.finish()
            output = case.output()
            outcome = _OUTCOMES.get(code, "failed")
            if outcome == "passed" and " skipped" in output.strip().splitlines()[-1:][0] and " passed" not in output:
                outcome = "skipped"
            self._add(self._result(case, outcome, output if outcome == "failed" else ""))
        now = time.monotonic()
        for pidfd, case in list(self._running.items()):
            if case.deadline <= now:
                self._take(pidfd)
                self._add(self._kill(case))

    def _kill(self, case: Case) -> Result:
        report = case.wait_report()
        case.tracebacks()
        case.finish()
        text = f"{case.output().rstrip()}\nkilled after {case.limit:g} s, the limit of this test, with all it started"
        return self._result(case, "killed", text + (f"\nwhat it waited for:\n{report}" if report else ""))

    def _take(self, pidfd: int) -> Case:
        self._poll.unregister(pidfd)
        case = self._running.pop(pidfd)
        self._schedule.give_back(case.devices)
        return case

    def _result(self, case: Case, outcome: str, output: str) -> Result:
        return Result(case.test, outcome, case.started - self._started, time.monotonic() - case.started,
                      tuple(case.devices), output)

    def _add(self, result: Result) -> None:
        self.results.append(result)
        self._progress.done(result)
