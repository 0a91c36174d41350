"""Ranks of a job that build graphs of their own, in processes or as threads of this one."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
import threading
from typing import Any, Callable

import numpy as np

import baton
import baton._program

import example

_Body = Callable[[baton.Domain, Any], Any]


def run(options: Any, body: _Body) -> list[Any]:
    """What body(me, options) gives for each rank. `body` is a function of main.py; in a process of its own, its result
    must be something that travels: arrays, lists, numbers.

    With BATON_HOSTS this program starts again there, as each rank of a job. Of a job that `baton run` has started, only
    rank 0 returns."""
    if "BATON_RANK" in os.environ:
        return _as_one_of_a_job(options, body)
    if os.environ.get("BATON_HOSTS") and not options.inproc:
        _become_a_job(options)
    if options.inproc:
        return baton.run_ranks(options.ranks, lambda me: body(me, options))
    # Processes and pipes only. Queues, pools and locks of multiprocessing are named semaphores, and stay in /dev/shm
    # when all of a job is killed.
    rendezvous = f"shm:{body.__module__}-{os.getpid()}"
    spawn = multiprocessing.get_context("spawn")
    started = []
    for rank in range(options.ranks):
        theirs, ours = spawn.Pipe(duplex=False)
        process = spawn.Process(target=_live, args=(ours, body, rendezvous, rank, options), daemon=True)
        process.start()
        ours.close()
        started.append((process, theirs))
    outcomes = [_outcome(process, pipe) for process, pipe in started]
    # A rank that died comes first: it has told nothing, and the others tell of it what they know.
    for kind in (_Died, baton.Error):
        for rank, outcome in enumerate(outcomes):
            if isinstance(outcome, kind):
                raise example.Refused(f"the process of rank {rank} {outcome}" if kind is _Died else str(outcome))
    return outcomes


def _become_a_job(options: Any) -> None:
    environment = dict(os.environ)
    hosts = environment.pop("BATON_HOSTS")
    program = baton._program.path()
    if program is None:
        raise example.Refused("the program baton, which starts ranks on hosts, is not on the PATH")
    sys.stdout.flush()
    words = [program, "run", "--hosts", hosts, "-n", str(options.ranks), sys.executable, *sys.orig_argv[1:]]
    os.execve(program, words, environment)


def _as_one_of_a_job(options: Any, body: _Body) -> list[Any]:
    me = baton.join()
    if me.size != options.ranks:
        raise example.Refused(f"the job has {me.size} ranks, and -d {options.device} names {options.ranks}")
    mine = np.frombuffer(pickle.dumps(body(me, options)), "uint8")
    sizes = me.allgather(np.array([mine.size]))
    padded = np.zeros(int(sizes.max()), "uint8")
    padded[:mine.size] = mine
    outcomes = me.allgather(padded)
    if me.rank != 0:
        sys.exit(0)
    return [pickle.loads(outcome.tobytes()) for outcome in outcomes]


class _Died(Exception):
    """A process that ended without an outcome. The text says how."""


def _outcome(process: Any, pipe: Any) -> Any:
    try:
        return pipe.recv()
    except (EOFError, OSError):  # before its outcome, or in the middle of it
        process.join()
    code = process.exitcode
    return _Died(f"was killed ({signal.Signals(-code).name})" if code < 0 else f"ended with exit code {code}")


def _live(pipe: Any, body: _Body, rendezvous: str, rank: int, options: Any) -> None:
    """Sends the result of the body, or the error that ended it."""
    threading.Thread(target=_end_with, args=(multiprocessing.parent_process(),), daemon=True).start()
    try:
        outcome = body(baton.join(rendezvous, rank, options.ranks), options)
    except baton.Error as error:
        outcome = error
    pipe.send(outcome)


def _end_with(parent: Any) -> None:
    """No rank outlives the one that started it."""
    multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)
