"""Processes that run the Python functions of submit_sub().

A function travels by its import path, or through cloudpickle if that is installed; arrays stay where they are: the
other process maps the same memory.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import queue
import socket
import struct
import subprocess
import sys
import threading
import traceback
from typing import Any, Callable, Iterator, Sequence

from baton._core import Tensor
from baton._errors import Code, Error


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


def portable(function: Callable) -> tuple[str, Any]:
    """How a function travels: ("import", module, name), ("main", file, name) or ("pickle", bytes)."""
    name, module = getattr(function, "__qualname__", ""), getattr(function, "__module__", "") or ""
    if name and "<" not in name:
        if module == "__main__":
            file = getattr(sys.modules["__main__"], "__file__", None)
            if file:
                return ("main", os.path.abspath(file), name)
        else:
            target: Any = sys.modules.get(module)
            for part in name.split("."):
                target = getattr(target, part, None)
            if target is function:
                return ("import", module, name)
    try:
        import cloudpickle
        return ("pickle", cloudpickle.dumps(function))
    except ImportError:
        raise Error(Code.unsupported, f"the function {name or function!r} cannot travel to another process",
                    ["it is neither a function of a module nor is cloudpickle installed",
                     "define it at the top of a module, or install cloudpickle"]) from None


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


class _Process:
    """One process of the pool."""

    def __init__(self) -> None:
        self.stream, theirs = socket.socketpair()
        package_parent = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        paths = [package_parent, *(path or os.getcwd() for path in sys.path)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}
        self.process = subprocess.Popen([sys.executable, "-m", "baton._subworker", str(theirs.fileno())],
                                        pass_fds=[theirs.fileno()], env=environment, stdin=subprocess.DEVNULL)
        theirs.close()

    def call(self, message: Any) -> Any:
        send(self.stream, message)
        return receive(self.stream)

    def end(self) -> None:
        self.stream.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class SubWorkers:
    """A pool of processes, started when they are first needed."""

    def __init__(self, count: int):
        self._idle: queue.LifoQueue[_Process | None] = queue.LifoQueue()
        for _ in range(count):
            self._idle.put(None)
        self._count, self._closed = count, False
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
        """What a thread of the node calls with the tensors of a task."""
        how = portable(function)
        scalars = list(scalars)

        def call(tensors: list[Tensor]) -> None:
            try:
                self._call(how, [self._describe(tensor) for tensor in tensors], scalars)
            except BaseException as failure:
                with self._lock:
                    for collector in self._collectors:
                        collector.append(failure)
                raise

        return call

    @staticmethod
    def _describe(tensor: Tensor) -> tuple:
        found = backing_of(tensor.address)
        if found is None:
            raise Error(Code.invalid_argument, "a sub-worker cannot reach this tensor",
                        ["pass memory of create_buffer(), tensor() or alloc()"])
        return (*found, tensor.shape, tensor.strides, tensor.dtype)

    def _call(self, how: tuple, tensors: list[tuple], scalars: list[Any]) -> None:
        process = self._idle.get()
        try:
            if process is None:
                process = _Process()
            try:
                outcome = process.call((how, os.getpid(), tensors, scalars))
            except (EOFError, OSError):
                code = process.process.wait()
                process = None
                how_ended = f"signal {-code}" if code < 0 else f"exit code {code}"
                raise Error(Code.rank_failed, f"a sub-worker ended while it ran {how[-1] if len(how) > 2 else ''}"
                                              f" ({how_ended})") from None
        finally:
            self._idle.put(process)
        if outcome is not None:
            failure, text = outcome
            raise failure from RemoteTraceback(text)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for _ in range(self._count):
            process = self._idle.get()
            if process is not None:
                process.end()


def resolve(how: tuple, loaded: dict) -> Callable:
    """The function that portable() described."""
    if how in loaded:
        return loaded[how]
    if how[0] == "pickle":
        function = pickle.loads(how[1])
    else:
        if how[0] == "main":
            import runpy
            names = loaded.setdefault(how[1], None) or runpy.run_path(how[1], run_name="__baton_sub__")
            loaded[how[1]] = names
            first, *rest = how[2].split(".")
            function = names[first]
        else:
            first, *rest = how[2].split(".")
            function = getattr(importlib.import_module(how[1]), first)
        for part in rest:
            function = getattr(function, part)
    loaded[how] = function
    return function


def failure_to_send(failure: BaseException) -> tuple[BaseException, str]:
    """An exception and its traceback; one that cannot be pickled is told by its text."""
    text = "".join(traceback.format_exception(failure))
    try:
        pickle.loads(pickle.dumps(failure))
    except Exception:
        failure = RuntimeError(f"{type(failure).__name__}: {failure}")
    failure.__traceback__ = None
    return failure, text
