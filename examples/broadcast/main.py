"""broadcast: every chip gets what the root has."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import collective  # noqa: E402
import example  # noqa: E402


def run(options, report):
    count, ranks = options.count, options.ranks
    if options.root != "each" and not (options.root.isdecimal() and int(options.root) < ranks):
        raise example.Refused(f"--root {options.root}: there are ranks 0 to {ranks - 1}, or \"each\" in turn")

    def data(rank, k):
        return 100 * rank + np.arange(count, dtype="f4") + (k - 1)

    def root_of(k):
        return (k - 1) % ranks if options.root == "each" else int(options.root)

    whose = "each rank in turn" if options.root == "each" else f"rank {options.root}"
    results = collective.run_rounds(options, report, f"broadcast of {count} floats of {whose}",
                                    example.kernels(__file__, options)["broadcast"], data=data, results=count, floats=count,
                                    scalars=lambda k: [root_of(k)])
    for (k, rank), y in results.items():
        report.check(rank, y, data(root_of(k), k), what=f"round {k}")


def add_options(parser):
    parser.add_argument("--root", default="0", help='the rank whose data all get; "each": another one in every round')


def main(argv=None):
    return example.run(run, example.parse(argv, __doc__, count=256, more=add_options))


if __name__ == "__main__":
    sys.exit(main())
