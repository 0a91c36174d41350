"""y = the sum over the ranks of x_r w_r: products on cube cores, then a sum over the windows on vector cores."""

import pathlib
import sys

import numpy as np

import baton

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import example


def factors(rank, epoch, side):
    numbers = np.arange(side * side, dtype="f4").reshape(side, side)
    x, w = (numbers + 0.25 * rank) / 32, (numbers + 0.5 * (rank + 1)) / 48
    return (x + (epoch - 1)).astype("f4"), (w + (epoch - 1)).astype("f4")


def run(options, report):
    if options.count < 1:
        raise example.Refused(f"--count {options.count}: a matrix has at least 1 row and 1 column")
    kernels = example.kernels(__file__, options)
    side, chips = options.count, list(range(options.ranks))
    rounds = range(1, options.repeat + 1)
    with example.node(options) as node:
        inputs = {(epoch, r): [node.tensor(factor) for factor in factors(r, epoch, side)]
                  for epoch in rounds for r in chips}
        results = {key: node.create_buffer([side, side]) for key in inputs}
        goldens = {epoch: sum(x.astype("f8") @ w.astype("f8") for x, w in (inputs[epoch, r] for r in chips))
                   for epoch in rounds}

        def orchestration(orch):
            buffers = [baton.CommBufferSpec("partial", "float32", side * side),
                       baton.CommBufferSpec("signals", "int32", baton.signals_needed(options.ranks))]
            with orch.allocate_domain("tp", chips, buffers=buffers) as domain:
                partial = [domain[r].buffers["partial"].reshape([side, side]) for r in chips]
                signals = [domain[r].buffers["signals"] for r in chips]
                for epoch in rounds:
                    for r in chips:
                        x, w = inputs[epoch, r]
                        orch.submit_next_level(kernels["multiply"], [x, w, partial[r]], worker=r)
                    orch.submit_next_level_group(  # waits for the products: it reads what multiply writes
                        kernels["add_partials"],
                        [[partial[r], signals[r], results[epoch, r], domain[r].device_ctx] for r in chips],
                        workers=chips)

        with report.timed(f"ffn_tp of {side} x {side}, sums up to {goldens[options.repeat].max():.3g},"):
            node.run(orchestration)
        for (epoch, rank), result in results.items():
            report.check(rank, result.numpy(), goldens[epoch], tolerance=1e-4, what=f"round {epoch}")


def side_option(parser):
    parser.add_argument("-n", "--count", type=int, default=64, metavar="N", help="rows and columns of the matrices")


def main(argv=None):
    options = example.parse(argv, "ffn_tp: a layer whose weights are spread over the ranks", count=None, most_ranks=16,
                            more=side_option)
    return example.run(run, options)


if __name__ == "__main__":
    sys.exit(main())
