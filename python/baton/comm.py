"""The C interface of the communication layer, function by function.

Handles and contexts are addresses, as in C; failures raise baton.Error. Domain and Window are the comfortable way to
the same windows. CommContext is the struct that kernels receive.
"""

from __future__ import annotations

import ctypes

from baton._core import comm_alloc_domain_windows, comm_alloc_windows, comm_barrier, comm_derive_context, \
    comm_destroy, comm_get_local_window_base, comm_get_window_size, comm_init, comm_release_domain_windows

__all__ = ["MAX_RANK_NUM", "CommContext", "comm_alloc_domain_windows", "comm_alloc_windows", "comm_barrier",
           "comm_derive_context", "comm_destroy", "comm_get_local_window_base", "comm_get_window_size", "comm_init",
           "comm_release_domain_windows"]

MAX_RANK_NUM = 64


class CommContext(ctypes.Structure):
    """Where the windows of a domain's ranks are: CommContext.from_address(context)."""

    _fields_ = [
        ("workSpace", ctypes.c_uint64),
        ("workSpaceSize", ctypes.c_uint64),
        ("rankId", ctypes.c_uint32),
        ("rankNum", ctypes.c_uint32),
        ("winSize", ctypes.c_uint64),
        ("windowsIn", ctypes.c_uint64 * MAX_RANK_NUM),
        ("windowsOut", ctypes.c_uint64 * MAX_RANK_NUM),
    ]
