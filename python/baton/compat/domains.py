"""Domains: windows over some of the chips."""

from __future__ import annotations

import dataclasses
from typing import Any, Sequence

import baton
from baton import CommBufferSpec
from baton.compat.buffer import Buffer


@dataclasses.dataclass(frozen=True)
class ChipDomainContext:
    """What one chip has of a domain."""

    domain_rank: int
    domain_size: int
    device_ctx: int
    local_window_base: int
    actual_window_size: int
    buffers: dict[str, Buffer]


class DomainHandle:
    """handle[worker] is what a chip has of the domain. release(), or the end of a `with` block, ends its use; windows
    stay until the tasks of the run have ended."""

    def __init__(self, orch: baton.Orchestration, name: str, workers: Sequence[int], window_size: int,
                 buffers: Sequence[CommBufferSpec], live: set[str], chip_count: int):
        self.name, self.workers = name, tuple(workers)
        self._check(window_size, buffers, live, chip_count)
        # One buffer is the whole window: where its parts lie is the caller's arithmetic, without gaps.
        self._domain = orch.allocate_domain(name, list(workers), 0,
                                            [CommBufferSpec("window", "uint8", max(1, window_size))])
        opened = self._domain.__enter__()
        self._live = live
        self._released = False
        live.add(name)
        self._contexts = {worker: self._context(opened[worker], window_size, buffers) for worker in self.workers}

    def _check(self, window_size: int, buffers: Sequence[CommBufferSpec], live: set[str], chip_count: int) -> None:
        if not self.workers:
            raise ValueError(f'domain "{self.name}" has no workers')
        if len(set(self.workers)) != len(self.workers):
            raise ValueError(f'domain "{self.name}" has a worker twice: {list(self.workers)}')
        unknown = [worker for worker in self.workers if not 0 <= worker < chip_count]
        if unknown:
            raise ValueError(f'domain "{self.name}": there is no worker {unknown[0]}; there are {chip_count} chips')
        names = [spec.name for spec in buffers]
        if len(set(names)) != len(names):
            raise ValueError(f'domain "{self.name}" has two buffers of one name: {names}')
        wanted = sum(spec.nbytes for spec in buffers)
        if wanted > window_size:
            raise ValueError(f'domain "{self.name}": buffers need {wanted} bytes, and the window has {window_size}')
        if self.name in live:
            raise ValueError(f'there is a domain "{self.name}" already')

    def _context(self, member: Any, window_size: int, specs: Sequence[CommBufferSpec]) -> ChipDomainContext:
        window, offset, placed = member.buffers["window"], 0, {}
        # Only nbytes counts; the other fields tell people what is there.
        for spec in specs:
            placed[spec.name] = Buffer(window[offset:offset + spec.nbytes], base=member.local_window_base + offset,
                                       nbytes=spec.nbytes, space=("chip", member.chip), backend_kind="window")
            offset += spec.nbytes
        return ChipDomainContext(member.domain_rank, member.domain_size, member.device_ctx, member.local_window_base,
                                 window_size, placed)

    def __getitem__(self, worker: int) -> ChipDomainContext:
        if self._released:
            raise RuntimeError(f'domain "{self.name}" was released')
        try:
            return self._contexts[worker]
        except KeyError:
            raise KeyError(f'worker {worker} is not a member of "{self.name}", whose members are '
                           f"{list(self.workers)}") from None

    def __contains__(self, worker: int) -> bool:
        return worker in self._contexts

    def __len__(self) -> int:
        return len(self.workers)

    def release(self) -> None:
        if self._released:
            return
        self._released = True
        self._live.discard(self.name)
        self._domain.__exit__(None, None, None)

    def __enter__(self) -> DomainHandle:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.release()
