"""What Baton raises."""

from __future__ import annotations

import enum
import re
from typing import NamedTuple

from baton import _core

_TABLE = {number: (name, sentence, remedy) for number, name, sentence, remedy in _core.error_table()}

Code = enum.IntEnum("Code", {name: number for number, (name, _, _) in _TABLE.items()}, module="baton")
Code.__doc__ = "The numbers of all failures; docs/reference/errors.md has a paragraph for each."


class Place(NamedTuple):
    """A line of a source file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


_RANK = re.compile(r"\brank (\d+)\b")
_TASK = re.compile(r"\bin (?P<kernel>.+?) \(task (?P<task>\d+)(?:, submitted at (?P<file>.+?):(?P<line>\d+))?\)")
_PLACE = re.compile(r"\bat (?P<file>[^\s:]+):(?P<line>\d+)")


class Error(RuntimeError):
    """A failure, with what is known about it.

    code      a number of the one table, baton.Code
    message   one line with numbers and names
    notes     further facts, one line each
    remedy    what to try
    rank      the rank that failed or waited, None if it is not about one
    task      the number of the task that failed, None if it is not about one
    kernel    the name of its kernel
    place     file and line: where the task was submitted, or where the kernel failed

    str() is the whole report.
    """

    def __init__(self, code: int, message: str, notes: list[str] | tuple[str, ...] = (), remedy: str = ""):
        self.code = Code(code) if code in _TABLE else Code.internal
        self.remedy: str = remedy or _TABLE[self.code][2]
        self.message, self.notes = message, list(notes)
        if message.endswith("]") and "\n  try: " in message:  # a whole report, from the C interface or a process
            lines = message.split("\n")
            self.message = lines[0]
            self.notes = [line.strip() for line in lines[1:-1]] + self.notes
            self.remedy = remedy or lines[-1].strip().removeprefix("try: ").rpartition("  [BATON-E")[0]
        report = [self.message, *(f"  {note}" for note in self.notes)]
        report.append(f"  try: {self.remedy}  [BATON-E{self.code:03}]")
        super().__init__("\n".join(report))
        rank = _RANK.search(self.message)
        self.rank: int | None = int(rank[1]) if rank else None
        self.task: int | None = None
        self.kernel: str | None = None
        self.place: Place | None = None
        for note in self.notes:
            found = _TASK.search(note)
            if found:
                self.task, self.kernel = int(found["task"]), found["kernel"]
                if found["file"]:
                    self.place = Place(found["file"], int(found["line"]))
                break
        else:
            for line in (self.message, *self.notes):
                found = _PLACE.search(line)
                if found:
                    self.place = Place(found["file"], int(found["line"]))
                    break

    def __reduce__(self):
        return Error, (int(self.code), self.message, self.notes, self.remedy)


# As users know it, also in tracebacks.
Error.__module__ = "baton"
_core.set_error_class(Error)
