"""A worker of level 3: many chips, each in a process of its own, and functions of the host."""

from __future__ import annotations

from typing import Any, Callable

import baton
from baton.compat.address_book import AddressBook
from baton.compat.argument_types import data_type
from baton.compat.buffer import Buffer, ShapedBuffer, SharedBytes
from baton.compat.callables import Registry
from baton.compat.orchestrator import Orchestrator
from baton.compat.staging import Staging


class NodeWorker:
    """What Worker does at level 3, between init() and close()."""

    def __init__(self, platform: str, runtime: str, device_ids: list[int], sub_workers: int, registry: Registry):
        self.runtime, self.registry, self.chip_count = runtime, registry, len(device_ids)
        self.node = baton.Worker(3, platform, device_ids, num_sub_workers=sub_workers)
        self.node.init()
        self.live_domains: set[str] = set()
        self._of_chips: set[Buffer] = set()  # until they are freed, even if others still hold them
        self.shared = AddressBook()  # memory of the host

    def run(self, function: Callable, args: Any, config: Any) -> None:
        staging = Staging(self.node)
        failures: list[BaseException] = []  # of functions of the host

        def orchestration(orch: baton.Orchestration) -> None:
            orchestrator = Orchestrator(self, orch, staging, config, failures)
            try:
                function(orchestrator, args, config)
            finally:
                orchestrator.finish()

        try:
            self.node.run(orchestration)
        except baton.Error as error:
            if failures and error.__cause__ is None:
                raise error from failures[0]  # with the traceback of the function
            raise
        finally:
            staging.finish()

    def create_buffer(self, nbytes: int) -> Buffer:
        """Zeroed memory that this process and all chips share."""
        made = self.node.create_buffer(nbytes, "uint8")
        array = made.numpy()
        buffer = Buffer(made, base=array.__array_interface__["data"][0], nbytes=nbytes, space="host",
                        backend_kind="host", shm=SharedBytes(memoryview(array)),
                        free=self.shared.remove)  # the memory goes with the last array over it
        self.shared.add(buffer)
        return buffer

    def chip_buffer(self, worker: int, shapes: Any, dtype: Any) -> ShapedBuffer:
        """Memory of one chip, until it is freed or the worker is closed."""
        kind = data_type(dtype)
        core = self.node.create_buffer(shapes, kind.baton_name, worker=worker)
        made = ShapedBuffer(core.reshape([core.size]).reinterpret("uint8"), core.shape, kind, base=core.address,
                            nbytes=core.nbytes, space=("chip", worker), backend_kind="chip",
                            free=self._of_chips.discard)
        self._of_chips.add(made)
        return made

    def close(self) -> None:
        self.shared = AddressBook()
        self._of_chips.clear()
        self.node.close()
