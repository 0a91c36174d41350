"""moe_dispatch: tokens go to the chips of their experts by asynchronous puts; a notification wait says when."""

import pathlib
import sys

import numpy as np

import baton

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import example
import moe
import ranks


def tokens_of(rank, epoch, options):
    """Row i of a rank begins with a number of its own."""
    rows = np.arange(moe.token_count(options, rank, epoch))[:, None]
    values = (1000 * rank + rows + epoch - 1) % 3000 + np.arange(options.width) / 64
    return moe.to_bits(values, options.dtype)


def kernels_of(options):
    return example.kernels(__file__, options, defines={"ELEMENT": moe.ELEMENTS[options.dtype]})


def live(me, options):
    """What one rank does; gives, for each round, how many rows each of its experts got from each rank, and the rows."""
    kernels, problem = kernels_of(options), moe.problem_of(options)
    sizes = moe.Sizes(kernels, problem)
    with baton.Chip(options.platform, domain=me, clusters=1, threads=1) as chip:
        window = chip.window(me, "moe", sizes.window_bytes, "uint8")
        place, context = window.tensor().address, window.context

        def counter(name):
            first = sizes.counter_bytes[name]
            return window.tensor()[first:first + 4].reinterpret("int32")

        numbers = chip.tensor(problem.array())
        plan = chip.alloc(sizes.plan_ints, "int32")
        outbox = chip.alloc([sizes.sent_rows, options.width], options.dtype)
        epochs = range(1, options.repeat + 1)
        rows = [chip.alloc([sizes.received_rows, options.width], options.dtype) for _ in epochs]
        blocks = [chip.alloc(sizes.block_ints, "int32") for _ in epochs]
        tokens = [chip.alloc([options.count, options.width], options.dtype) for _ in epochs]
        for epoch, memory in zip(epochs, tokens):
            chip.copy_in(memory.reinterpret("uint16" if options.dtype == "bfloat16" else "float32"),
                         moe.padded(tokens_of(me.rank, epoch, options), options.count))
        chosen = [moe.choices(options, me.rank, epoch) for epoch in epochs]
        experts = [chip.tensor(moe.padded(choices, options.count)) for choices in chosen]

        def orchestration(graph):
            """All rounds in one graph: signals keep them apart, on this rank and among ranks."""
            for k, epoch in enumerate(epochs):
                graph.submit(kernels["prepare"], numbers, tokens[k], experts[k], plan, outbox, place, context,
                             len(chosen[k]))
                room = graph.submit_notification_wait(counter("rows_taken"),
                                                      sizes.per_round["rows_taken"] * (epoch - 1))
                graph.submit(kernels["send_rows"], numbers, plan, outbox, place, context, epoch, tokens=[room])
                arrived = graph.submit_notification_wait(counter("rows_arrived"),
                                                         sizes.per_round["rows_arrived"] * epoch)
                graph.submit(kernels["recv_assemble"], numbers, plan, tokens[k], rows[k], blocks[k], place, context,
                             len(chosen[k]), tokens=[arrived])

        chip.run(orchestration)
        me.barrier()  # nobody leaves while others may still tell it that rows were taken
        results = []
        for k, _ in enumerate(epochs):
            starts = chip.copy_out(blocks[k])[:problem.experts + 1]
            bits = chip.copy_out(rows[k].reinterpret("uint16" if options.dtype == "bfloat16" else "float32"))
            results.append((np.diff(starts).reshape(options.experts, options.ranks), bits[:starts[-1]]))
        return results


def golden_of(owner, epoch, options):
    """Counts by expert and source, and the rows in that order."""
    experts = options.ranks * options.experts
    sent = [moe.sent_by_expert(moe.choices(options, rank, epoch), experts, options.capacity)
            for rank in range(options.ranks)]
    tokens = [tokens_of(rank, epoch, options) for rank in range(options.ranks)]
    mine = range(owner * options.experts, (owner + 1) * options.experts)
    counts = np.array([[len(sent[rank][expert]) for rank in range(options.ranks)] for expert in mine])
    rows = [tokens[rank][token] for expert in mine for rank in range(options.ranks) for token, _ in sent[rank][expert]]
    return counts, np.array(rows, tokens[0].dtype).reshape(-1, options.width)


def run(options, report):
    problem = moe.problem_of(options)
    kernels_of(options)  # compiled once, before the ranks need them
    with report.timed(f"moe_dispatch of {options.count} tokens x {options.width} to {problem.experts} experts"):
        outcomes = ranks.run(options, live)
    for rank, results in enumerate(outcomes):
        for epoch, (counts, rows) in enumerate(results, start=1):
            golden_counts, golden_rows = golden_of(rank, epoch, options)
            report.check(rank, counts, golden_counts, what=f"round {epoch}: counts")
            if rows.shape != golden_rows.shape:
                raise example.Refused(f"round {epoch}: rank {rank} got {len(rows)} rows, expected {len(golden_rows)}")
            report.check(rank, moe.from_bits(rows), moe.from_bits(golden_rows), what=f"round {epoch}: rows")


def more_options(parser):
    moe.add_options(parser, experts=2, top_k=1, width=128, dtype="float32", choose="modulo")


def main(argv=None):
    options = example.parse(argv, __doc__, count=16, devices="0-7", most_ranks=16, more=more_options)
    return example.run(run, options)


if __name__ == "__main__":
    sys.exit(main())
