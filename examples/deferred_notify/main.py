"""Every rank writes r + 1 to the next one; the task that does so is complete when its own inbox is full."""

import pathlib
import sys

import numpy as np

import baton

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import example


def run(options, report):
    kernels = example.kernels(__file__, options)
    chips = list(range(options.ranks))
    rounds = range(1, options.repeat + 1)

    def partial(rank, epoch):
        return np.full(options.count, rank + epoch, "f4")  # r + 1 in the first round

    with example.node(options) as node:
        partials = {(epoch, r): node.tensor(partial(r, epoch)) for epoch in rounds for r in chips}
        results = {key: node.create_buffer(options.count) for key in partials}

        def orchestration(orch):
            buffers = [baton.CommBufferSpec("inbox", "float32", options.count),
                       baton.CommBufferSpec("signals", "int32", 2)]
            with orch.allocate_domain("ring", chips, buffers=buffers) as domain:
                inbox = [domain[r].buffers["inbox"] for r in chips]
                signals = [domain[r].buffers["signals"] for r in chips]
                context = [domain[r].device_ctx for r in chips]
                for epoch in rounds:
                    orch.submit_next_level_group(
                        kernels["put_partial"],
                        [[partials[epoch, r], inbox[r], signals[r], context[r], epoch] for r in chips], workers=chips)
                    orch.submit_next_level_group(
                        kernels["take_partial"],
                        [[inbox[r], results[epoch, r], signals[r], context[r]] for r in chips], workers=chips)

        with report.timed(f"deferred_notify of {options.count} elements"):
            node.run(orchestration)
        for (epoch, rank), result in results.items():
            before = (rank - 1) % options.ranks
            report.check(rank, result.numpy(), partial(before, epoch), what=f"round {epoch}")


def main(argv=None):
    options = example.parse(argv, "deferred_notify: a task that is complete when a peer has written", count=256,
                            most_ranks=16)
    return example.run(run, options)


if __name__ == "__main__":
    sys.exit(main())
