"""What the runner shows: a line of progress, the failures, a summary, JUnit XML."""

from __future__ import annotations

import shutil
from typing import IO, Any
from xml.etree import ElementTree

import baton

FAILURES = ("failed", "killed", "impossible")


class Progress:
    """One line that changes on a terminal; elsewhere a line for each test."""

    def __init__(self, total: int, stream: IO[str]):
        self._total, self._stream = total, stream
        self._live = stream.isatty()
        self._done = self._bad = 0

    def show(self, running: list[str]) -> None:
        if not self._live:
            return
        bad = f", {self._bad} bad" if self._bad else ""
        text = f"[{self._done}/{self._total}{bad}] {', '.join(name.rpartition('::')[2] for name in running)}"
        width = shutil.get_terminal_size().columns - 1
        self._stream.write("\r" + text[:width].ljust(width))
        self._stream.flush()

    def done(self, result: Any) -> None:
        self._done += 1
        self._bad += result.outcome in FAILURES
        if self._live:
            self.show([result.test.name])
            return
        where = f" on {baton.format_device_list(list(result.devices))}" if result.devices else ""
        self._stream.write(f"[{self._done}/{self._total}] {result.outcome:7} {result.test.name}{where} "
                           f"({result.ran:.2f} s)\n")
        self._stream.flush()

    def close(self) -> None:
        if self._live:
            self._stream.write("\r" + " " * (shutil.get_terminal_size().columns - 1) + "\r")
            self._stream.flush()


def write_summary(results: list[Any], seconds: float, stream: IO[str]) -> None:
    """The output of what failed, then a table of how long each test waited for devices and ran."""
    for result in results:
        if result.outcome in FAILURES:
            stream.write(f"\n---- {result.test.name}: {result.outcome}\n{result.output.rstrip()}\n")
    width = max(len(result.test.name) for result in results)
    stream.write(f"\n{'test':{width}}  {'outcome':10}  {'devices':>8}  {'waited':>8}  {'ran':>8}\n")
    for result in results:
        devices = baton.format_device_list(list(result.devices)) if result.devices else "-"
        stream.write(f"{result.test.name:{width}}  {result.outcome:10}  {devices:>8}  {result.waited:6.2f} s  "
                     f"{result.ran:6.2f} s\n")
    counts: dict[str, int] = {}
    for result in results:
        counts[result.outcome] = counts.get(result.outcome, 0) + 1
    told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    stream.write(f"\n{len(results)} tests in {seconds:.2f} s: {told}\n")


def write_junit(path: str, results: list[Any]) -> None:
    suite = ElementTree.Element("testsuite", name="baton", tests=str(len(results)),
                                failures=str(sum(result.outcome in FAILURES for result in results)),
                                skipped=str(sum(result.outcome in ("skipped", "not run") for result in results)),
                                time=f"{sum(result.ran for result in results):.3f}")
    for result in results:
        file, _, name = result.test.name.partition("::")
        case = ElementTree.SubElement(suite, "testcase", classname=file, name=name, time=f"{result.ran:.3f}")
        properties = ElementTree.SubElement(case, "properties")
        ElementTree.SubElement(properties, "property", name="waited", value=f"{result.waited:.3f}")
        ElementTree.SubElement(properties, "property", name="devices", value=",".join(map(str, result.devices)))
        if result.outcome in FAILURES:
            printable = "".join(c if c.isprintable() or c in "\n\t" else "?" for c in result.output)
            ElementTree.SubElement(case, "failure", message=result.outcome).text = printable
        elif result.outcome != "passed":
            ElementTree.SubElement(case, "skipped", message=result.outcome)
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.ElementTree(suites).write(path, encoding="utf-8", xml_declaration=True)
