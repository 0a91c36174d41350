"""A process of SubWorkers: python -m baton._subworker DESCRIPTOR. Calls functions on memory of its parent."""

from __future__ import annotations

import mmap
import os
import signal
import socket
import sys

from baton._dtypes import numpy_dtype
from baton._sub_workers import failure_to_send, receive, resolve, send


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


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    stream = socket.socket(fileno=int(sys.argv[1]))
    loaded: dict = {}
    memory = Memory()
    while True:
        try:
            how, parent, tensors, scalars = receive(stream)
        except EOFError:
            return
        outcome = None
        arrays: list = []
        try:
            arrays = [memory.array(parent, *tensor) for tensor in tensors]
            resolve(how, loaded)(*arrays, *scalars)
        except BaseException as failure:
            outcome = failure_to_send(failure)
        arrays.clear()
        memory.forget()
        send(stream, outcome)


if __name__ == "__main__":
    main()
