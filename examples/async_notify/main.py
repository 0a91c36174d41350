"""Each rank builds a graph of its own; a consumer waits, without a core, until the rank before has notified."""

import concurrent.futures
import multiprocessing
import os
import pathlib
import sys

import numpy as np

import baton

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import example

LATE = 1  # the rank that notifies after all others have submitted their graphs


def input_of(rank, epoch, options):
    return np.arange(options.count, dtype="f4") + np.float32(100 * rank + epoch - 1)


def live(me, options):
    """What one rank does; gives its result of each round."""
    kernels = example.kernels(__file__)
    counter, ready = me.signals("counter"), me.signals("ready")
    results = []
    with baton.Chip(options.platform, domain=me, clusters=1, workers=1) as chip:
        for epoch in range(1, options.repeat + 1):
            given, result = input_of(me.rank, epoch, options), np.zeros(options.count, "f4")
            out = chip.alloc(options.count)

            def orchestration(graph):
                start = []
                if me.rank == LATE:
                    start = [graph.submit_notification_wait(ready, epoch * (me.size - 1))]
                graph.submit(kernels["produce"], given, out, counter.tensor().address, counter.context, tokens=start)
                notified = graph.submit_notification_wait(counter, epoch)
                graph.submit(kernels["consume"], out, result, counter.tensor().address, epoch - 1, tokens=[notified])
                if me.rank != LATE:
                    ready.notify(LATE)

            chip.run(orchestration)
            results.append(result)
            me.barrier()  # everybody has read its counter: the next round may notify
    return results


def live_in_a_process(rendezvous, rank, options):
    """The results, or a text that says what went wrong."""
    try:
        return live(baton.join(rendezvous, rank, options.ranks), options)
    except baton.Error as error:
        return str(error)


def run_in_processes(options):
    rendezvous = f"shm:async_notify-{os.getpid()}"
    spawn = multiprocessing.get_context("spawn")
    ranks = options.ranks
    try:
        with concurrent.futures.ProcessPoolExecutor(ranks, mp_context=spawn) as pool:
            outcomes = list(pool.map(live_in_a_process, [rendezvous] * ranks, range(ranks), [options] * ranks))
    except concurrent.futures.BrokenExecutor:
        raise example.Refused("a process of a rank died") from None
    for outcome in outcomes:
        if isinstance(outcome, str):
            raise example.Refused(outcome)
    return outcomes


def run(options, report):
    example.kernels(__file__)  # compiled once, before the ranks need them
    with report.timed(f"async_notify of {options.count} elements, rank {LATE} late,"):
        if options.inproc:
            outcomes = baton.run_ranks(options.ranks, lambda me: live(me, options))
        else:
            outcomes = run_in_processes(options)
    for rank, results in enumerate(outcomes):
        for epoch, result in enumerate(results, start=1):
            golden = 2 * input_of(rank, epoch, options) + 1
            report.check(rank, result, golden, what=f"round {epoch}")


def main(argv=None):
    options = example.parse(argv, "async_notify: a graph that waits for a notification of another rank", count=256,
                            most_ranks=16)
    return example.run(run, options)


if __name__ == "__main__":
    sys.exit(main())
