"""The host fills the windows, DMA engines get what the next rank has, a consumer adds 1 when it has arrived."""

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

    def staged_by(rank, epoch):
        return ((1000 * rank + np.arange(options.count) % 251) / 10 + (epoch - 1)).astype("f4")

    with example.node(options) as node:
        results = {(epoch, r): node.create_buffer(options.count) for epoch in rounds for r in chips}

        def orchestration(orch):
            buffers = [baton.CommBufferSpec("staged", "float32", options.count)]
            with orch.allocate_domain("ring", chips, buffers=buffers) as domain:
                staged = [domain[r].buffers["staged"] for r in chips]
                got = [orch.alloc(options.count, worker=r) for r in chips]  # memory of the chip
                for epoch in rounds:
                    for r in chips:
                        orch.copy_to(staged[r], staged_by(r, epoch))
                    fetched = orch.submit_next_level_group(
                        kernels["fetch"], [[staged[r], got[r], domain[r].device_ctx] for r in chips], workers=chips)
                    for r in chips:  # waits for the bytes: it reads what fetch writes
                        orch.submit_next_level(kernels["add_one"], [got[r], results[epoch, r]], worker=r)
                    # What a kernel reads of another chip's window makes no edge: the host waits before it writes there.
                    orch.wait(fetched)

        with report.timed(f"dma_get of {options.count} elements"):
            node.run(orchestration)
        for (epoch, rank), result in results.items():
            golden = staged_by((rank + 1) % options.ranks, epoch) + np.float32(1)
            report.check(rank, result.numpy(), golden, what=f"round {epoch}")


def main(argv=None):
    options = example.parse(argv, "dma_get: asynchronous gets from the next rank's window", count=1000, most_ranks=16)
    return example.run(run, options)


if __name__ == "__main__":
    sys.exit(main())
