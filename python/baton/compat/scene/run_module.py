"""A scene test that is run as a program: python -m baton.compat test_x.py -p a5sim --case Class::"""

from __future__ import annotations

import argparse
import sys
import traceback
from typing import Any

import baton
from baton.compat.kernel_compiler import PLATFORMS
from baton.compat.not_offered import NotOffered
from baton.compat.scene.case import SceneTestCase
from baton.compat.scene.options import SceneOptions, add_options
from baton.compat.scene.selection import device_count, matching_cases
from baton.compat.scene.workers import worker_for


class _Request:
    """As much of pytest's request as test_run() needs."""

    def __init__(self, options: argparse.Namespace):
        self.config, self._options = self, options

    def getoption(self, name: str, default: Any = None) -> Any:
        return getattr(self._options, name.lstrip("-").replace("-", "_"), default)


def _parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Runs the scene tests of this file.")
    parser.add_argument("-p", "--platform", default="a2a3sim")
    parser.add_argument("-d", "--device", default=None, metavar="LIST",
                        help="0-3, or 0,2-4; default: as many as needed")
    parser.add_argument("-x", "--exitfirst", action="store_true", help="stop after the first failure")
    add_options(parser.add_argument)
    return parser.parse_args(arguments)


def _classes(module_name: str, options: SceneOptions) -> list[type]:
    found = [one for one in vars(sys.modules[module_name]).values()
             if isinstance(one, type) and issubclass(one, SceneTestCase) and one is not SceneTestCase
             and one.__module__ == module_name]
    return [one for one in dict.fromkeys(found) if options.takes(one._st_level, one._st_runtime)]


def run_module(module_name: str, arguments: list[str]) -> int:
    """0: all passed. 1: some failed. 2: nothing matches."""
    given = _parse(arguments)
    request = _Request(given)
    try:
        options = SceneOptions.read(request.getoption)
    except NotOffered as refused:
        print(refused, file=sys.stderr)
        return 2
    if given.platform not in PLATFORMS:
        print(f"there is no platform {given.platform!r} here; there are {', '.join(PLATFORMS)}", file=sys.stderr)
        return 2
    failed = ran = 0
    for test_class in _classes(module_name, options):
        cases = matching_cases(test_class, given.platform, options.case, options.manual)
        if not cases:
            continue
        ran += 1
        needed = device_count(test_class, cases)
        devices = baton.parse_device_list(given.device) if given.device else list(range(needed))
        names = ", ".join(case["name"] for case in cases)
        try:
            if len(devices) < needed:
                raise RuntimeError(f"{test_class.__name__} needs {needed} devices, and --device gives {len(devices)}")
            with worker_for(test_class, given.platform, devices[:needed], cases) as worker:
                test_class().test_run(given.platform, worker, request)
            print(f"PASSED {test_class.__name__}: {names}")
        except Exception:
            traceback.print_exc()
            print(f"FAILED {test_class.__name__}: {names}")
            failed += 1
            if given.exitfirst:
                break
    if not ran:
        print(f"no case of {module_name} matches, on {given.platform}", file=sys.stderr)
        return 2
    return 1 if failed else 0
