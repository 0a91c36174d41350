"""Each rank builds a graph of its own; a consumer waits, without a core, until the rank before has notified."""

import pathlib
import sys

import numpy as np

import baton

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import example
import ranks

LATE = 1  # the rank that notifies after all others have told it that their graphs run


def input_of(rank, epoch, options):
    return np.arange(options.count, dtype="f4") + np.float32(100 * rank + epoch - 1)


def live(me, options):
    """What one rank does; gives its result of each round."""
    kernels = example.kernels(__file__, options)
    results = []
    with baton.Chip(options.platform, domain=me, clusters=1, threads=1) as chip:
        counter, ready = (chip.window(me, name, 1, "int32") for name in ("counter", "ready"))
        for epoch in range(1, options.repeat + 1):
            given = chip.tensor(input_of(me.rank, epoch, options))
            out, result = chip.alloc(options.count), chip.alloc(options.count)

            def orchestration(graph):
                start = []
                if me.rank == LATE:
                    start = [graph.submit_notification_wait(ready.tensor(), epoch * (me.size - 1))]
                graph.submit(kernels["produce"], given, out, counter.tensor().address, counter.context, tokens=start)
                notified = graph.submit_notification_wait(counter.tensor(), epoch)
                graph.submit(kernels["consume"], out, result, counter.tensor().address, epoch - 1, tokens=[notified])
                if me.rank != LATE:
                    graph.submit(kernels["tell"], ready.tensor().address, ready.context, LATE)

            chip.run(orchestration)
            results.append(chip.copy_out(result))
            me.barrier()  # everybody has read its counter: the next round may notify
    return results


def run(options, report):
    example.kernels(__file__, options)  # compiled once, before the ranks need them
    with report.timed(f"async_notify of {options.count} elements, rank {LATE} late,"):
        outcomes = ranks.run(options, live)
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
