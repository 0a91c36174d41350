"""Graphs on an NVIDIA GPU: beside CUDA Graphs and streams, and sums of vectors beside a kernel of CUDA and a copy."""

import ctypes
import functools
import os
import sys

from harness.cases import OURS, Case, Contender, Floor
from harness.machine import output_of, version_in
from harness.programs import Command

SUITE = "cuda"
TARGETS = ("bench_cuda", "baton_platform_cuda", "baton_cli")
# Graphs and their lengths: tasks of a chain, steps, fans, tasks. All contenders have the same.
GRAPHS = {"chain": 2_000, "stencil": 100, "fan": 100, "independent": 20_000}
ADD_BYTES = 1 << 30
QUICK_ADD_BYTES = 1 << 28
# Of tasks that are not captured: they run while others are submitted (BATON_GPU_STAY), or when all are.
STREAMS = {"chain": 2_000, "stencil": 100, "cells": 20_000}
# Softmax and layer norm of rows: a copy of as many bytes is their floor.
ROW_KERNELS = ("softmax_rows", "layer_norm_rows")
# Of a decoder that makes one token.
DECODER_LAYERS = 8
# A GPU that is one chip, or several that work at once.
PARTS = (1, 2, 4, 8)
# Between two chips of one GPU, with a signal.
PUT_BYTES = (4, 4096, 16384)
# Chips of one GPU that exchange the rows of this many tokens each.
EXPERT_RANKS, EXPERT_TOKENS = 8, 128
# Rows and columns of square matrices of bfloat16.
MATMUL_SIDES = (4096, 8192)
# As bench/cuda/matmul.cpp looks for it.
CUBLAS = ("libcublas.so.13", "libcublas.so.12", "libcublas.so")
# Cores that share a multiprocessor.
SHARES = (1, 4)
# The first run compiles kernels, and everyone opens the GPU and makes a graph before the clock runs.
START_S = 180
# A program ends itself this long after the harness should have ended it.
BACKSTOP_S = 10


def cases(plan):
    """None where there is no GPU."""
    if not versions():
        return []
    suite = CudaSuite(plan)
    found = [suite.graph("round_trip", "chain", 1)]
    found += [suite.graph(shape, shape, length) for shape, length in GRAPHS.items()]
    found += [suite.stream(shape, length) for shape, length in STREAMS.items()]
    found += [suite.add(way, share) for share in SHARES for way in ("tiles", "tiles_unchecked")]
    found += [suite.add(way) for way in ("blocks", "blocks_unchecked")]
    if not has_cublas():
        print(f"{SUITE}: there is no cuBLAS (libcublas.so); products of matrices have no peer", file=sys.stderr)
    found += [suite.matmul(way, side) for side in MATMUL_SIDES for way in ("ours", "unchecked")]
    found += [suite.rows(kernel, share) for share in SHARES for kernel in ROW_KERNELS]
    found += [suite.decoder()]
    found += [suite.parts(chips) for chips in PARTS]
    found += [suite.put(size) for size in PUT_BYTES]
    found += [suite.experts(what) for what in ("dispatch", "layer")]
    return found


def why_skipped():
    """What the harness says where there are no cases."""
    return "there is no NVIDIA GPU, or no driver for it (libcuda.so.1)"


