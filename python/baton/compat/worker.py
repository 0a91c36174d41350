"""Worker: a chip (level 2) or many (level 3), as existing programs drive them."""

from __future__ import annotations

import concurrent.futures
import os
from typing import Any, Sequence

from baton.compat.buffer import Buffer
from baton.compat.call_config import CallConfig
from baton.compat.callables import CallableHandle, ChipCallable, Registry, building_of
from baton.compat.host_memory import host_tensor
from baton.compat.kernel_compiler import PLATFORMS
from baton.compat.not_offered import CHANNELS, LEVEL_4, NotOffered
from baton.compat.task_args import TaskArgs
from baton.compat.tensor import Tensor

_OPTIONS = {"platform": "a2a3sim", "runtime": "tensormap_and_ringbuffer", "device_id": 0, "device_ids": None,
            "num_sub_workers": 0, "enable_sdma": False}


class RunHandle:
    """A run that goes on by itself."""

    def __init__(self, future: concurrent.futures.Future):
        self._future = future

    @property
    def done(self) -> bool:
        return self._future.done()

    def wait(self, timeout: float | None = None) -> bool:
        """Whether it has ended by then."""
        return bool(concurrent.futures.wait([self._future], timeout)[0])

    def result(self, timeout: float | None = None) -> None:
        """Waits, and raises what the run raised."""
        self._future.result(timeout)


class Worker:
    """register(), init(), run() as often as wanted, close()."""

    def __init__(self, level: int = 2, **config: Any):
        unknown = sorted(set(config) - set(_OPTIONS))
        if unknown:
            raise TypeError(f"Worker has no option {unknown[0]!r}; it has {', '.join(_OPTIONS)}")
        if level not in (2, 3):
            raise NotOffered(f"Worker(level={level})", LEVEL_4)
        self.level, self.config = level, {**_OPTIONS, **config}
        if self.config["platform"] not in PLATFORMS:
            raise ValueError(f"there is no platform {self.config['platform']!r} here; there are {', '.join(PLATFORMS)}")
        building_of(self.config["runtime"])
        wanted = "a ChipCallable" if level == 2 else "a ChipCallable or a function"
        self._registry = Registry(lambda target: isinstance(target, ChipCallable) or (level == 3 and callable(target)),
                                  wanted)
        self._made: Any = None  # a ChipWorker or a NodeWorker
        self._closed = False
        self._threads: concurrent.futures.ThreadPoolExecutor | None = None

    # Life

    def init(self, prewarm_config: CallConfig | None = None) -> None:
        """Starts the chips."""
        if self._closed or self._made is not None:
            raise RuntimeError("this worker was closed" if self._closed else "init() was called twice")
        if prewarm_config is not None:
            prewarm_config.check()
        platform, runtime = self.config["platform"], self.config["runtime"]
        if self.level == 2:
            from baton.compat.chip_worker import ChipWorker
            self._made = ChipWorker(platform, runtime)
        else:
            from baton.compat.node_worker import NodeWorker
            devices = self.config["device_ids"]
            devices = [self.config["device_id"]] if devices is None else [int(device) for device in devices]
            self._made = NodeWorker(platform, runtime, devices, max(1, self.config["num_sub_workers"]), self._registry)

    def close(self) -> None:
        """Waits for runs and ends the chips."""
        if self._threads is not None:
            self._threads.shutdown()
        if self._made is not None:
            self._made.close()
        self._made, self._closed = None, True

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def _live(self, what: str) -> Any:
        if self._made is None:
            raise RuntimeError(f"{what} of a worker that {'was closed' if self._closed else 'needs init() first'}")
        return self._made

    def _at_level(self, level: int, what: str) -> Any:
        if self.level != level:
            raise RuntimeError(f"{what} is for workers of level {level}; this one has level {self.level}")
        return self._live(what)

    # Callables and runs

    def register(self, target: Any) -> CallableHandle:
        """Names something to run. Equal content has the same hashid."""
        if self._closed:
            raise RuntimeError("register of a worker that was closed")
        return self._registry.register(target)

    def unregister(self, handle: CallableHandle) -> None:
        self._registry.unregister(handle)

    def run(self, target: Any, args: Any = None, config: CallConfig | None = None) -> None:
        """Level 2: runs a registered ChipCallable. Level 3: calls target(orch, args, config) on this thread and waits
        for what it submitted."""
        made = self._live("run")
        config = (config if config is not None else CallConfig()).check()
        if self.level == 2:
            made.run(self._registry.target(target, ChipCallable), args if args is not None else TaskArgs())
        else:
            made.run(target, args, config)

    def submit(self, target: Any, args: Any = None, config: CallConfig | None = None) -> RunHandle:
        """run() on a thread of its own; one after the other."""
        self._live("submit")
        if self._threads is None:
            self._threads = concurrent.futures.ThreadPoolExecutor(1, "baton-run")
        return RunHandle(self._threads.submit(self.run, target, args, config))

    # Memory

    def malloc(self, nbytes: int) -> Buffer:
        return self._at_level(2, "malloc").malloc(nbytes)

    def free(self, buffer: Buffer) -> None:
        self._at_level(2, "free")
        assert buffer.core is not None  # RuntimeError for one that was freed
        buffer.close()

    def copy_to(self, buffer: Buffer, host: Any) -> None:
        """From the host to a chip; the tensor of the host gives the length."""
        self._at_level(2, "copy_to").copy_to(buffer, host)

    def copy_from(self, host: Any, buffer: Buffer) -> None:
        self._at_level(2, "copy_from").copy_from(host, buffer)

    def create_buffer(self, nbytes: int) -> Buffer:
        """Zeroed memory of the host that chips share; `.shm.buf` are its bytes."""
        return self._live("create_buffer").create_buffer(nbytes)

    def make_tensor_arg(self, tensor: Any, shapes: Sequence[int], dtype: Any, *,
                        strides: Sequence[int] | None = None) -> Tensor:
        """Names a tensor of the host for TaskArgs, in another shape if wanted."""
        given = host_tensor(tensor)
        return Tensor(given.storage, shapes, dtype, strides, given.byte_offset)

    def create_worker_chip_region(self, *_: Any, **__: Any) -> Any:
        raise NotOffered("Worker.create_worker_chip_region", CHANNELS)

    def create_worker_chip_queue(self, *_: Any, **__: Any) -> Any:
        raise NotOffered("Worker.create_worker_chip_queue", CHANNELS)

    def __repr__(self) -> str:
        return f"<Worker level {self.level}, {self.config['platform']}, process {os.getpid()}>"


def make_tensor_arg(worker: Worker, tensor: Any) -> Tensor:
    """simpler_setup.torch_interop: the whole of a contiguous tensor on the CPU."""
    given = host_tensor(tensor)
    if not given.contiguous:
        raise ValueError("make_tensor_arg takes a contiguous tensor: pass tensor.contiguous()")
    return worker.make_tensor_arg(tensor, given.shape, given.dtype)
