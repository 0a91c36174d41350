"""reduce_scatter: chip r gets block r of the sum of what all chips have. -n counts the elements of a block."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import collective  # noqa: E402
import example  # noqa: E402


def run(options, report):
    block, ranks = options.count, options.ranks

    def data(rank, k):
        return np.arange(ranks * block, dtype="f4") + 100 * rank + (k - 1)

    def golden(rank, k):
        mine = rank * block + np.arange(block, dtype="f8")
        return ranks * mine + 100 * ranks * (ranks - 1) / 2 + ranks * (k - 1)

    results = collective.run_rounds(options, report, f"reduce_scatter of {ranks} blocks of {block} floats",
                                    example.kernels(__file__, options)["reduce_scatter"], data=data, results=block,
                                    floats=ranks * block)
    for (k, rank), y in results.items():
        report.check(rank, y, golden(rank, k), tolerance=1e-6, what=f"round {k}")


def main(argv=None):
    return example.run(run, example.parse(argv, __doc__, count=64))


if __name__ == "__main__":
    sys.exit(main())
