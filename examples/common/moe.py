"""What the examples of experts share: sizes, which the kernel library tells, and choices of experts."""

from __future__ import annotations

import argparse
import ctypes
import dataclasses
from typing import Any

import numpy as np

import example

ELEMENTS = {"float32": "float", "bfloat16": "bfloat16_t"}
COUNTERS = ("rows_arrived", "rows_taken", "returns_arrived", "returns_taken")  # enum class Counter of moe/layout.hpp


@dataclasses.dataclass(frozen=True)
class Problem:
    """struct Problem of moe/problem.hpp: the same fields in the same order."""

    ranks: int
    experts_per_rank: int
    top_k: int
    tokens_at_most: int
    width: int
    element_bytes: int
    capacity: int = 0

    @property
    def experts(self) -> int:
        return self.ranks * self.experts_per_rank

    def array(self) -> np.ndarray:
        return np.array(dataclasses.astuple(self), "i4")


class Sizes:
    """What the kernel library says about a problem: window_bytes, plan_ints, block_ints, sent_rows, received_rows, and
    for each of COUNTERS its place in the window and how much it grows in a round."""

    def __init__(self, kernels: Any, problem: Problem):
        describe = ctypes.CDLL(kernels.library).baton_moe_describe
        describe.restype = ctypes.c_char_p
        numbers, sizes = problem.array(), np.zeros(13, "i8")
        fault = describe(numbers.ctypes.data_as(ctypes.c_void_p), sizes.ctypes.data_as(ctypes.c_void_p))
        if fault is not None:
            raise example.Refused(fault.decode())
        self.window_bytes, self.plan_ints, self.block_ints, self.sent_rows, self.received_rows = map(int, sizes[:5])
        self.counter_bytes = dict(zip(COUNTERS, map(int, sizes[5:9])))
        self.per_round = dict(zip(COUNTERS, map(int, sizes[9:13])))


def add_options(parser: argparse.ArgumentParser, *, experts: int, top_k: int, width: int, dtype: str,
                choose: str) -> None:
    parser.add_argument("--experts", type=int, default=experts, metavar="E", help="experts of each rank")
    parser.add_argument("--top-k", type=int, default=top_k, metavar="K", help="experts of each token")
    parser.add_argument("--width", type=int, default=width, metavar="W", help="elements of a token")
    parser.add_argument("--dtype", choices=tuple(ELEMENTS), default=dtype, help="of the tokens")
    parser.add_argument("--capacity", type=int, default=0, metavar="C",
                        help="rows that a rank may send to one expert; 0: no limit")
    parser.add_argument("--choose", choices=("modulo", "random", "one"), default=choose,
                        help="experts: in turn, at random, or the same for all tokens")
    parser.add_argument("--uneven", action="store_true", help="rank 0 has no tokens, the others have different numbers")


def problem_of(options: argparse.Namespace) -> Problem:
    for name in ("experts", "top_k", "width"):
        if getattr(options, name) < 1:
            raise example.Refused(f"--{name.replace('_', '-')} {getattr(options, name)}: there must be at least 1")
    if options.capacity < 0:
        raise example.Refused(f"--capacity {options.capacity}: 0, which means no limit, or more")
    if options.top_k > options.ranks * options.experts:
        raise example.Refused(f"--top-k {options.top_k}: there are {options.ranks * options.experts} experts")
    return Problem(options.ranks, options.experts, options.top_k, options.count, options.width,
                   4 if options.dtype == "float32" else 2, options.capacity)


def token_count(options: argparse.Namespace, rank: int, epoch: int) -> int:
    """A rank's tokens in a round."""
    return options.count if not options.uneven else (rank * (epoch + 2)) % (options.count + 1)


def choices(options: argparse.Namespace, rank: int, epoch: int) -> np.ndarray:
    """The experts of each token: shape (tokens, top_k), no expert twice."""
    tokens, top_k, experts = token_count(options, rank, epoch), options.top_k, options.ranks * options.experts
    if options.choose == "random":
        random = np.random.default_rng([rank, epoch])
        chosen = np.argsort(random.random((tokens, experts)), axis=1)[:, :top_k]
    elif options.choose == "modulo":
        chosen = (np.arange(tokens)[:, None] * top_k + np.arange(top_k)) % experts
    else:
        chosen = np.broadcast_to(np.arange(top_k), (tokens, top_k))
    return np.ascontiguousarray(chosen, "i4")


def padded(array: np.ndarray, rows: int) -> np.ndarray:
    """With as many rows as a rank may have."""
    filled = np.zeros((rows, *array.shape[1:]), array.dtype)
    filled[:len(array)] = array
    return filled


def sent_by_expert(chosen: np.ndarray, experts: int, capacity: int) -> list[list[tuple[int, int]]]:
    """The choices (token, k) that a rank sends to each expert, in order: the first ones, as many as it may."""
    sent: list[list[tuple[int, int]]] = [[] for _ in range(experts)]
    for (token, k), expert in np.ndenumerate(chosen):
        if capacity == 0 or len(sent[expert]) < capacity:
            sent[expert].append((token, k))
    return sent


def to_bits(values: np.ndarray, dtype: str) -> np.ndarray:
    """float32, or the bits of bfloat16: nearest, ties to even."""
    values = np.ascontiguousarray(values, "f4")
    if dtype == "float32":
        return values
    bits = values.view("u4")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("u2")


def from_bits(bits: np.ndarray) -> np.ndarray:
    """float32 of either."""
    return bits if bits.dtype == np.float32 else (bits.astype("u4") << 16).view("f4")
