"""Ranks of a job that build graphs of their own, in processes or as threads of this one."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
from typing import Any, Callable

import baton

import example


def run(options: Any, body: Callable[[baton.Domain, Any], Any]) -> list[Any]:
    """What body(me, options) gives for each rank. `body` is a function of main.py; in a process of its own, its result
    must be something that travels: arrays, lists, numbers."""
    if options.inproc:
        return baton.run_ranks(options.ranks, lambda me: body(me, options))
    rendezvous = f"shm:{body.__module__}-{os.getpid()}"
    spawn = multiprocessing.get_context("spawn")
    ranks = options.ranks
    try:
        with concurrent.futures.ProcessPoolExecutor(ranks, mp_context=spawn) as pool:
            outcomes = list(pool.map(_live, [body] * ranks, [rendezvous] * ranks, range(ranks), [options] * ranks))
    except concurrent.futures.BrokenExecutor:
        raise example.Refused("a process of a rank died") from None
    for outcome in outcomes:
        if isinstance(outcome, str):
            raise example.Refused(outcome)
    return outcomes


def _live(body: Callable[[baton.Domain, Any], Any], rendezvous: str, rank: int, options: Any) -> Any:
    """The result, or a text that says what went wrong."""
    try:
        return body(baton.join(rendezvous, rank, options.ranks), options)
    except baton.Error as error:
        return str(error)
