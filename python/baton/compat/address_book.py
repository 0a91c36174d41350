"""Which memory of a worker an address of this process lies in."""

from __future__ import annotations

import bisect

from baton.compat.buffer import Buffer
from baton.compat.host_memory import Storage
from baton.compat.tensor import Tensor


class AddressBook:
    """Buffers that this process reaches, by address."""

    def __init__(self) -> None:
        self._buffers: list[Buffer] = []

    def add(self, buffer: Buffer) -> None:
        bisect.insort(self._buffers, buffer, key=lambda one: one.base)

    def remove(self, buffer: Buffer) -> None:
        self._buffers = [one for one in self._buffers if one is not buffer]

    def find(self, storage: Storage) -> Buffer | None:
        """The buffer that a storage lies in: a tensor of the host may be a view of one."""
        index = bisect.bisect(self._buffers, storage.base, key=lambda one: one.base) - 1
        if index < 0:
            return None
        found = self._buffers[index]
        return found if storage.base + storage.nbytes <= found.base + found.nbytes else None

    def inside(self, tensor: Tensor) -> Tensor:
        """A tensor of the host as one of the buffer that it lies in; as it is if there is none."""
        memory = tensor.memory
        buffer = self.find(memory) if isinstance(memory, Storage) else None
        return tensor if buffer is None else tensor.moved_to(buffer)
