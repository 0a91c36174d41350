"""Running one measuring program and reading the line it prints."""

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass, field

KILL_GRACE_S = 5


class ProgramFailed(Exception):
    """A program that gave no number; the message says why."""


@dataclass(frozen=True)
class Command:
    """One measuring program as a user would start it.

    `environments` has one entry per process to start: a launcher needs a single one, ranks that are started without a
    launcher one each. Entries are added to the environment of the harness.
    """

    argv: tuple[str, ...]
    environments: tuple[dict, ...] = field(default=({},))
    limit_s: float = 60


@dataclass(frozen=True)
class Sample:
    """What one run reported: nanoseconds per operation or bytes, and over how many operations."""

    value: float
    count: int


def run(command):
    """Runs `command` to its end and returns its Sample, or raises ProgramFailed."""
    started_ns = time.monotonic_ns()
    processes = []
    try:
        for extra in command.environments:
            processes.append(
                subprocess.Popen(
                    command.argv,
                    env=os.environ | extra,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                    start_new_session=True,
                )
            )
        outputs = [_finish(process, started_ns, command) for process in processes]
    except OSError as error:
        raise ProgramFailed(f"{command.argv[0]}: {error.strerror}") from error
    finally:
        for process in processes:
            _end(process)
    return parse("".join(outputs), started_ns)


def parse(output, started_ns):
    """The Sample in a program's output. A program that knows only when it was ready counts from `started_ns`."""
    for line in output.splitlines():
        if not line.startswith("{"):
            continue
        try:
            fields = json.loads(line)
            sample = Sample(float(_value_in(fields, started_ns)), int(fields["count"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ProgramFailed(f"cannot read the line {line!r}") from error
        if sample.value <= 0 or sample.count <= 0:
            raise ProgramFailed(f"reported {sample.value} for {sample.count} operations")
        return sample
    raise ProgramFailed("printed no result")


def _value_in(fields, started_ns):
    for name in ("median_ns", "bytes"):
        if name in fields:
            return fields[name]
    return fields["ready_at_ns"] - started_ns


def _finish(process, started_ns, command):
    left = command.limit_s - (time.monotonic_ns() - started_ns) / 1e9
    try:
        output, errors = process.communicate(timeout=max(left, 0.001))
    except subprocess.TimeoutExpired:
        raise ProgramFailed(f"took longer than {command.limit_s:g} s") from None
    if process.returncode == -signal.SIGALRM:
        raise ProgramFailed(f"took longer than {command.limit_s:g} s")
    if process.returncode != 0:
        raise ProgramFailed(f"exit status {process.returncode}: {_last_words(errors)}")
    return output


def _last_words(errors):
    """The line that says what went wrong: the first one, or the exception below the first traceback of Python."""
    lines = [line for line in errors.splitlines() if line.strip(" =-*\n")]
    for place, line in enumerate(lines):
        if line.startswith("Traceback (most recent call last)"):
            lines = [below for below in lines[place + 1 :] if not below.startswith(" ")] or lines
            break
    return lines[0].strip() if lines else "no message"


def _end(process):
    """Ends a process that still runs, and what it started: politely first, so that a launcher can end its ranks."""
    if process.poll() is None:
        for number, grace_s in ((signal.SIGTERM, KILL_GRACE_S), (signal.SIGKILL, None)):
            try:
                os.killpg(process.pid, number)
                process.wait(grace_s)
                break
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
    for stream in (process.stdout, process.stderr):
        stream.close()
