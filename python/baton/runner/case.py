"""One test in a process of its own: pytest, with nothing left over from other tests."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import uuid

import baton
from baton.runner.collect import Test, compat_arguments, plugin_arguments
from baton.runner.processes import TOKEN, descendants, kill_tree


class Case:
    """A running test. Its process leads a session: what it starts can be found and ended with it."""

    def __init__(self, test: Test, devices: list[int], platform: str, limit: float, arguments: list[str], *,
                 compat: bool = False):
        self.test, self.devices = test, devices
        self.limit = test.limit or limit
        self.started = time.monotonic()
        self._output = tempfile.TemporaryFile()
        self._token = uuid.uuid4().hex
        listed = baton.format_device_list(devices)
        of_compat = [*compat_arguments(platform), f"--device={listed}"] if compat else []
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=short", "-q", "--no-header", "-rN",
                   *plugin_arguments(), f"--baton-platform={platform}",
                   f"--baton-devices={listed}", *of_compat, *arguments, test.name]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._output,
                                         stderr=subprocess.STDOUT, start_new_session=True,
                                         env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1",
                                              "PYTHONFAULTHANDLER": "1", TOKEN: self._token})
        self.pidfd = os.pidfd_open(self._process.pid)

    @property
    def deadline(self) -> float:
        return self.started + self.limit

    def output(self) -> str:
        """What the test said, without the frames of pytest in the stacks of a test that was killed."""
        self._output.seek(0)
        lines = self._output.read().decode(errors="replace").splitlines()
        noise = ("/_pytest/", "/pluggy/", "/pytest/", "<frozen runpy>", "Extension modules:", "Fatal Python error: Abort")
        return "\n".join(line for line in lines if not any(word in line for word in noise))

    def wait_report(self) -> str:
        """What the processes of the test wait for, in the words of `baton ps`."""
        from baton._program import path
        program = path()
        if program is None:
            return ""
        own = {self._process.pid, *descendants(self._process.pid, self._token)}
        try:
            listed = subprocess.run([program, "ps"], capture_output=True, text=True, timeout=10, check=False).stdout
        except (OSError, subprocess.TimeoutExpired):
            return ""
        lines = listed.splitlines()
        rows = [line for line in lines[1:] if any(word.isdigit() and int(word) in own for word in line.split())]
        return "\n".join([lines[0], *rows]) if rows else ""

    def tracebacks(self) -> None:
        """Asks Python for the stack of every thread; it goes to the output."""
        os.kill(self._process.pid, signal.SIGABRT)
        ended = select.poll()
        ended.register(self.pidfd, select.POLLIN)
        ended.poll(2000)

    def finish(self) -> int:
        """Ends the test and what it left running. The exit code."""
        # Before the process is reaped: until then nobody else has its number.
        kill_tree(self._process.pid, self._token)
        code = self._process.wait()
        os.close(self.pidfd)
        return code
