"""Two domains that overlap, an allreduce in each, both under way at once; shared chips add what they got from both."""

import pathlib
import sys

import numpy as np

import baton

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import example


def members(ranks):
    """By name the chips of a domain, in the order of their ranks. The middle third is in both, at least one chip."""
    third = ranks // 3
    return {"left": list(range(ranks - third)), "right": list(reversed(range(third, ranks)))}


def input_of(name, rank, epoch, options):
    shift = 100 * rank + epoch - 1 + (1000 if name == "right" else 0)
    return np.arange(options.count, dtype="f4") + np.float32(shift)


def sum_of(name, epoch, options):
    return sum(input_of(name, rank, epoch, options) for rank in range(len(members(options.ranks)[name])))


def run(options, report):
    kernels = example.kernels(__file__, options)
    domains = members(options.ranks)
    shared = [chip for chip in domains["left"] if chip in domains["right"]]
    rounds = range(1, options.repeat + 1)
    with example.node(options) as node:
        inputs, sums = {}, {}
        for name, chips in domains.items():
            for rank, chip in enumerate(chips):
                for epoch in rounds:
                    inputs[name, chip, epoch] = node.tensor(input_of(name, rank, epoch, options))
                    sums[name, chip, epoch] = node.create_buffer(options.count)
        both = {(chip, epoch): node.create_buffer(options.count) for chip in shared for epoch in rounds}

        def orchestration(orch):
            buffers = [baton.CommBufferSpec("window", "float32", options.count),
                       baton.CommBufferSpec("signals", "int32", baton.signals_needed(options.ranks))]
            with orch.allocate_domain("left", domains["left"], buffers=buffers) as left, \
                    orch.allocate_domain("right", domains["right"], buffers=buffers) as right:
                for epoch in rounds:
                    # In either order: groups over the same chips do not block each other.
                    for domain in (left, right) if epoch % 2 else (right, left):
                        orch.submit_next_level_group(kernels["allreduce"],
                                                     [arguments(domain, chip, epoch) for chip in domain],
                                                     workers=domain.workers)
                    for chip in shared:  # waits for both domains: it reads both sums
                        got = [sums[name, chip, epoch] for name in ("left", "right")]
                        orch.submit_next_level(kernels["add_sums"], [*got, both[chip, epoch]], worker=chip)

        def arguments(domain, chip, epoch):
            member, key = domain[chip], (domain.name, chip, epoch)
            return [inputs[key], member.buffers["window"], member.buffers["signals"], sums[key], member.device_ctx]

        with report.timed(f"dual_domain_overlap of {options.count} elements"):
            node.run(orchestration)
        for name, chips in domains.items():
            print(f"{name}: ranks 0 to {len(chips) - 1} are chips {', '.join(map(str, chips))}")
        for (name, chip, epoch), result in sums.items():
            report.check(chip, result.numpy(), sum_of(name, epoch, options), what=f"{name}, round {epoch}")
        for (chip, epoch), result in both.items():
            golden = sum_of("left", epoch, options) + sum_of("right", epoch, options)
            report.check(chip, result.numpy(), golden, what=f"both, round {epoch}")


def main(argv=None):
    options = example.parse(argv, "dual_domain_overlap: two domains that overlap, side by side", count=256,
                            most_ranks=16)
    return example.run(run, options)


if __name__ == "__main__":
    sys.exit(main())
