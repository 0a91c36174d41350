"""Baton as a backend of torch.distributed, for tensors of the CPU:

    import torch.distributed as dist
    import baton.torch

    dist.init_process_group("baton")

Every process that uses it imports baton.torch. The code that needs PyTorch's headers is compiled for the PyTorch that is
installed, at the first import, and kept. docs/reference/torch.md of the project tells more.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import inspect
from typing import Any

try:
    import torch.distributed as _dist
except ImportError as error:
    raise ImportError("baton.torch needs PyTorch, which is not installed") from error

from baton import _domain
from baton.torch import _extension, _launch


def _load() -> Any:
    path = _extension.find_or_build()
    loader = importlib.machinery.ExtensionFileLoader(_extension.MODULE, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(_extension.MODULE, loader, origin=path))
    loader.exec_module(module)
    return module


def _make(options: Any, _backend_options: Any = None) -> Any:
    """Called by init_process_group() and new_group() on each member."""
    ranks = list(options.global_ranks_in_group)
    if ranks == list(range(len(ranks))):
        ranks = []
    return _process_group.make(options.store, options.group_rank, options.group_size, options.timeout,
                               options.group_id, ranks)


def _register() -> None:
    if not _dist.is_available():
        raise ImportError("baton.torch: this PyTorch was built without torch.distributed")
    if hasattr(_dist.Backend, "BATON"):
        return
    # PyTorch 2.0 does not ask for which devices.
    takes_devices = "devices" in inspect.signature(_dist.Backend.register_backend).parameters
    _dist.Backend.register_backend("baton", _make, extended_api=True, **({"devices": ["cpu"]} if takes_devices else {}))


_process_group = _load()
ProcessGroupBaton = _process_group.ProcessGroupBaton
_register()
_domain._watch_for_uncaught()  # an exception that ends this program reaches the other ranks as the cause
_launch.tell_place()

__all__ = ["ProcessGroupBaton"]
