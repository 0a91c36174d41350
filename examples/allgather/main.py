"""allgather: every chip gets the blocks of all chips, in the order of their ranks. -n counts the elements of a block."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import collective  # noqa: E402
import example  # noqa: E402


def run(options, report):
    block, ranks = options.count, options.ranks

    def data(rank, k):
        return 100 * rank + np.arange(block, dtype="f4") + (k - 1)

    results = collective.run_rounds(options, report, f"allgather of {block} floats from each",
                                    example.kernels(__file__, options)["allgather"], data=data, results=ranks * block,
                                    floats=block)
    for (k, rank), y in results.items():
        report.check(rank, y, np.concatenate([data(peer, k) for peer in range(ranks)]), what=f"round {k}")


def main(argv=None):
    return example.run(run, example.parse(argv, __doc__, count=64))


if __name__ == "__main__":
    sys.exit(main())
