"""A process of SubWorkers. Calls functions on memory of its parent."""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import socket
import sys

from baton import _core
from baton._dtypes import numpy_dtype
from baton._sub_workers import receive, send
from baton._travel import raised, resolve


class Memory:
    """Files of the parent, mapped once each."""

    def __init__(self) -> None:
        self._files: dict[tuple[int, int], mmap.mmap] = {}

    def array(self, parent: int, descriptor: int, offset: int, shape: tuple, strides: tuple, dtype: str):
        import numpy
        file = os.open(f"/proc/{parent}/fd/{descriptor}", os.O_RDWR)
        try:
            status = os.fstat(file)
            key = (status.st_dev, status.st_ino)
            if key not in self._files:
                self._files[key] = mmap.mmap(file, status.st_size)
        finally:
            os.close(file)
        kind = numpy_dtype(dtype)
        # A view of elements backwards begins behind others that it has.
        return numpy.ndarray(shape, kind, self._files[key], offset, [stride * kind.itemsize for stride in strides])

    def forget(self) -> None:
        """Memory that nobody uses any more goes; arrays that a function kept hold on to theirs."""
        for key, mapped in list(self._files.items()):
            try:
                mapped.close()
            except BufferError:
                continue
            del self._files[key]


def main(descriptor: int, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _core.end_with(parent)
    stream = socket.socket(fileno=descriptor)
    loaded: dict = {}
    memory = Memory()
    while True:
        try:
            call = receive(stream)
        except EOFError:
            return
        outcome = None
        arrays: list = []
        try:
            sys.path[:] = call.path
            arrays = [memory.array(call.parent, *tensor) for tensor in call.tensors]
            resolve(call.how, loaded)(*arrays, *pickle.loads(call.scalars))
        except BaseException as failure:
            outcome = raised(failure)
        arrays.clear()
        memory.forget()
        send(stream, outcome)
