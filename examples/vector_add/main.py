"""vector_add: out = a + b on one chip, or on each of several, a tile at a time."""

import pathlib
import sys

import numpy as np

import baton

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import example

TILE = 4096  # kTile in vector_add.cpp


def run(options, report):
    add = example.kernels(__file__, options)["add"]
    options.inproc = True  # the chips are part of this process
    results = {}
    with report.timed(f"vector_add of {options.count} elements"):
        for rank in range(options.ranks):
            with baton.Chip(options.platform) as chip:
                for epoch in range(1, options.repeat + 1):
                    a = chip.tensor(np.arange(options.count, dtype="f4") + 100 * rank + epoch - 1)
                    b = chip.tensor(np.arange(options.count, dtype="f4")[::-1].copy())
                    out = chip.alloc(options.count)

                    def orchestration(graph):
                        for first in range(0, options.count, TILE):
                            tile = slice(first, min(first + TILE, options.count))
                            graph.submit(add, a[tile], b[tile], out[tile])  # no two overlap: all may run at once

                    chip.run(orchestration)
                    results[rank, epoch] = chip.copy_out(out)
    for (rank, epoch), out in results.items():
        report.check(rank, out, options.count - 1 + 100 * rank + epoch - 1, what=f"round {epoch}")


def main(argv=None):
    return example.run(run, example.parse(argv, __doc__, count=100_000, devices="0", least_ranks=1, most_ranks=16))


if __name__ == "__main__":
    sys.exit(main())
