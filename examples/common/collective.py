"""Rounds of a collective kernel on the chips of a node.

    BATON_KERNEL(NAME, In<float> x, Out<float> y, InOut<float> window, InOut<int32_t> signals,
                 const CommContext* context, <scalars>)
"""

from __future__ import annotations

from typing import Any, Callable, Sequence

import numpy as np

from baton import NO_DEP, CommBufferSpec, signals_needed

import example


def run_rounds(options, report, what: str, kernel, *, data: Callable[[int, int], Any], results: int, floats: int,
               scalars: Callable[[int], Sequence[int]] = lambda round_number: ()
               ) -> dict[tuple[int, int], Any]:
    """Runs the kernel on all chips, once for each round, in the same windows.

    data      data(rank, round) is what a rank has
    results   how many elements each rank gets
    floats    elements of each rank's part of the window; kernels check that it is enough
    scalars   scalars(round) are the kernel's own

    Returns {(round, rank): array}. Each round has arrays of its own, and the window is marked NO_DEP: nothing but the
    kernels keeps the rounds apart.
    """
    rounds, ranks = range(1, options.repeat + 1), list(range(options.ranks))
    with example.node(options) as node:
        xs = {(k, r): node.tensor(data(r, k)) for k in rounds for r in ranks}
        ys = {(k, r): node.tensor(np.full(results, np.nan, "f4")) for k in rounds for r in ranks}

        def orchestration(orch) -> None:
            specs = [CommBufferSpec("window", "float32", floats), CommBufferSpec("signals", "int32", signals_needed(options.ranks))]
            with orch.allocate_domain("all", ranks, buffers=specs) as domain:
                for k in rounds:
                    orch.submit_next_level_group(kernel, [
                        [xs[k, r], ys[k, r], NO_DEP(domain[r].buffers["window"]), NO_DEP(domain[r].buffers["signals"]),
                         domain[r].device_ctx, *scalars(k)] for r in ranks], workers=ranks)

        with report.timed(what):
            node.run(orchestration)
    return ys
