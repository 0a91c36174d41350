"""Tensors of the host that chips of a node use: copied into memory of the node for a run, and back when it ends.

The host changes its tensors only between runs, so nobody sees that there are two copies."""

from __future__ import annotations

import dataclasses

import baton
from baton.compat.argument_types import TensorArgType
from baton.compat.host_memory import Storage


@dataclasses.dataclass
class _Staged:
    storage: Storage  # keeps its tensor alive: its address is its name
    memory: baton.Tensor
    written: bool = False


class Staging:
    """The storages of one run."""

    def __init__(self, node: baton.Worker):
        self._node = node
        self._staged: dict[Storage, _Staged] = {}

    def root(self, storage: Storage, tag: TensorArgType) -> baton.Tensor:
        """Memory of the node that stands for a storage. ValueError if results could not get back to it."""
        if tag.writes and not storage.shared:
            raise ValueError("a task of a node writes a tensor of the host that is not shared: call share_memory_() on "
                             "it before init(), or use create_buffer()")
        staged = self._staged.get(storage)
        if staged is None:
            memory = self._node.create_buffer(storage.nbytes, "uint8", "host tensor")
            memory.numpy()[:] = storage.bytes_array()
            staged = self._staged[storage] = _Staged(storage, memory)
        staged.written |= tag.writes
        return staged.memory

    def finish(self) -> None:
        """After the run: results go back to the host."""
        for staged in self._staged.values():
            if staged.written:
                staged.storage.bytes_array()[:] = staged.memory.numpy()
        self._staged.clear()
