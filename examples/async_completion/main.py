"""async_completion: tasks that are complete when a signal, or a DMA engine of two ranks or more, says so."""

import pathlib
import sys

import numpy as np

import baton

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import example
import ranks


def shown_by(rank, epoch, options):
    return (np.arange(options.count) % 251 / 10 + 100 * rank + epoch - 1).astype("f4")


def by_a_signal(me, chip, kernels, options):
    """The host plays the engine: it writes out = 2 in, then notifies."""
    finished, results = me.signals("finished"), []
    given, out, result = (chip.alloc(options.count) for _ in range(3))
    for epoch in range(1, options.repeat + 1):  # a signal is never reset: each round waits for the next value
        chip.copy_in(given, np.full(options.count, 3 * epoch, "f4"))

        def orchestration(graph):
            graph.submit(kernels["begin_twice"], given, out, finished.tensor().address, epoch)
            graph.submit(kernels["add_one"], out, result)  # waits for the signal, not only for the kernel
            out.numpy()[:] = 6 * epoch
            finished.notify(me.rank)

        chip.run(orchestration)
        results.append(result.numpy().copy())
    return results


def by_a_copy(me, chip, kernels, options):
    """A DMA engine gets what the next rank shows."""
    shown, results = me.window("shown", options.count), []
    got, result = (chip.alloc(options.count) for _ in range(2))
    for epoch in range(1, options.repeat + 1):
        shown[:] = shown_by(me.rank, epoch, options)
        me.barrier()  # all show

        def orchestration(graph):
            graph.submit(kernels["begin_fetch"], shown.tensor().address, got, shown.context, (me.rank + 1) % me.size)
            graph.submit(kernels["add_one"], got, result)  # waits for the bytes

        chip.run(orchestration)
        results.append(result.numpy().copy())
        me.barrier()  # nobody reads any more
    return results


def live(me, options):
    kernels = example.kernels(__file__, options)
    with baton.Chip(options.platform, domain=me, clusters=1, threads=1) as chip:
        return [by_a_signal(me, chip, kernels, options),
                by_a_copy(me, chip, kernels, options) if me.size > 1 else []]


def run(options, report):
    if not options.platform.endswith("sim"):
        raise example.Refused(f"-p {options.platform}: here the host plays an engine in memory of the chip: a2a3sim or a5sim")
    example.kernels(__file__, options)  # compiled once, before the ranks need them
    with report.timed(f"async_completion of {options.count} elements"):
        outcomes = ranks.run(options, live)
    for rank, (by_signal, by_copy) in enumerate(outcomes):
        for epoch, result in enumerate(by_signal, start=1):
            report.check(rank, result, 6 * epoch + 1, what=f"round {epoch}: by a signal")
        for epoch, result in enumerate(by_copy, start=1):
            golden = shown_by((rank + 1) % options.ranks, epoch, options) + np.float32(1)
            report.check(rank, result, golden, what=f"round {epoch}: by a copy")


def main(argv=None):
    options = example.parse(argv, __doc__, count=1000, devices="0-1", least_ranks=1, most_ranks=16)
    return example.run(run, options)


if __name__ == "__main__":
    sys.exit(main())
