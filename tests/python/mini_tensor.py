"""A tensor that shows its memory as PyTorch's does, and nothing more: what baton.compat may rely on. And TaskArgs of such."""

import mmap

import numpy as np


class _Storage:
    def __init__(self, array):
        self._array = array

    def data_ptr(self):
        return self._array.__array_interface__["data"][0]

    def nbytes(self):
        return self._array.nbytes


class MiniTensor:
    """A view of a one-dimensional array of bytes."""

    def __init__(self, values, *, root=None, shared=False):
        self.array = np.ascontiguousarray(values) if root is None else values
        self._root = self.array.reshape(-1).view("u1") if root is None else root
        self._shared = shared

    @classmethod
    def zeros(cls, *shape, dtype="float32"):
        return cls(np.zeros(shape, dtype))

    def share_memory_(self):
        root = np.frombuffer(mmap.mmap(-1, max(1, self.array.nbytes)), "u1")[: self.array.nbytes]
        moved = root.view(self.array.dtype).reshape(self.array.shape)
        moved[...] = self.array
        self.array, self._root, self._shared = moved, root, True
        return self

    def is_shared(self):
        return self._shared

    @property
    def shape(self):
        return self.array.shape

    @property
    def dtype(self):
        return f"torch.{self.array.dtype.name}"

    def stride(self):
        return tuple(step // self.array.itemsize for step in self.array.strides)

    def data_ptr(self):
        return self.array.__array_interface__["data"][0]

    def numel(self):
        return self.array.size

    def element_size(self):
        return self.array.itemsize

    def untyped_storage(self):
        return _Storage(self._root)

    def __getitem__(self, index):
        return MiniTensor(self.array[index], root=self._root, shared=self._shared)

    def clone(self):
        return MiniTensor(self.array.copy())

    def copy_(self, other):
        self.array[...] = other.array
        return self


def args_of(*tensors, scalars=()):
    """TaskArgs of (tensor, tag) and of scalars."""
    from baton.compat.task_args import TaskArgs
    made = TaskArgs()
    for tensor, tag in tensors:
        made.add_tensor(tensor, tag)
    for scalar in scalars:
        made.add_scalar(scalar)
    return made
