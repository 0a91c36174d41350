"""Two domains share a chip, which has another rank in each: an allreduce in both, and which rank is which chip."""

import pathlib
import sys

import numpy as np

import baton

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import example


def members(ranks):
    """By name the chips of a domain, in the order of their ranks. The shared chip is the last of one, the first of the
    other; two chips share both."""
    if ranks == 2:
        return {"left": [0, 1], "right": [1, 0]}
    shared = ranks // 2
    return {"left": list(range(shared + 1)), "right": [shared, *range(ranks - 1, shared, -1)]}


def input_of(rank, epoch, options):
    return np.arange(options.count, dtype="f4") + np.float32(100 * rank + epoch - 1)


def run(options, report):
    kernel = example.kernels(__file__, options)["sum_and_map"]
    domains = members(options.ranks)
    rounds = range(1, options.repeat + 1)
    with example.node(options) as node:
        inputs, sums = {}, {}
        for name, chips in domains.items():
            for rank, chip in enumerate(chips):
                for epoch in rounds:
                    inputs[name, chip, epoch] = node.tensor(input_of(rank, epoch, options))
                    sums[name, chip, epoch] = node.create_buffer(options.count + len(chips))

        def orchestration(orch):
            with allocate(orch, "left") as left, allocate(orch, "right") as right:
                for epoch in rounds:
                    for domain in (left, right):
                        orch.submit_next_level_group(kernel, [arguments(domain, chip, epoch) for chip in domain],
                                                     workers=domain.workers)

        def allocate(orch, name):
            chips = domains[name]
            return orch.allocate_domain(name, chips, buffers=[
                baton.CommBufferSpec("window", "float32", options.count + len(chips)),
                baton.CommBufferSpec("signals", "int32", baton.signals_needed(len(chips)))])

        def arguments(domain, chip, epoch):
            member, key = domain[chip], (domain.name, chip, epoch)
            return [inputs[key], member.buffers["window"], member.buffers["signals"], sums[key], member.device_ctx,
                    chip]

        with report.timed(f"domain_rank_map of {options.count} elements"):
            node.run(orchestration)
        for name, chips in domains.items():
            print(f"{name}: ranks 0 to {len(chips) - 1} are chips {', '.join(map(str, chips))}")
        for (name, chip, epoch), result in sums.items():
            chips = domains[name]
            golden = np.concatenate([sum(input_of(rank, epoch, options) for rank in range(len(chips))), chips])
            report.check(chip, result.numpy(), golden, what=f"{name}, round {epoch}")


def main(argv=None):
    options = example.parse(argv, "domain_rank_map: a chip with different ranks in two domains", count=256,
                            most_ranks=16)
    return example.run(run, options)


if __name__ == "__main__":
    sys.exit(main())
