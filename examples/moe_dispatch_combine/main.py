"""moe_dispatch_combine: tokens go to their experts and come back; each gets the weighted sum of its results."""

import pathlib
import sys

import numpy as np

import baton

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import example
import moe

ULPS = 2  # of the element type, that sums may differ by; rows may not


def tokens_of(rank, epoch, options):
    random = np.random.default_rng([1, rank, epoch])
    return moe.to_bits(random.normal(size=(moe.token_count(options, rank, epoch), options.width)), options.dtype)


def gates_of(rank, epoch, options):
    """The weights of a token's experts: positive, 1 together."""
    random = np.random.default_rng([2, rank, epoch])
    gates = random.random((moe.token_count(options, rank, epoch), options.top_k)) + 0.1
    return (gates / gates.sum(axis=1, keepdims=True)).astype("f4")


def expert_weights(options):
    """One row for each expert of all ranks."""
    return np.random.default_rng(3).normal(size=(options.ranks * options.experts, options.width)).astype("f4")


def golden_rows(owner, epoch, options, given):
    """What the experts of a rank get, by expert and source, of the given tokens of all ranks."""
    experts = options.ranks * options.experts
    sent = [moe.sent_by_expert(moe.choices(options, rank, epoch), experts, options.capacity)
            for rank in range(options.ranks)]
    rows = [given[epoch, rank][token] for expert in range(owner * options.experts, (owner + 1) * options.experts)
            for rank in range(options.ranks) for token, _ in sent[rank][expert]]
    return np.array(rows, given[epoch, owner].dtype).reshape(-1, options.width)


def golden_sums(rank, epoch, options, given, weights):
    """In float32, in the order of a token's choices; results are elements, rounded by the expert."""
    chosen, gates = moe.choices(options, rank, epoch), gates_of(rank, epoch, options)
    tokens = moe.from_bits(given[epoch, rank])
    sent = {choice for choices in moe.sent_by_expert(chosen, options.ranks * options.experts, options.capacity)
            for choice in choices}
    sums = np.zeros(tokens.shape, "f4")
    for k in range(options.top_k):
        at = [token for token in range(len(tokens)) if (token, k) in sent]
        results = moe.from_bits(moe.to_bits(tokens[at] * weights[chosen[at, k]], options.dtype))
        sums[at] += gates[at, k][:, None] * results
    return sums


def difference_in_ulps(sums, golden, dtype):
    """Of the element type, at the golden."""
    digits = 8 if dtype == "bfloat16" else 24
    exponent = np.floor(np.log2(np.maximum(np.abs(golden.astype("f8")), 2.0**-126)))
    return np.abs(moe.from_bits(sums).astype("f8") - golden) / np.exp2(exponent - (digits - 1))


def run(options, report):
    problem = moe.problem_of(options)
    kernels = example.kernels(__file__, options, defines={"ELEMENT": moe.ELEMENTS[options.dtype]})
    sizes = moe.Sizes(kernels, problem)
    chips, epochs = list(range(options.ranks)), range(1, options.repeat + 1)
    weights = expert_weights(options)
    bits = "uint16" if options.dtype == "bfloat16" else "float32"
    with example.node(options) as node:

        def elements(rows):
            return node.create_buffer([rows, options.width], options.dtype)

        numbers = node.tensor(problem.array())
        w = [node.tensor(weights[r * options.experts:(r + 1) * options.experts]) for r in chips]
        keys = [(epoch, r) for epoch in epochs for r in chips]
        given = {(epoch, r): tokens_of(r, epoch, options) for epoch, r in keys}
        tokens = {key: elements(options.count) for key in keys}
        chosen = {(epoch, r): moe.choices(options, r, epoch) for epoch, r in keys}
        experts = {key: node.tensor(moe.padded(chosen[key], options.count)) for key in keys}
        gates = {(epoch, r): node.tensor(moe.padded(gates_of(r, epoch, options), options.count)) for epoch, r in keys}
        rows = {key: elements(sizes.received_rows) for key in keys}
        blocks = {key: node.create_buffer(sizes.block_ints, "int32") for key in keys}
        sums = {key: elements(options.count) for key in keys}
        for key in keys:
            node.copy_to(tokens[key].reinterpret(bits), moe.padded(given[key], options.count))

        def orchestration(orch):
            plan = [orch.alloc(sizes.plan_ints, "int32", worker=r) for r in chips]
            results = [orch.alloc([sizes.received_rows, options.width], options.dtype, worker=r) for r in chips]
            home = [orch.alloc(1, "int32", worker=r) for r in chips]
            windows = [baton.CommBufferSpec("moe", "uint8", sizes.window_bytes)]
            with orch.allocate_domain("experts", chips, buffers=windows) as domain:
                side = [[domain[r].local_window_base, domain[r].device_ctx] for r in chips]

                def on_all(kernel, args):
                    orch.submit_next_level_group(kernels[kernel], [[numbers, *args(r)] for r in chips], workers=chips)

                for epoch in epochs:
                    count = [len(chosen[epoch, r]) for r in chips]
                    on_all("dispatch", lambda r: [tokens[epoch, r], experts[epoch, r], plan[r], *side[r], count[r],
                                                  epoch])
                    on_all("assemble", lambda r: [plan[r], tokens[epoch, r], rows[epoch, r], blocks[epoch, r], *side[r],
                                                  count[r]])
                    on_all("run_experts", lambda r: [rows[epoch, r], blocks[epoch, r], w[r], results[r]])
                    on_all("give_back", lambda r: [results[r], blocks[epoch, r], home[r], *side[r], epoch])
                    on_all("combine", lambda r: [plan[r], results[r], blocks[epoch, r], gates[epoch, r], home[r],
                                                 sums[epoch, r], *side[r], count[r]])

        with report.timed(f"moe_dispatch_combine of {options.count} tokens x {options.width} {options.dtype}, "
                          f"top {options.top_k} of {problem.experts} experts, differences in ulps,"):
            node.run(orchestration)

        for epoch, r in keys:
            expected = golden_rows(r, epoch, options, given)
            starts = blocks[epoch, r].numpy()[:problem.experts + 1]
            got = rows[epoch, r].reinterpret(bits).numpy()[:starts[-1]]
            report.check(r, [len(got)], [len(expected)], what=f"round {epoch}: number of rows")
            if got.shape == expected.shape:
                report.check(r, (got != expected).any(axis=1), False, what=f"round {epoch}: dispatched rows that differ")
            got = sums[epoch, r].reinterpret(bits).numpy()[:len(chosen[epoch, r])]
            ulps = difference_in_ulps(got, golden_sums(r, epoch, options, given, weights), options.dtype)
            report.check(r, ulps, 0.0, tolerance=ULPS, what=f"round {epoch}: ulps")


def more_options(parser):
    moe.add_options(parser, experts=16, top_k=6, width=4096, dtype="bfloat16", choose="random")


def main(argv=None):
    options = example.parse(argv, __doc__, count=128, most_ranks=16, more=more_options)
    return example.run(run, options)


if __name__ == "__main__":
    sys.exit(main())
