"""Nodes: many chips, on this machine or on several, driven by one function."""

from __future__ import annotations

import concurrent.futures
import contextlib
import inspect
import operator
import os
import pathlib
import signal
import threading
from typing import Any, Callable, Sequence

from baton import _core
from baton._core import Kernel, Tensor
from baton._dtypes import dtype_name, shape_of
from baton._orchestration import CommBufferSpec, Orchestration
from baton._sub_workers import SubWorkers
from baton._travel import check_not_importing


def _has_host_kernels(platform: str) -> bool:
    """Whether kernels that are compiled for the host run on its chips: simulated ones, and libraries of others."""
    return platform.endswith("sim") or "/" in platform


def _refuse(message: str, remedy: str) -> None:
    from baton._errors import Code, Error
    raise Error(Code.invalid_argument, message, remedy=remedy)


def _count(name: str, value: Any) -> int:
    """`value` as a whole number, 0 or more."""
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        _refuse(f"{name}={value!r} is not a whole number from 0 up", f"Correct {name}.")
    return number


def _devices(given: str | Sequence[int] | None) -> list[int]:
    """The devices of a node; [] if none were named. Whether they exist is the node's to say."""
    if given is None:
        return []
    try:
        devices = _core.parse_device_list(given) if isinstance(given, str) else [operator.index(one) for one in given]
    except TypeError:
        _refuse(f"devices={given!r} is not a list of devices", 'Give a list such as [0, 1, 2], or "0-2".')
    if not devices:
        _refuse("a node of 0 chips is not possible", "Name a device for each chip, or none at all for one chip.")
    return devices


