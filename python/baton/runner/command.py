"""The command line of the runner."""

from __future__ import annotations

import argparse
import os
import sys

import baton
from baton.runner.collect import collect, compat_arguments
from baton.runner.pipe import quietly
from baton.runner.report import Progress, write_junit, write_summary
from baton.runner.schedule import Schedule
from baton.runner.session import Session


def _seconds(text: str) -> float:
    units = {"ms": 1e-3, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}
    for unit in sorted(units, key=len, reverse=True):
        if text.endswith(unit):
            return float(text[: -len(unit)]) * units[unit]
    return float(text)


def _arguments(given: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="baton test", description="Runs tests of kernels on devices, each test in a process of its own.",
        epilog="A test says how many devices it uses with @pytest.mark.devices(4), and how long it may run with "
               "@pytest.mark.limit(20). What follows -- goes to pytest.")
    parser.add_argument("paths", nargs="*", default=["."], metavar="PATH", help="files, folders or tests (file::test)")
    parser.add_argument("-p", "--platform", default="a2a3sim", help="the platform to run on (default: %(default)s)")
    parser.add_argument("-d", "--device", default="0-7", metavar="LIST", help="the devices: 0, 0-3, 0,2-4 "
                        "(default: %(default)s)")
    parser.add_argument("--max-parallel", type=int, default=0, metavar="N",
                        help="tests at the same time (default: as many as there are processors)")
    parser.add_argument("-k", metavar="WORDS", default="", help="only tests whose names match, as in pytest")
    parser.add_argument("--limit", type=_seconds, default=None, metavar="TIME",
                        help="how long a test may run that does not say it (default: 60s, with --compat 5min)")
    parser.add_argument("--junit", metavar="FILE", help="write the results as JUnit XML")
    parser.add_argument("--compat", action="store_true", help="tests of a project for the runtime `simpler`, as they are")
    parser.add_argument("--list", action="store_true", help="show the tests and their devices, and run none")
    own = sys.argv[1:] if given is None else given
    rest = own[own.index("--") + 1:] if "--" in own else []
    options = parser.parse_args(own[: own.index("--")] if "--" in own else own)
    options.pytest_arguments = rest
    if options.limit is None:
        options.limit = 300.0 if options.compat else 60.0  # a scene test compiles its kernels and runs all its cases
    return options


def main(given: list[str] | None = None) -> int:
    """0: all passed. 1: some failed. 2: the command line, or the tests, cannot be read. 5: there are no tests."""
    return quietly(lambda: _run(_arguments(given)))


def _run(options: argparse.Namespace) -> int:
    try:
        devices = baton.parse_device_list(options.device)
    except baton.Error as error:
        print(f"baton test: {error}", file=sys.stderr)
        return 2
    extra = compat_arguments(options.platform) if options.compat else []
    found = collect(options.paths, options.k, [*extra, *options.pytest_arguments], keep_going=options.compat)
    if found.problem:
        print(found.problem, file=sys.stderr)
        return 2
    if options.compat and found.deselected:
        print(f"baton test: {found.deselected} tests are deselected: for other platforms, or not asked for",
              file=sys.stderr)
    if options.list:
        for test in found.tests:
            print(f"{test.devices:3} device{'s' if test.devices > 1 else ' '}  {test.name}")
        return 0
    if not found.tests:
        print("baton test: there are no tests to run")
        return 5
    parallel = options.max_parallel or len(os.sched_getaffinity(0))
    progress = Progress(len(found.tests), sys.stderr)
    schedule = Schedule(found.tests, devices, parallel)
    session = Session(schedule, options.platform, options.limit, options.pytest_arguments, progress,
                      compat=options.compat)
    results = session.run()
    if options.junit:
        write_junit(options.junit, results)
    write_summary(results, session.seconds, sys.stdout)
    if session.interrupted:
        return 130
    return 1 if any(result.outcome in ("failed", "killed", "impossible") for result in results) else 0
