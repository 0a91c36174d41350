"""allreduce: every chip gets the sum of what all chips have, in one of five ways."""

import pathlib
import sys

import numpy as np

import baton
from baton import NO_DEP

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import collective  # noqa: E402
import example  # noqa: E402

MODES = ("onephase", "twophase", "ring", "bidirectional_ring", "ibing")  # enum class Mode in allreduce.cpp
GRAPHS = ("stream", "captured", "explicit")
SMALL = 4096  # elements


def mode_for(count, ranks):
    """What "auto" means. onephase meets twice and reads P N elements, twophase meets three times and reads 2 N."""
    return "onephase" if ranks == 2 or count <= SMALL else "twophase"


def data_of(rank, round_number, options):
    return np.arange(options.count, dtype="f4") + 100 * rank + (round_number - 1)


def golden_of(round_number, options):
    ranks = options.ranks
    return ranks * np.arange(options.count, dtype="f8") + 100 * ranks * (ranks - 1) / 2 + ranks * (round_number - 1)


def on_a_node(options, report, kernels, mode):
    """A stream of tasks for the chips of a node: each round is a group, and nobody waits between rounds."""
    return collective.run_rounds(options, report, f"allreduce ({mode}) of {options.count} floats", kernels["allreduce"],
                                 data=lambda rank, k: data_of(rank, k, options), results=options.count,
                                 floats=options.count, scalars=lambda k: [MODES.index(mode)])


def on_chips(options, report, kernels, mode):
    """A graph on each chip, captured once and run in every round, or with edges that are named instead of inferred. The
    ranks are threads of this process."""
    signals = baton.signals_needed(options.ranks)
    ys = {}

    def rank_body(me):
        room = me.window("room", signals + options.count)
        counters = room.tensor()[:signals].reinterpret("int32")
        window = room.tensor()[signals:]
        with baton.Chip(options.platform, domain=me, clusters=1, threads=1) as chip:
            x, y = chip.alloc(options.count), chip.alloc(options.count)
            chip.copy_in(x, data_of(me.rank, 0, options))

            def orchestration(graph):
                changed = graph.submit(kernels["next_round"], x)
                graph.submit(kernels["allreduce"], x, y, NO_DEP(window), NO_DEP(counters), room.context,
                             MODES.index(mode), after=[changed] if options.graph == "explicit" else [])

            graph = chip.capture(orchestration) if options.graph == "captured" else None
            for k in range(1, options.repeat + 1):
                chip.copy_in(y, np.full(options.count, np.nan, "f4"))
                if graph is not None:
                    chip.run(graph)
                else:
                    chip.run(orchestration, edges="named")
                ys[k, me.rank] = y.numpy().copy()
            me.barrier()

    with report.timed(f"allreduce ({mode}) of {options.count} floats, {options.graph} graphs"):
        baton.run_ranks(options.ranks, rank_body)
    return ys


def run(options, report):
    mode = mode_for(options.count, options.ranks) if options.mode == "auto" else options.mode
    if options.graph != "stream":
        options.inproc = True
    kernels = example.kernels(__file__, options)
    results = (on_a_node if options.graph == "stream" else on_chips)(options, report, kernels, mode)
    for (k, rank), y in results.items():
        report.check(rank, y, golden_of(k, options), tolerance=1e-6, what=f"round {k}")


def add_options(parser):
    parser.add_argument("-m", "--mode", choices=(*MODES, "auto"), default="auto", help="how the sum is found")
    parser.add_argument("-g", "--graph", choices=GRAPHS, default="stream",
                        help="how the tasks of a chip become a graph; captured and explicit imply --inproc")


def main(argv=None):
    return example.run(run, example.parse(argv, __doc__, count=256, more=add_options))


if __name__ == "__main__":
    sys.exit(main())
