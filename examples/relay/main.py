"""A relay: every rank hands a baton to the next, until it is back where it started."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
import example
import ranks


def live(me, options):
    """What one rank does; gives the leg that it was handed in each round."""
    baton = me.window("baton", 1, "int32")  # one number on every rank
    handed = me.signals("handed")           # counts how often the baton was handed to this rank
    after = (me.rank + 1) % me.size
    legs = []
    for epoch in range(1, options.repeat + 1):
        if me.rank == 0:
            baton.put_signal(after, np.array([1], "int32"), handed)  # the number first, then the signal
        handed.wait(value=epoch)
        legs.append(int(baton[0]))
        if me.rank != 0:
            baton.put_signal(after, np.array([legs[-1] + 1], "int32"), handed)
        me.barrier()  # everybody has read its number: the next round may begin
    return legs


def run(options, report):
    with report.timed("relay", on="rank"):
        outcomes = ranks.run(options, live)
    for rank, legs in enumerate(outcomes):
        report.check(rank, legs, rank or options.ranks, what="the leg of a round")


def main(argv=None):
    options = example.parse(argv, "relay: ranks hand a number round, without chips", count=None)
    return example.run(run, options)


if __name__ == "__main__":
    sys.exit(main())
