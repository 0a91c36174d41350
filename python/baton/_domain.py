"""Ranks that share memory."""

from __future__ import annotations

import itertools
import os
import sys
import threading
import traceback
from typing import Any, Callable, Sequence

from baton import _core
from baton._collectives import Collectives
from baton._core import Tensor
from baton._dtypes import check_elements, dtype_name, elements_of, numpy_dtype, one_element, shape_of, to_numpy


class Window:
    """The same memory on every rank of a domain, reachable by all of them. Made by Domain.window().

    It is an array of this rank's own part: x[0] = 1, x[:], numpy.asarray(x). peer() is the part of another rank, mapped
    in this process; put() and get() copy to and from it. Nothing tells a peer that memory changed: notify a signal, or
    use a barrier.
    """

    def __init__(self, core: _core.RawWindow, rank: int, shape: Sequence[int], dtype: str):
        self._core, self._rank, self._shape, self._dtype = core, rank, list(shape), dtype
        self._itemsize = numpy_dtype(dtype).itemsize

    @property
    def name(self) -> str:
        """What it was called when it was made."""
        return self._core.name

    @property
    def nbytes(self) -> int:
        """The bytes of each rank's part."""
        return self._core.nbytes

    @property
    def shape(self) -> tuple[int, ...]:
        """Of each rank's part."""
        return tuple(self._shape)

    @property
    def dtype(self) -> str:
        """The name of the element type."""
        return self._dtype

    @property
    def context(self) -> int:
        """The address of the CommContext that kernels receive."""
        return self._core.context

    def tensor(self, rank: int | None = None) -> Tensor:
        """This rank's part, or that of `rank`, for kernels; of float64, which chips do not have, the bits as uint64."""
        part = self._core.part(self._rank if rank is None else rank)
        return part.reinterpret("uint64" if self._dtype == "float64" else self._dtype).reshape(self._shape)

    @property
    def __baton_array__(self) -> Tensor:
        return self.tensor()

    @property
    def array(self):
        """This rank's part as a NumPy array."""
        return self.peer(self._rank)

    def peer(self, rank: int):
        """The part of `rank` as a NumPy array, for direct loads and stores."""
        array = to_numpy(self.tensor(rank))
        return array.view("float64") if self._dtype == "float64" else array

    def put(self, peer: int, data: Any, first: int = 0) -> None:
        """Copies an array, of the window's element type, or a number into the part of `peer`, from element `first` on.
        Complete when it returns; visible to the peer after a notify that follows it, or a barrier."""
        self._core.put(peer, first * self._itemsize, self._memory(data, "what is put"))

    def get(self, peer: int, first: int = 0, count: int | None = None, out: Any = None):
        """Copies elements from the part of `peer`: a new array, or into `out`, of the window's element type."""
        import numpy
        if out is None:
            size = self._core.nbytes // self._itemsize
            out = numpy.empty(size - first if count is None else count, dtype=numpy_dtype(self._dtype))
        self._core.get(peer, first * self._itemsize, self._memory(out, "out"))
        return out

    def put_signal(self, peer: int, data: Any, signals: Signals, index: int = 0, first: int = 0, value: int = 1,
                   op: str = "add") -> None:
        """put(), then notify of a signal: a rank that waits for it sees it after the bytes."""
        self._core.put_signal(peer, first * self._itemsize, self._memory(data, "what is put"), signals._core,
                              4 * index, value, op)

    def release(self) -> None:
        """Unmaps this rank's view now. Raises Error while arrays use it. Peers keep theirs."""
        self._core.release()

    def _memory(self, data: Any, what: str):
        """What the module takes for `data`: an array of the window's type as it is, a number as one element."""
        if isinstance(data, (int, float)) and not hasattr(data, "dtype"):
            return elements_of(one_element(data, self._dtype))[0]
        memory, name = elements_of(data)
        check_elements(name, self._dtype, what)
        return memory

    def __len__(self) -> int:
        return self._shape[0]

    def __getitem__(self, index: Any):
        return self.array[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.array[index] = value

    def __array__(self, dtype: Any = None, copy: bool | None = None):
        import numpy
        return numpy.array(self.array, dtype=dtype, copy=bool(copy)) if dtype or copy else self.array

    def __dlpack__(self, **options: Any):
        of_chips = self._dtype != "float64"  # chips do not have it: the tensor is of its bits
        return (self.tensor() if of_chips else self.array).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __repr__(self) -> str:
        return f'<baton.Window "{self.name}" {self._dtype}{self._shape} on rank {self._rank}>'


def _comparison(symbol: Any) -> str:
    if not isinstance(symbol, str):
        raise TypeError(f"a comparison is one of == != > >= < <=, not {symbol!r}; its value is named: wait(0, value=5)")
    return symbol


class Signals:
    """Counters of 32 bits on every rank. Made by Domain.signals(). notify() changes one, usually on a peer; wait()
    blocks until a comparison holds for one of this rank's own; test() asks once."""

    def __init__(self, core: _core.RawWindow, rank: int, count: int):
        self._core, self._rank, self._count = core, rank, count

    def __len__(self) -> int:
        return self._count

    @property
    def context(self) -> int:
        """The address of the CommContext that kernels receive."""
        return self._core.context

    def tensor(self, rank: int | None = None) -> Tensor:
        """The signals as a tensor of int32, for kernels and graph.submit_notification_wait()."""
        return self._core.part(self._rank if rank is None else rank).reinterpret("int32")

    @property
    def __baton_array__(self) -> Tensor:
        return self.tensor()

    def notify(self, peer: int, index: int = 0, value: int = 1, op: str = "add") -> None:
        """Adds to, or sets (op="set"), a signal of `peer`. A rank that observes it observes all that this rank wrote
        before."""
        self._core.notify(peer, 4 * index, value, op)

    def wait(self, index: int = 0, comparison: str = ">=", value: int = 1, timeout: float | None = None) -> None:
        """Returns once `signal comparison value` holds. Raises Error: wait_timeout after `timeout` seconds
        (BATON_WAIT_TIMEOUT if not given), peer_died as soon as a member did."""
        self._core.wait(4 * index, _comparison(comparison), value, timeout)

    def test(self, index: int = 0, comparison: str = ">=", value: int = 1) -> bool:
        """Whether it holds now."""
        return self._core.test(4 * index, _comparison(comparison), value)

    def release(self) -> None:
        """Unmaps this rank's view now. Peers keep theirs."""
        self._core.release()

    def __repr__(self) -> str:
        return f'<baton.Signals "{self._core.name}" {self._count} on rank {self._rank}>'


class Domain(Collectives):
    """An ordered set of ranks that share windows; one rank's handle to it. join() returns that of all ranks.

        me = baton.join()
        x = me.window("x", 1024)
        x[:] = me.rank + 1
        me.allreduce(x)             # sum over the ranks, in place
        blocks = me.allgather(np.full(4, me.rank))

    Collectives (broadcast, reduce, allreduce, reduce_scatter, allgather, gather, scatter, all_to_all, all_to_all_v,
    send, recv) take windows and arrays; help(baton.Collectives) says what holds for all of them.
    """

    def __init__(self, core: _core.Domain):
        self._core = core

    @property
    def rank(self) -> int:
        """This rank's position in the domain."""
        return self._core.rank

    @property
    def size(self) -> int:
        """How many members the domain has."""
        return self._core.size

    @property
    def name(self) -> str:
        """What it was called when it was made; "world" for all ranks of the job."""
        return self._core.name

    @property
    def members(self) -> list[int]:
        """The members, as ranks of the job."""
        return self._core.members

    def window(self, name: str, shape: int | Sequence[int], dtype: Any = "float32") -> Window:
        """Zeroed memory of the same size on every member. Collective: all members call with the same arguments in the
        same order."""
        named, extents = dtype_name(dtype), shape_of(shape)
        nbytes = numpy_dtype(named).itemsize
        for extent in extents:
            nbytes *= extent
        return Window(self._core.window(name, nbytes), self.rank, extents, named)

    def signals(self, name: str, count: int = 1) -> Signals:
        """`count` signals on every member, all 0. Collective."""
        return Signals(self._core.window(name, 4 * count), self.rank, count)

    def barrier(self, timeout: float | None = None, *, algorithm: str | None = None) -> None:
        """Returns when every member has arrived as often as this one. Raises Error: wait_timeout that says who is
        missing, peer_died, peer_left. With an algorithm, by that one of the collectives."""
        if algorithm is None:
            self._core.barrier(timeout)
        else:
            self._collective("barrier", (None, "uint8"), (None, "uint8"), algorithm=algorithm, timeout=timeout)

    def subset(self, name: str, ranks: Sequence[int]) -> Domain:
        """A domain of some members of this one, in the order given. Collective over those alone."""
        return Domain(self._core.subset(name, list(ranks)))

    def __repr__(self) -> str:
        return f'<baton.Domain "{self.name}" rank {self.rank} of {self.size}>'


def _summary(failure: BaseException) -> str:
    """"ValueError: 7 is odd"."""
    return traceback.format_exception_only(failure)[-1].strip()


_earlier_hook: Callable[..., Any] | None = None


def _tell_the_others(kind: type[BaseException], failure: BaseException, trace: Any) -> None:
    """Nobody caught an exception: the process ends. The others learn why, not only that it left."""
    try:
        _earlier_hook(kind, failure, trace)
    finally:
        _core.leave_because(_summary(failure))


def _watch_for_uncaught() -> None:
    global _earlier_hook
    if _earlier_hook is None:
        _earlier_hook, sys.excepthook = sys.excepthook, _tell_the_others


def join(rendezvous: str | None = None, rank: int | None = None, size: int | None = None) -> Domain:
    """Becomes a rank of the job this process was started in: by `baton run`, mpirun, srun or torchrun; a process that
    was started alone is rank 0 of 1. With arguments, joins the job `rendezvous` whatever the environment says.
    Blocks until all have joined. An exception that ends the program reaches the other ranks as the cause of its end."""
    _watch_for_uncaught()
    if rendezvous is None:
        return Domain(_core.join())
    if rank is None or size is None:
        raise TypeError("join(rendezvous, rank, size) needs all three")
    return Domain(_core.join_as(rendezvous, rank, size))


_jobs = itertools.count()


def run_ranks(size: int, body: Callable[[Domain], Any]) -> list[Any]:
    """Calls body(domain) once for each of `size` ranks, as threads of this process, and returns their results. A rank
    that raises ends the waits of the others; the exception of the first one that failed is raised here."""
    if size < 1:
        from baton._errors import Code, Error
        raise Error(Code.invalid_argument, f"run_ranks: a job has 1 or more ranks, not {size}",
                    remedy="Choose a number of ranks that the message allows.")
    name = f"inproc:run_ranks-{os.getpid()}-{next(_jobs)}"
    results: list[Any] = [None] * size
    failures: list[BaseException] = []

    def live(rank: int) -> None:
        domain = None
        try:
            domain = join(name, rank, size)
            results[rank] = body(domain)
        except BaseException as failure:
            failures.append(failure)
            # Its traceback keeps the domain alive, so the rank would not leave.
            if domain is not None:
                domain._core.leave_because(_summary(failure))

    threads = [threading.Thread(target=live, args=(rank,), name=f"rank {rank}", daemon=True) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return results
