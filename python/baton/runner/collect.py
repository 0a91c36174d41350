"""Which tests there are: pytest finds them, in a process of its own."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import tempfile


@dataclasses.dataclass(frozen=True)
class Test:
    name: str  # as pytest names it: file::test[parameters]
    devices: int = 1
    limit: float | None = None
    problem: str = ""  # why it cannot even be read


@dataclasses.dataclass(frozen=True)
class Collected:
    tests: list[Test]
    problem: str = ""
    deselected: int = 0  # for other platforms, or only on request


class _Writer:
    """A plugin for the collecting process: writes what was found."""

    def __init__(self, path: str):
        self.path = path
        self.deselected = 0
        self.broken: list[dict] = []

    def pytest_deselected(self, items):
        self.deselected += len(items)

    def pytest_collectreport(self, report):
        if report.failed:
            self.broken.append({"name": report.nodeid, "problem": report.longreprtext})

    def pytest_collection_finish(self, session):
        from baton.pytest_plugin import devices_of, limit_of
        tests = [{"name": item.nodeid, "devices": devices_of(item), "limit": limit_of(item)} for item in session.items]
        with open(self.path, "w", encoding="utf-8") as file:
            json.dump({"root": str(session.config.rootpath), "tests": tests, "broken": self.broken,
                       "deselected": self.deselected}, file)


def plugin_arguments() -> list[str]:
    """Loads the plugin once, whether the package is installed, which registers it, or not."""
    from importlib import metadata
    points = metadata.entry_points(group="pytest11")
    return [] if any(point.value == "baton.pytest_plugin" for point in points) else ["-p", "baton.pytest_plugin"]


def compat_arguments(platform: str) -> list[str]:
    """For tests of projects that baton.compat runs."""
    from baton.compat.pytest_plugin import ARGUMENTS
    return [*ARGUMENTS, f"--platform={platform}"]


def collect(paths: list[str], words: str, arguments: list[str], *, keep_going: bool = False) -> Collected:
    """keep_going: a file that cannot be read is a test that fails, beside the others."""
    with tempfile.TemporaryDirectory(prefix="baton-test-") as folder:
        target = os.path.join(folder, "tests.json")
        program = ("import sys, pytest; from baton.runner.collect import _Writer; "
                   "sys.exit(pytest.main(sys.argv[2:], plugins=[_Writer(sys.argv[1])]))")
        command = [sys.executable, "-c", program, target, "--collect-only", "-q", "-p", "no:cacheprovider",
                   *plugin_arguments(), *(["-k", words] if words else []), *arguments, *paths]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        broken = done.returncode not in (0, 5)
        if not os.path.exists(target) or (broken and not keep_going):
            said = (done.stdout + done.stderr).strip()
            return Collected([], f"{said}\nbaton test: the tests cannot be collected")
        with open(target, encoding="utf-8") as file:
            found = json.load(file)
    root = found["root"]

    def named(name: str) -> str:
        return os.path.join(os.path.relpath(root), name) if root != os.getcwd() else name

    tests = [Test(named(test["name"]), test["devices"], test["limit"]) for test in found["tests"]]
    tests += [Test(named(test["name"]), problem=test["problem"]) for test in found["broken"]]
    return Collected(tests, deselected=found["deselected"])
