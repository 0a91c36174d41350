"""Tensors of a scene test in memory that a node shares with its chips."""

from __future__ import annotations

import itertools
from typing import Any

from baton.compat.buffer import Buffer
from baton.compat.host_memory import HostTensor, host_tensor
from baton.compat.scene.arguments import TaskArgsBuilder
from baton.compat.tensor import Tensor, of_host, overlap


def _over(memory: memoryview, like: Any, given: HostTensor) -> Any:
    """A tensor of the same kind as `like`, over other memory, with its values."""
    if type(like).__module__.partition(".")[0] == "torch":
        import torch
        made = torch.frombuffer(memory, dtype=like.dtype).reshape(given.shape)
        made.copy_(like)
        return made
    import numpy
    if isinstance(like, numpy.ndarray):
        made = numpy.frombuffer(memory, dtype=like.dtype).reshape(like.shape)
        made[...] = like
        return made
    raise TypeError(f"a {type(like).__name__} cannot be moved to memory of a worker: use a tensor of PyTorch or an "
                    "array of NumPy")


def rehost(args: TaskArgsBuilder, worker: Any) -> None:
    """Moves all tensors into memory of the worker and binds their names to them."""
    found = {name: host_tensor(getattr(args, name)) for name in args.tensor_names()}
    for name, given in found.items():
        if not given.contiguous:
            raise ValueError(f"tensor {name!r} has strides: at level 3 tensors are contiguous")
    for (one, a), (other, b) in itertools.combinations(found.items(), 2):
        if overlap(of_host(a), of_host(b)):
            raise ValueError(f"tensors {one!r} and {other!r} overlap: at level 3 each has memory of its own")
    for name, given in found.items():
        buffer = worker.create_buffer(of_host(given).nbytes)
        args.rebind(name, _over(buffer.shm.buf, getattr(args, name), given))
        args.rehosted[name] = buffer


def _buffer_named(args: TaskArgsBuilder, name: str) -> Buffer:
    try:
        return args.rehosted[name]
    except KeyError:
        raise ValueError(f"tensor {name!r} was not moved to memory of a worker") from None


def _rehosted_ref(args: TaskArgsBuilder, name: str) -> Tensor:
    """The tensor of that name, for TaskArgs."""
    given = host_tensor(getattr(args, name))
    return _buffer_named(args, name).tensor(given.shape, given.dtype)


def _rehosted_buffer_for(args: TaskArgsBuilder, tensor: Any) -> Buffer:
    """The memory that a tensor, or a part of one, lies in."""
    given = host_tensor(tensor)
    address = given.storage.base + given.byte_offset
    for buffer in args.rehosted.values():
        if buffer.base <= address < buffer.base + buffer.nbytes:
            return buffer
    raise ValueError("the tensor is none of those that were moved to memory of a worker, nor a part of one")


def _rehosted_ref_for(args: TaskArgsBuilder, tensor: Any) -> Tensor:
    """A tensor, or a part of one, for TaskArgs."""
    given, buffer = host_tensor(tensor), _rehosted_buffer_for(args, tensor)
    offset = given.storage.base + given.byte_offset - buffer.base
    return buffer.tensor(given.shape, given.dtype, None if given.contiguous else given.strides, offset)
