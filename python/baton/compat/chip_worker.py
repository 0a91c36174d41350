"""A worker of level 2: one chip, in this process. Tensors of the host are used where they are."""

from __future__ import annotations

import dataclasses
from typing import Any

import baton
from baton.compat.address_book import AddressBook
from baton.compat.argument_types import TensorArgType
from baton.compat.buffer import Buffer, SharedBytes, view_of
from baton.compat.callables import ChipCallable
from baton.compat.host_memory import Storage, host_tensor
from baton.compat.task_args import TaskArgs
from baton.compat.tensor import Tensor

MARKS = {TensorArgType.INPUT: baton.IN, TensorArgType.OUTPUT: baton.OUT, TensorArgType.INOUT: baton.INOUT,
         TensorArgType.OUTPUT_EXISTING: baton.OUT, TensorArgType.NO_DEP: baton.NO_DEP}


class ChipWorker:
    """What Worker does at level 2, between init() and close()."""

    def __init__(self, platform: str, runtime: str):
        self._runtime = runtime
        self._chip = baton.Chip(platform)
        self._buffers = AddressBook()

    def run(self, target: ChipCallable, args: TaskArgs) -> None:
        given = [(self._buffers.inside(tensor), tag) for tensor, tag in args.tensors()]
        roots = _Roots([tensor.memory for tensor, _ in given if isinstance(tensor.memory, Storage)])
        tensors = [MARKS[tag](roots.view(tensor)) for tensor, tag in given]
        self._chip.run(target.program(self._runtime), *tensors, *args.scalars())

    def malloc(self, nbytes: int) -> Buffer:
        made = self._chip.alloc(nbytes, "uint8")
        buffer = Buffer(made, base=made.address, nbytes=nbytes, space="host", backend_kind="chip", free=self._free)
        self._buffers.add(buffer)
        return buffer

    def _free(self, buffer: Buffer) -> None:
        self._buffers.remove(buffer)
        if buffer.backend_kind == "chip":
            self._chip.free(buffer.core)  # memory that arrays may use goes with the last of them

    def create_buffer(self, nbytes: int) -> Buffer:
        """Of this process, as is the chip."""
        buffer = self.malloc(nbytes)
        buffer.shm, buffer.backend_kind = SharedBytes(memoryview(buffer.core)), "host"
        return buffer

    def copy_to(self, buffer: Buffer, host: Any) -> None:
        given = _host_bytes(host, buffer, "copy_to")
        self._chip.copy_in(buffer.core[0:given.size], given)

    def copy_from(self, host: Any, buffer: Buffer) -> None:
        given = _host_bytes(host, buffer, "copy_from")
        self._chip.copy_out(buffer.core[0:given.size], given)

    def close(self) -> None:
        self._chip.close()


class _Roots:
    """The memory of the host that one run uses: an array for each piece, so that tensors are seen to share bytes."""

    def __init__(self, storages: list[Storage]):
        self._pieces: list[Storage] = []
        self._arrays: dict[int, Any] = {}
        for storage in sorted(storages, key=lambda one: one.base):
            last = self._pieces[-1] if self._pieces else None
            if last is None or storage.base >= last.base + last.nbytes:
                self._pieces.append(storage)
                continue
            end = max(last.base + last.nbytes, storage.base + storage.nbytes)
            self._pieces[-1] = dataclasses.replace(last, nbytes=end - last.base, owner=(last.owner, storage.owner),
                                                   writable=last.writable or storage.writable)

    def view(self, tensor: Tensor) -> baton.Tensor:
        memory = tensor.memory
        if isinstance(memory, Buffer):
            return view_of(memory.core, tensor)
        piece = next(one for one in self._pieces if one.base <= memory.base < one.base + one.nbytes)
        if piece.base not in self._arrays:
            self._arrays[piece.base] = piece.bytes_array()
        return view_of(self._arrays[piece.base], tensor.moved_to(piece))


def _host_bytes(host: Any, buffer: Buffer, what: str):
    """The memory of a host tensor, whose length is that of the copy."""
    given = host_tensor(host)
    if not given.contiguous:
        raise ValueError(f"{what}: a tensor that is not contiguous is not copied as a whole")
    count = given.dtype.itemsize
    for extent in given.shape:
        count *= extent
    if count > buffer.nbytes:
        raise ValueError(f"{what}: {count} bytes of the host, and the buffer has {buffer.nbytes}")
    return given.storage.bytes_array()[given.byte_offset:given.byte_offset + count]