class Worker:
    """A node: many chips, each in a process of its own, driven by one function.

        with baton.Worker(devices="0-3") as node:
            xs = [node.tensor(np.arange(256, dtype="f4") + 100 * r) for r in range(4)]
            node.allreduce(xs)
            print(xs[0][:4])

    level            3: a node. 2: one chip in this process
    platform         the generation of the chips: "a2a3sim" or "a5sim"; or "cuda": chips are GPUs, and where there are fewer
                     of these than devices, parts of them, in this process
    device_ids       one chip for each; or devices="0-3". Chips are named by their index here. Without either: one chip, or
                     as many as the hosts take
    hosts            where the chips are, "a,b" or "a:4,b:4", and how many on each: see "Run on several hosts". None:
                     BATON_HOSTS, else this machine. Each host counts its devices from 0 on
    launch_agent     with hosts: what runs a command on {host}; None: BATON_LAUNCH_AGENT, else ssh
    interface        with hosts: the network on which they reach this machine; None: BATON_INTERFACE, else any
    remote_baton     with hosts: the path of `baton` there; None: BATON_REMOTE_BATON, else where it is here
    num_sub_workers  processes that run the Python functions of submit_sub()
    inproc           all chips in this process: starts in milliseconds, a crash takes everything along
    clusters         of each chip; 0: as many as the platform has
    chip_threads     of each chip; 0: as many as there are processors for it
    chip_program     the program that chips run; None: baton-chip beside libbaton
    task_window      tasks of the node in flight before a submission waits; 0: 16384
    kernel_timeout   seconds that a kernel or a function of submit_sub() may run before it is ended, which is an error;
                     0: as long as it likes; None: BATON_KERNEL_TIMEOUT
    trace            a file: what the chips do is recorded there, for the command `baton trace`

    In an orchestration, tasks wait for each other because of their tensors:

        def orchestration(orch):
            with orch.allocate_domain("all", [0, 1], buffers=[CommBufferSpec("cells", "int32", 4)]) as domain:
                orch.submit_next_level_group(kernel, [[domain[i].buffers["cells"], domain[i].device_ctx]
                                                      for i in (0, 1)], workers=[0, 1])

        node.run(orchestration)

    What fails raises baton.Error with chip, task, kernel and place. Chips that died are started again by the next run.
    Ctrl-C ends every wait.
    """

    def __init__(self, level: int = 3, platform: str = "a2a3sim", device_ids: Sequence[int] | None = None, *,
                 devices: str | Sequence[int] | None = None, num_sub_workers: int = 1, inproc: bool = False,
                 clusters: int = 0, chip_threads: int = 0, chip_program: str | os.PathLike | None = None,
                 task_window: int = 0, kernel_timeout: float | None = None,
                 trace: str | os.PathLike | None = None, hosts: str | None = None, launch_agent: str | None = None,
                 interface: str | None = None, remote_baton: str | os.PathLike | None = None):
        asked = _devices(device_ids if device_ids is not None else devices)
        self.device_ids = asked or [0]  # without any, what the node has once it has started
        self.level, self.platform, self._inproc = level, platform, inproc or level == 2
        sub_workers = max(1, _count("num_sub_workers", num_sub_workers))
        self._options = (level, platform, asked, inproc, sub_workers, clusters, chip_threads,
                         os.fspath(chip_program or ""), _count("task_window", task_window), kernel_timeout, hosts or "",
                         launch_agent or "", interface or "", os.fspath(remote_baton or ""))
        self._sub_workers = SubWorkers(sub_workers, _core.kernel_limit_seconds(kernel_timeout))
        self._node: _core.Node | None = None
        self._trace_file, self._trace = trace, None
        self._closed = False
        self._registered: list[Any] = []
        self._runs = threading.local()
        self._threads: concurrent.futures.ThreadPoolExecutor | None = None
        self._reducers: dict[str, Kernel] = {}

    def init(self) -> Worker:
        """Starts the chips, if they were not started yet; the first use does so, too."""
        if self._node is None:
            if self._closed:
                from baton._errors import Code, Error
                raise Error(Code.released, "this worker was closed",
                            remedy="Make a new baton.Worker; close() and the end of a with statement end one for good.")
            check_not_importing("starts a node")
            # Chips learn of the trace when they are started.
            if self._trace_file is not None:
                self._trace = _core.Trace(os.fspath(self._trace_file))
            self._node = _core.make_node(*self._options)
            if len(self.device_ids) != self._node.chip_count:
                self.device_ids = list(range(self._node.chip_count))
        return self

    @property
    def _core(self) -> _core.Node:
        return self.init()._node

    def register(self, target: Any) -> Any:
        """Names a kernel or a function that tasks will use, and returns it. Kernels may be given as sources."""
        if isinstance(target, (str, pathlib.Path)):
            from baton._kernels import kernel
            target = kernel(target)
        elif not isinstance(target, Kernel):
            self._sub_workers.caller(target, [])  # says now if it cannot travel to another process
        self._registered.append(target)
        return target

    def run(self, orchestration: Callable[..., Any], args: Any = None, config: Any = None) -> None:
        """Calls orchestration(orch), orchestration(orch, args) or orchestration(orch, args, config), whichever it
        takes, and returns when all that it submitted is complete. Raises the first cause of what went wrong."""
        sub_workers = self._sub_workers
        extra = (args, config)[:_extra_arguments(orchestration, args, config)]
        failures: list[BaseException] = []
        with sub_workers.collect(failures):
            try:
                self._core.run(lambda core: self._call(orchestration, Orchestration(core, sub_workers), *extra))
            except _core_error() as error:
                if failures and error.__cause__ is None:
                    raise error from failures[0]  # with the traceback of the other process
                raise

    def _call(self, orchestration: Callable[..., Any], *args: Any) -> None:
        before = self._in_run()
        self._runs.here = before + 1
        try:
            orchestration(*args)
        finally:
            self._runs.here = before

    def _in_run(self) -> int:
        """How many orchestrations of this node the calling thread is in."""
        return getattr(self._runs, "here", 0)

    def _check_outside(self, what: str) -> None:
        if self._in_run():
            from baton._errors import Code, Error
            raise Error(Code.invalid_argument, f"{what} inside a run of this worker would wait for that run",
                        remedy="Let the run return first; an exception ends it early.")

    def submit(self, orchestration: Callable[..., Any], args: Any = None, config: Any = None
               ) -> concurrent.futures.Future:
        """run() on a thread of its own. The future's result() waits, and raises what the run raised."""
        self._core.chip_count  # starts the node; raises in a forked child, which has no such threads
        if self._threads is None:
            self._threads = concurrent.futures.ThreadPoolExecutor(thread_name_prefix="baton-run")
        return self._threads.submit(self.run, orchestration, args, config)

    def create_buffer(self, shape: int | Sequence[int], dtype: Any = "float32", name: str = "buffer",
                      worker: int | None = None) -> Tensor:
        """Zeroed memory that all chips and this process share, or memory of one chip. It is given back with the last
        tensor or array that uses it."""
        return self._core.create_buffer(shape_of(shape), dtype_name(dtype), name, -1 if worker is None else worker)

    def free_buffer(self, tensor: Tensor) -> None:
        """Gives memory back once no task uses it any more. Raises Error while arrays do."""
        self._core.free(tensor)

    def tensor(self, array: Any, name: str = "buffer"):
        """A copy of an array in memory that all chips share: a NumPy array, for kernels and for reading in place."""
        import numpy
        source = numpy.ascontiguousarray(array)
        made = self.create_buffer(source.shape, source.dtype, name).numpy()
        made[...] = source
        return made

    def copy_to(self, tensor: Tensor, array: Any) -> None:
        """Copies an array into a tensor of the node, of a chip or of a window. Types must agree: nothing is
        converted."""
        self._core.copy_to(tensor, array)

    def copy_from(self, tensor: Tensor, array: Any) -> None:
        """Copies a tensor into an array of the same type."""
        self._core.copy_from(array, tensor)

    def allreduce(self, tensors: Sequence[Any]) -> None:
        """Sums arrays of the node element by element, tensors[i] on chip i, in place: everybody gets the sum."""
        count = len(tensors)
        if not 1 <= count <= self.chip_count:
            raise ValueError(f"allreduce of {count} tensors on {self.chip_count} chips: one for each chip, at most")
        views = [_core.view(tensor, True) for tensor in tensors]
        first = views[0]
        if any(view.shape != first.shape or view.dtype != first.dtype for view in views):
            raise ValueError("allreduce: all tensors must have the same shape and type")
        reducer = self._reducer(first.dtype)
        flat = [view.reshape([view.size]) for view in views]
        chips = list(range(count))

        def orchestration(orch: Orchestration) -> None:
            specs = [CommBufferSpec("staged", first.dtype, first.size), CommBufferSpec("arrived", "int32", 1)]
            with orch.allocate_domain("allreduce", chips, buffers=specs) as domain:
                orch.submit_next_level_group(reducer, [
                    [flat[i], domain[i].buffers["staged"], domain[i].buffers["arrived"], domain[i].device_ctx]
                    for i in chips], workers=chips)

        self.run(orchestration)

    def _reducer(self, dtype: str) -> Kernel:
        types = {"float32": "float", "bool": None, "float16": None, "bfloat16": None}
        element = types.get(dtype, f"{dtype}_t")
        if element is None:
            raise ValueError(f"allreduce does not add {dtype}; convert to float32 or an integer type")
        if dtype not in self._reducers:
            from baton._kernels import kernel
            source = pathlib.Path(__file__).resolve().parent / "kernels" / "allreduce.cpp"
            self._reducers[dtype] = kernel(source, defines={"ELEMENT": element},
                                           platform="" if _has_host_kernels(self.platform) else self.platform)
        return self._reducers[dtype]

    @property
    def chip_count(self) -> int:
        """How many chips the node has."""
        return self._core.chip_count

    def pid_of(self, worker: int) -> int:
        """The process of a chip."""
        return self._core.pid_of(worker)

    def restart(self) -> None:
        """Starts the chips again, whether they died or not. Buffers stay, domains do not. Not inside a run."""
        self._check_outside("restart()")
        self._core.restart()

    def close(self) -> None:
        """Waits for runs and ends the chips. Arrays over memory of the node stay good. Not inside a run."""
        self._check_outside("close()")
        if self._node is not None and not self._node.of_this_process:
            self._node, self._closed = None, True  # chips, threads and sub-workers are the parent's
            return
        if self._threads is not None:
            self._threads.shutdown()
        if self._node is not None:
            if self._node.abandoned and not self._inproc:
                # A run that was interrupted may wait for ever: it ends with its chips.
                for chip in range(self._node.chip_count):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(self._node.pid_of(chip), signal.SIGKILL)
            self._node.close()
            self._trace = None
        self._node, self._closed = None, True
        self._sub_workers.close()

    def __enter__(self) -> Worker:
        return self.init()

    def __exit__(self, *exception: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<baton.Worker level {self.level}, {self.platform}, devices {_core.format_device_list(self.device_ids)}>"


def _extra_arguments(orchestration: Callable[..., Any], args: Any, config: Any) -> int:
    """How many of args and config a call passes: those that are there and that the function can take, and those that it
    cannot do without."""
    given = 2 if config is not None else 1 if args is not None else 0
    try:
        parameters = inspect.signature(orchestration).parameters.values()
    except (TypeError, ValueError):  # of a builtin, which does not say
        return given
    positional = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    needed = sum(one.default is one.empty for one in positional) - 1
    most = 2 if any(one.kind == one.VAR_POSITIONAL for one in parameters) else len(positional) - 1
    return max(0, min(max(given, needed), most, 2))


def _core_error() -> type[BaseException]:
    from baton._errors import Error
    return Error
