"""What the examples of many chips share: options, kernels, a node, and the comparison with a golden.

An example is a folder with NAME.cpp (kernels) and main.py, which looks like this:

    import pathlib, sys
    import numpy as np
    import baton
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "common"))
    import example

    def run(options, report):
        kernel = example.kernels(__file__, options)["NAME"] # NAME.cpp beside main.py, with examples/common to include
        with example.node(options) as node:
            xs = [node.tensor(np.zeros(options.count, "f4")) for _ in range(options.ranks)]
            with report.timed("NAME"):                      # what ran and how long
                node.run(lambda orch: ...)
        for rank in range(options.ranks):
            report.check(rank, xs[rank], golden)            # largest difference; tolerance=0 means equal

    def main(argv=None):
        options = example.parse(argv, "NAME: what it does", count=256)
        return example.run(run, options)                    # 0, or 1 on a mismatch, or 2 with a message

    if __name__ == "__main__":
        sys.exit(main())

Options that parse() gives: platform, devices (a list), ranks (its length), inproc, count, repeat, and those that
`more(parser)` adds. Bad options are example.Refused, also from code of the example: raise example.Refused("why").

Rounds: --repeat R runs the example R times in the same windows. Nothing is reset in between: signals count on, and a
kernel gets the number of its round, from 1 on, as a scalar (the epoch). Round k works on the data of round 1 plus
k - 1, so that what an earlier round left in a window is not mistaken for this one's.
"""

from __future__ import annotations

import argparse
import contextlib
import pathlib
import sys
import time
from typing import Any, Callable, Iterator

import numpy as np

import baton
from baton.runner.pipe import quietly

HERE = pathlib.Path(__file__).resolve().parent


