"""all_to_all: every chip has a block for every other one, and gets its own by sender. -n counts elements of a block."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import collective  # noqa: E402
import example  # noqa: E402


def block_for(sender, receiver, k, count):
    """What `sender` has for `receiver` in round k."""
    return 1000 * sender + 100 * receiver + np.arange(count, dtype="f4") + (k - 1)


def run(options, report):
    count, ranks = options.count, range(options.ranks)
    results = collective.run_rounds(
        options, report, f"all_to_all of blocks of {count} floats", example.kernels(__file__, options)["all_to_all"],
        data=lambda rank, k: np.concatenate([block_for(rank, to, k, count) for to in ranks]),
        results=len(ranks) * count, floats=len(ranks) * count)
    for (k, rank), y in results.items():
        report.check(rank, y, np.concatenate([block_for(sender, rank, k, count) for sender in ranks]),
                     what=f"round {k}")


def main(argv=None):
    return example.run(run, example.parse(argv, __doc__, count=64))


if __name__ == "__main__":
    sys.exit(main())
