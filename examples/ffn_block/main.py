"""ffn_block: gelu(x W1) W2, weights spread over the chips; a sum over them runs while the next chunk is computed."""

import pathlib
import sys

import numpy as np

import baton

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import example
import ranks

LATE = 1  # with --late, the rank that shows its first chunk after all others have computed all of theirs


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def shares(size, parts):
    """Where each part begins, and the end; sizes differ by 1 at most."""
    return [size * i // parts for i in range(parts + 1)]


def data_of(options, epoch):
    """x, the columns and the rows of the weights: equal on all ranks, of which each uses its part."""
    random = np.random.default_rng(epoch)
    x = random.normal(size=(options.count, options.width)).astype("f4")
    w1 = (random.normal(size=(options.width, options.hidden)) / np.sqrt(options.width)).astype("f4")
    w2 = (random.normal(size=(options.hidden, options.width)) / np.sqrt(options.hidden)).astype("f4")
    return x, w1, w2


def golden_of(options, epoch):
    x, w1, w2 = (array.astype("f8") for array in data_of(options, epoch))
    return gelu(x @ w1) @ w2


def live(me, options):
    """What one rank does; gives y of each round."""
    kernels = example.kernels(__file__, options)
    rows, epochs = shares(options.count, options.chunks), range(1, options.repeat + 1)
    first, last = shares(options.hidden, me.size)[me.rank:me.rank + 2]

    def signal(name, chunk):
        at = ("shown", "taken").index(name) * options.chunks + chunk
        return signals.tensor()[at:at + 1]

    with baton.Chip(options.platform, domain=me, clusters=1, threads=1) as chip:
        partial = chip.window(me, "partial", [options.count, options.width])
        signals = chip.window(me, "chunks", 2 * options.chunks, "int32")
        given = [data_of(options, epoch) for epoch in epochs]
        x = [chip.tensor(data[0]) for data in given]
        w1 = [chip.tensor(np.ascontiguousarray(data[1][:, first:last])) for data in given]  # columns of the first layer
        w2 = [chip.tensor(data[2][first:last]) for data in given]  # rows of the second
        hidden = chip.alloc([options.count, last - first])
        y = [chip.alloc([options.count, options.width]) for _ in epochs]

        def submit_chunk(graph, k, epoch, chunk):
            """Cube cores multiply; what they wrote makes the edges. The sum waits, without a core, for all ranks."""
            part = slice(rows[chunk], rows[chunk + 1])
            graph.submit(kernels["multiply"], x[k][part], w1[k], hidden[part])
            graph.submit(kernels["activate"], hidden[part])
            room = graph.submit_notification_wait(signal("taken", chunk), me.size * (epoch - 1))
            graph.submit(kernels["multiply"], hidden[part], w2[k], partial.tensor()[part], tokens=[room])
            hold = []
            if options.late and me.rank == LATE and chunk == 0 and options.chunks > 1:
                hold = [graph.submit_notification_wait(signal("shown", options.chunks - 1), me.size * epoch)]
            graph.submit(kernels["show"], partial.tensor()[part], signal("shown", chunk).address, signals.context,
                         tokens=hold)
            shown = graph.submit_notification_wait(signal("shown", chunk), me.size * epoch)
            graph.submit(kernels["add_partials"], y[k][part], partial.tensor()[part].address, partial.context,
                         signal("taken", chunk).address, signals.context, tokens=[shown])

        chip.run(lambda graph: [submit_chunk(graph, k, epoch, chunk) for k, epoch in enumerate(epochs)
                                for chunk in range(options.chunks)])
        me.barrier()  # nobody leaves while others may still read its window
        return [chip.copy_out(result) for result in y]


def run(options, report):
    for name in ("width", "hidden", "chunks"):
        if getattr(options, name) < 1:
            raise example.Refused(f"--{name} {getattr(options, name)}: there must be at least 1")
    if options.hidden < options.ranks:
        raise example.Refused(f"--hidden {options.hidden}: each of {options.ranks} ranks needs at least 1")
    options.chunks = min(options.chunks, options.count)
    example.kernels(__file__, options)  # compiled once, before the ranks need them
    late = f", rank {LATE} late" if options.late else ""
    with report.timed(f"ffn_block of {options.count} x {options.width}, {options.hidden} hidden, "
                      f"{options.chunks} chunks{late},"):
        outcomes = ranks.run(options, live)
    for rank, results in enumerate(outcomes):
        for epoch, y in enumerate(results, start=1):
            report.check(rank, y, golden_of(options, epoch), tolerance=1e-4, what=f"round {epoch}")


def more_options(parser):
    parser.add_argument("--width", type=int, default=64, metavar="W", help="columns of x and of the result")
    parser.add_argument("--hidden", type=int, default=256, metavar="H", help="columns between the layers, of all ranks")
    parser.add_argument("--chunks", type=int, default=4, metavar="C",
                        help="pieces of x that are summed one by one; no more than rows")
    parser.add_argument("--late", action="store_true",
                        help="rank 1 shows its first chunk only when all have computed their last one")


def main(argv=None):
    options = example.parse(argv, __doc__, count=128, most_ranks=16, more=more_options)
    return example.run(run, options)


if __name__ == "__main__":
    sys.exit(main())