@functools.cache
def versions():
    """The GPU and its driver; nothing without them."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return {}
    device, version, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(256)
    if driver.cuInit(0) or driver.cuDeviceGet(ctypes.byref(device), 0):
        return {}
    driver.cuDriverGetVersion(ctypes.byref(version))
    driver.cuDeviceGetName(name, len(name), device)
    shown = output_of("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    return {"GPU": name.value.decode(), "CUDA": f"{version.value // 1000}.{version.value % 1000 // 10}",
            "driver": version_in(shown) or "unknown"}


@functools.cache
def has_cublas():
    for name in CUBLAS:
        try:
            ctypes.CDLL(name)
            return True
        except OSError:
            pass
    return False


class CudaSuite:
    def __init__(self, plan):
        self._plan = plan

    def graph(self, name, shape, length):
        """Times are for a task of a chain or of independent ones, a step of a stencil, a fan, and a whole round trip."""
        def contender(name, method):
            return Contender(name, method, self._command("graph", method=method, pattern=shape, tasks=length))

        contenders = (contender(OURS, "ours"), contender("profiled", "profiled"), contender("graph", "graph"),
                      contender("streams", "streams"))
        return Case(SUITE, name if length == 1 else f"{name}/{length}", contenders, in_quick=True)

    def stream(self, shape, length):
        """Times are for a task, or a step of a stencil, with edges that follow from tensors."""
        contenders = [Contender(name, method, self._command("graph", method=method, pattern=shape, tasks=length))
                      for name, method in ((OURS, "streamed"), ("streams", "streams"))]
        return Case(SUITE, f"stream/{shape}/{length}", contenders, in_quick=True)

    def add(self, way, share=1):
        size = QUICK_ADD_BYTES if self._plan.quick else ADD_BYTES
        # Two vectors are read and one is written; a copy reads one and writes one.
        floor = Floor({"copy": self._command("copy", bytes=size)}, lambda part: 1.5 * part["copy"],
                      "1.5 copies of one vector")
        contenders = (Contender(OURS, way, self._command("add", method=way, share=share, bytes=size)),
                      Contender("kernel", "kernel", self._command("add", method="kernel", bytes=size)))
        return Case(SUITE, f"add_{way}/{share}", contenders, floor, bytes=3 * size, in_quick=True)

    def rows(self, kernel, share):
        size = QUICK_ADD_BYTES if self._plan.quick else ADD_BYTES
        floor = Floor({"copy": self._command("copy", bytes=size)}, lambda part: part["copy"], "a copy of the rows")
        contenders = (Contender(OURS, kernel, self._command("rows", method=kernel, share=share, bytes=size)),)
        return Case(SUITE, f"{kernel}/{share}", contenders, floor, bytes=2 * size, in_quick=True)

    def decoder(self):
        """Times are for a layer: submitted task by task, beside the same layers captured."""
        contenders = [Contender(name, method, self._command("decoder", method=method, tasks=DECODER_LAYERS))
                      for name, method in ((OURS, "streamed"), ("captured", "captured"))]
        return Case(SUITE, f"decoder/{DECODER_LAYERS}", contenders, in_quick=True)

    def parts(self, chips):
        """The same sum by all chips together, whatever their number."""
        size = QUICK_ADD_BYTES if self._plan.quick else ADD_BYTES
        contenders = (Contender(OURS, "add", self._command("parts", ranks=chips, bytes=size)),)
        return Case(SUITE, f"parts/{chips}", contenders, bytes=3 * size, in_quick=True)

    def matmul(self, way, side):
        contenders = [Contender(OURS, way, self._command("matmul", method=way, side=side))]
        if has_cublas():
            contenders.append(Contender("cublas", "cublas", self._command("matmul", method="cublas", side=side)))
        name = "matmul" if way == "ours" else f"matmul_{way}"
        return Case(SUITE, f"{name}/{side}", tuple(contenders), in_quick=side == MATMUL_SIDES[0])

    def put(self, size):
        contenders = (Contender(OURS, "tiles", self._command("put", bytes=size)),)
        return Case(SUITE, f"put_signal/{size}", contenders, in_quick=True)

    def experts(self, what):
        command = self._command("experts", method=what, ranks=EXPERT_RANKS, tokens=EXPERT_TOKENS)
        return Case(SUITE, f"experts_{what}/{EXPERT_RANKS}", (Contender(OURS, what, command),), in_quick=True)

    def _command(self, operation, **arguments):
        limit = self._plan.limit_s + START_S
        limits = ("--budget-ms", str(self._plan.budget_ms), "--limit-s", str(int(limit) + BACKSTOP_S))
        words = [word for name, value in arguments.items() for word in (f"--{name}", str(value))]
        return Command((os.path.join(self._plan.programs, "cuda"), "--operation", operation, *limits, *words),
                       limit_s=limit)