class Refused(Exception):
    """The options make no sense together. The text says which and why."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> Any:
        raise Refused(message)


def parse(argv: list[str] | None, description: str, *, count: int | None = 256, devices: str = "0-3",
          least_ranks: int = 2, most_ranks: int = 64, repeat: int = 2,
          more: Callable[[argparse.ArgumentParser], None] | None = None) -> argparse.Namespace:
    """The options of an example. count: elements by default; None: the example has no such option.

    What is wrong with them is told by run(): it must be called even then."""
    parser = _Parser(description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    parser.add_argument("-p", "--platform", default="a2a3sim", help="the generation of the chips: a2a3sim or a5sim; or a2a3, a5, cuda, where chips are")
    parser.add_argument("-d", "--device", default=devices, help="devices, one for each rank: 0-3, or 0,2-4")
    parser.add_argument("--inproc", action="store_true", help="all chips in this process, instead of one process each")
    parser.add_argument("--repeat", type=int, default=repeat, metavar="R", help="rounds in the same windows")
    if count is not None:
        parser.add_argument("-n", "--count", type=int, default=count, metavar="N", help="elements")
    if more is not None:
        more(parser)
    options = argparse.Namespace(refused=None)
    try:
        parser.parse_args(argv, options)
        try:
            options.devices = baton.parse_device_list(options.device)
        except baton.Error as error:
            raise Refused(f"{error.message}; try -d 0-3, or -d 0,2-4") from None
        options.ranks = len(options.devices)
        if options.ranks < least_ranks:
            raise Refused(f"{options.ranks} device ({options.device}); this example needs {least_ranks} or more: "
                          f"try -d 0-{least_ranks - 1}")
        if options.ranks > most_ranks:
            raise Refused(f"{options.ranks} devices ({options.device}); this example takes {most_ranks} at most")
        if count is not None and options.count < 1:
            raise Refused(f"--count {options.count}: there must be at least 1 element")
        if options.repeat < 1:
            raise Refused(f"--repeat {options.repeat}: there must be at least 1 round")
    except Refused as refused:
        options.refused = refused
    return options


def run(body: Callable[[argparse.Namespace, "Report"], None], options: argparse.Namespace) -> int:
    """Calls body(options, report), prints the report and returns what the program exits with."""
    name = pathlib.Path(body.__code__.co_filename).resolve().parent.name
    return quietly(lambda: _run(body, options, name))


def _run(body: Callable[[argparse.Namespace, "Report"], None], options: argparse.Namespace, name: str) -> int:
    report = Report(name, options)
    try:
        if options.refused is not None:
            raise options.refused
        body(options, report)
    except Refused as refused:
        print(f"{name}: {refused}", file=sys.stderr)
        return 2
    except (baton.Error, MemoryError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 2
    return report.print()


def kernels(main_file: str, options: argparse.Namespace, source: str | None = None, **more: Any):
    """The kernels of NAME.cpp, or of `source`, beside main.py, for the platform: by name. more is for baton.kernels()."""
    folder = pathlib.Path(main_file).resolve().parent
    platform = "" if _is_simulated(options) else options.platform
    return baton.kernels(folder / (source or f"{folder.name}.cpp"), include_dirs=[HERE], platform=platform, **more)


def _is_simulated(options: argparse.Namespace) -> bool:
    return options.platform.endswith("sim")


def node(options: argparse.Namespace, **more: Any) -> baton.Worker:
    """A node with a chip for each device. A cluster of simulated cores is enough for these kernels, and starts quickly."""
    few = {"clusters": 1, "chip_threads": 1} if _is_simulated(options) else {}
    return baton.Worker(platform=options.platform, device_ids=options.devices, inproc=options.inproc, **few, **more)


class Report:
    """What ran, how long it took, and how far each rank is from its golden."""

    def __init__(self, name: str, options: argparse.Namespace):
        self._name, self._options = name, options
        self._ran: list[str] = []
        self._ranks: dict[int, tuple[float, int, str]] = {}

    @contextlib.contextmanager
    def timed(self, what: str, on: str = "chip") -> Iterator[None]:
        """The block is what ran; all rounds of it, on chips or on ranks without any."""
        start = time.perf_counter()
        yield
        milliseconds = 1e3 * (time.perf_counter() - start)
        where = "one process" if self._options.inproc or self._options.platform == "cuda" else "a process each"
        rounds = f"{self._options.repeat} rounds" if self._options.repeat > 1 else "1 round"
        count = f"{self._options.ranks} {on}{'s' if self._options.ranks > 1 else ''}"
        platform = f"{self._options.platform}, " if on == "chip" else ""
        self._ran.append(f"{what} on {count} ({platform}{where}), {rounds} in {milliseconds:.1f} ms")

    def check(self, rank: int, actual: Any, golden: Any, tolerance: float = 0.0, what: str = "") -> None:
        """Compares a result of `rank`; call it as often as there are results. tolerance is relative to the golden,
        but at least to 1."""
        got = np.asarray(actual, dtype=np.float64).ravel()
        expected = np.broadcast_to(np.asarray(golden, dtype=np.float64), np.shape(actual)).ravel()
        with np.errstate(invalid="ignore"):
            difference = np.abs(got - expected)
        difference[np.isnan(got) != np.isnan(expected)] = np.inf
        wrong = ~(difference <= tolerance * np.maximum(1.0, np.abs(expected)))
        largest, count, first = self._ranks.get(rank, (0.0, 0, ""))
        if wrong.any() and not first:
            at = int(np.argmax(wrong))
            first = f"{what + ' ' if what else ''}[{at}] is {got[at]:g}, expected {expected[at]:g}"
        self._ranks[rank] = (max(largest, float(np.max(difference, initial=0.0))), count + int(wrong.sum()), first)

    def print(self) -> int:
        """Prints everything. 1 if something differs, or nothing was compared; else 0."""
        for line in self._ran:
            print(line)
        for rank, (largest, count, first) in sorted(self._ranks.items()):
            print(f"rank {rank}: largest difference {largest:g}" + (f", {count} wrong: {first}" if count else ""))
        if len(self._ranks) == 0:
            print(f"{self._name}: no rank was compared with its golden", file=sys.stderr)
        return 1 if not self._ranks or any(count for _, count, _ in self._ranks.values()) else 0
