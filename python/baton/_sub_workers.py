"""Processes that run the Python functions of submit_sub().

A function travels by its import path, or through cloudpickle if that is installed; arrays stay where they are: the
other process maps the same memory.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import socket
import struct
import subprocess
import sys
import threading
from typing import Any, Callable, Iterator, Sequence

from baton._core import Tensor
from baton._errors import Code, Error
from baton._travel import Call, Raised, name_of, packed, portable


_REMEDY = "Correct the function. What it raised is the cause of this error; what it wrote is above."
_REMEDY_LATE = ("Look for what the function waits for. BATON_KERNEL_TIMEOUT, or kernel_timeout= of the node, gives slower "
                "functions more time.")


class RemoteTraceback(Exception):
    """The traceback of the process in which a function raised."""

    def __init__(self, text: str):
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return "\n" + self.text


def send(stream: socket.socket, message: Any) -> None:
    data = pickle.dumps(message)
    stream.sendall(struct.pack("<Q", len(data)) + data)


def receive(stream: socket.socket) -> Any:
    """The next message. Raises EOFError when the other side is gone."""
    def exactly(count: int) -> bytes:
        parts = []
        while count:
            part = stream.recv(min(count, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    return pickle.loads(exactly(struct.unpack("<Q", exactly(8))[0]))


def backing_of(address: int) -> tuple[int, int] | None:
    """Where the memory behind an address comes from: (descriptor of this process, offset in its file). Others can open
    the descriptor through /proc. None if no descriptor is behind it."""
    inode = offset = None
    with open("/proc/self/maps", encoding="utf-8") as file:
        for line in file:
            fields = line.split(None, 5)
            begin, end = (int(part, 16) for part in fields[0].split("-"))
            if begin <= address < end:
                if len(fields) == 6 and fields[5].startswith("/memfd:"):
                    inode, offset = int(fields[4]), int(fields[2], 16) + address - begin
                break
    if inode is None:
        return None
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            # Sockets and pipes number their inodes for themselves.
            if os.readlink(f"/proc/self/fd/{name}").startswith("/memfd:") and os.stat(int(name)).st_ino == inode:
                return int(name), offset
    return None


def import_path() -> list[str]:
    """Where this process imports from, as another process can say it. An empty entry is the current folder."""
    return [entry or os.getcwd() for entry in sys.path if isinstance(entry, str)]


# The first word that is imported from a file is imported from the path of the parent.
_START = "import sys; sys.path[:] = sys.argv[3:]; from baton._subworker import main; main(*map(int, sys.argv[1:3]))"


class _Process:
    """One process of the pool."""

    def __init__(self) -> None:
        self.stream, theirs = socket.socketpair()
        package_parent = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        path = list(dict.fromkeys([*import_path(), package_parent]))
        flags = subprocess._args_from_interpreter_flags()  # as multiprocessing does
        with theirs:
            self.process = subprocess.Popen([sys.executable, *flags, "-c", _START, str(theirs.fileno()),
                                             str(os.getpid()), *path],
                                            pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)

    def call(self, message: Call, limit: float) -> Raised | None:
        """Raises TimeoutError if there is no answer within `limit` seconds; 0: no limit."""
        self.stream.settimeout(limit or None)
        send(self.stream, message)
        return receive(self.stream)

    def end(self) -> str:
        """How it ended: by itself, now that nobody talks to it any more, or by force."""
        self.stream.close()
        try:
            code = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    def kill(self) -> None:
        self.process.kill()
        self.end()


class SubWorkers:
    """A pool of processes, started when they are first needed. A function may run for `limit` seconds; 0: as long as it
    likes."""

    def __init__(self, count: int, limit: float):
        self._idle: queue.LifoQueue[_Process | None] = queue.LifoQueue()
        for _ in range(count):
            self._idle.put(None)
        self._count, self._limit, self._closed = count, limit, False
        self._lock = threading.Lock()
        self._collectors: list[list[BaseException]] = []

    @contextlib.contextmanager
    def collect(self, failures: list[BaseException]) -> Iterator[None]:
        """What functions raise meanwhile is added to `failures`."""
        with self._lock:
            self._collectors.append(failures)
        try:
            yield
        finally:
            with self._lock:
                self._collectors = [one for one in self._collectors if one is not failures]

    def caller(self, function: Callable, scalars: Sequence[Any]) -> Callable[[list[Tensor]], None]:
        """What a thread of the node calls with the tensors of a task. It raises Error."""
        how, arguments = portable(function), packed(list(scalars), function)

        def call(tensors: list[Tensor]) -> None:
            told = self._call(Call(how, os.getpid(), [self._describe(tensor) for tensor in tensors], arguments,
                                   import_path()))
            if told is None:
                return
            told.failure.__cause__ = RemoteTraceback(told.text)
            with self._lock:
                for collector in self._collectors:
                    collector.append(told.failure)
            if isinstance(told.failure, Error):
                raise told.failure
            raise Error(Code.rank_failed, f"{name_of(how)} raised {told.summary}", remedy=_REMEDY) from told.failure

        return call

    @staticmethod
    def _describe(tensor: Tensor) -> tuple:
        found = backing_of(tensor.address)
        if found is None:
            raise Error(Code.invalid_argument, "a sub-worker cannot reach this tensor",
                        ["pass memory of create_buffer(), tensor() or alloc()"])
        return (*found, tensor.shape, tensor.strides, tensor.dtype)

    def _call(self, message: Call) -> Raised | None:
        process = self._idle.get()
        try:
            if process is None:
                process = _Process()
            try:
                return process.call(message, self._limit)
            except TimeoutError:
                process.kill()
                process = None
                raise Error(Code.kernel_timeout,
                            f"{name_of(message.how)} has run for more than {self._limit:.3g} s; its process was ended",
                            remedy=_REMEDY_LATE) from None
            except (EOFError, OSError):
                how_ended = process.end()
                process = None
                raise Error(Code.rank_failed,
                            f"a sub-worker ended while it ran {name_of(message.how)} ({how_ended})",
                            remedy=_REMEDY) from None
        finally:
            self._idle.put(process)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for _ in range(self._count):
            process = self._idle.get()
            if process is not None:
                process.end()
