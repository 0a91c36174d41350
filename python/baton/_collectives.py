"""Collectives: what all ranks of a domain do together with their data."""

from __future__ import annotations

from typing import Any, Sequence

from baton import _core
from baton._dtypes import elements_of


def _side(x: Any, like: Any = None) -> tuple[Any, str]:
    """What the module takes for one side: memory, and the name of its elements. Nothing is copied."""
    if x is None:
        return None, "uint8" if like is None else _side(like)[1]
    memory, name = elements_of(x)
    empty = getattr(memory, "size", 1) == 0 or 0 in getattr(memory, "shape", ())
    return None if empty else memory, name


def _numpy():
    import numpy
    return numpy


def _new(x: Any, blocks: int):
    """An array for a block like `x` from each rank."""
    array = _numpy().asarray(x)
    return _numpy().empty((blocks, *array.shape), dtype=array.dtype)


class Collectives:
    """The collectives of a Domain, which all its members call in the same order.

    Data is a window of the domain or a part of one (window[2:5]), which the others then use where it is, or any array:
    NumPy, PyTorch, anything with the buffer protocol or DLPack. Arrays are contiguous; nothing is converted. In windows
    all ranks name the same place. Every rank gets the same bits. The first call on a domain, a send() too, waits until
    all members have made theirs.

    All take `algorithm` ("automatic", "ring", "tree", ...; the same on all ranks) and `timeout` in seconds
    (BATON_WAIT_TIMEOUT if not given). Ctrl-C ends the wait. Errors: mismatch if ranks call different things, peer_died,
    peer_left, wait_timeout; invalid_argument before anything is done.
    """

    _core: _core.Domain

    def _collective(self, name: str, x: tuple, out: tuple, root: int = 0, op: str = "sum", *,
                    algorithm: str = "automatic", timeout: float | None = None, send_counts: Sequence[int] = (),
                    receive_counts: Sequence[int] = ()) -> None:
        if "reduce" in name and x[1] == "bool":
            raise TypeError("truth values are not reduced; convert them, for example x.astype('uint8')")
        _core.collective(self._core, name, x, out, root, op, algorithm, timeout, list(send_counts),
                         list(receive_counts))

    def broadcast(self, x: Any, root: int = 0, **options: Any) -> Any:
        """Everybody gets what `root` has in `x`. Returns x."""
        self._collective("broadcast", _side(x), _side(None), root, **options)
        return x

    def reduce(self, x: Any, out: Any = None, root: int = 0, op: str = "sum", **options: Any) -> Any:
        """`root` gets the elements of all ranks, reduced ("sum", "prod", "min", "max", "avg"; of integers also "bit_and",
        "bit_or", "bit_xor"), in `out`; without one, in place, and the others keep theirs. If the root has an `out` that is not
        a window, the others may pass an empty array for it. Returns out, or x."""
        self._collective("reduce_in_place" if out is None else "reduce", _side(x), _side(out, x), root, op, **options)
        return x if out is None else out

    def allreduce(self, x: Any, out: Any = None, op: str = "sum", **options: Any) -> Any:
        """Everybody gets the elements of all ranks, reduced ("sum", "prod", "min", "max", "avg"; of integers also
        "bit_and", "bit_or", "bit_xor"), in `out`; without one, in place. Returns out, or x."""
        name = "allreduce_in_place" if out is None else "allreduce"
        self._collective(name, _side(x), _side(out, x), 0, op, **options)
        return x if out is None else out

    def reduce_scatter(self, x: Any, out: Any, op: str = "sum", **options: Any) -> Any:
        """Rank r gets block r of the elements of all ranks, reduced. `x` has a block of out's size for each rank; `out`
        may be this rank's own block of it. Returns out."""
        self._collective("reduce_scatter", _side(x), _side(out, x), 0, op, **options)
        return out

    def allgather(self, x: Any, out: Any = None, **options: Any) -> Any:
        """Everybody gets the blocks of all ranks, by rank, in `out`; without one, in a new array whose first dimension
        is the rank. `x` may be this rank's own block of `out`. Returns out."""
        out = _new(x, self._core.size) if out is None else out
        self._collective("allgather", _side(x), _side(out), **options)
        return out

    def gather(self, x: Any, out: Any = None, root: int = 0, **options: Any) -> Any:
        """`root` gets the blocks of all ranks, by rank, in `out`; without one, in a new array whose first dimension is
        the rank. The others leave `out` away unless it is a window. Returns out; None on the others."""
        out = _new(x, self._core.size) if out is None and self._core.rank == root else out
        self._collective("gather", _side(x), _side(out, x), root, **options)
        return out

    def scatter(self, x: Any, out: Any, root: int = 0, **options: Any) -> Any:
        """Everybody gets its block of what `root` has in `x` in `out`. The others pass None for `x` unless it is a
        window. Returns out."""
        self._collective("scatter", _side(x, out), _side(out), root, **options)
        return out

    def all_to_all(self, x: Any, out: Any = None, **options: Any) -> Any:
        """Block r of `x` becomes this rank's block in the `out` of rank r; without one, in place. Returns out, or x."""
        self._collective("all_to_all", _side(x), _side(x if out is None else out), **options)
        return x if out is None else out

    def all_to_all_v(self, x: Any, send_counts: Sequence[int], out: Any, receive_counts: Sequence[int],
                     **options: Any) -> Any:
        """all_to_all() with contiguous blocks of different sizes: send_counts[r] elements for rank r,
        receive_counts[r] from it. Returns out."""
        self._collective("all_to_all_v", _side(x, out), _side(out, x), send_counts=send_counts,
                         receive_counts=receive_counts, **options)
        return out

    def send(self, to: int, x: Any, **options: Any) -> None:
        """A message for rank `to`, in the order of the calls. Returns when `x` may be changed; up to a small size it
        does not wait for the receiver. Both name the same number and kind of elements."""
        self._collective("send", _side(x), _side(None), to, **options)

    def recv(self, source: int, x: Any, **options: Any) -> Any:
        """Receives what rank `source` sends into `x`. Returns x."""
        self._collective("recv", _side(x), _side(None), source, **options)
        return x
