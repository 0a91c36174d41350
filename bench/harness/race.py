"""Running the contenders of a case in turns."""

import statistics
from dataclasses import dataclass, field

from harness.cases import OURS, Case, Contender
from harness.programs import ProgramFailed

FLOOR = "floor"
# Settings of one peer race each other for this many rounds; then those that are clearly slower stop running.
ROUNDS_BEFORE_DROPPING = 2
CLEARLY_SLOWER = 1.2


@dataclass
class Entry:
    """A contender, or a part of the floor, and what it reported so far."""

    contender: Contender
    samples: list[float] = field(default_factory=list)
    failure: str | None = None
    dropped: bool = False

    @property
    def active(self):
        return self.failure is None and not self.dropped

    @property
    def median(self):
        return statistics.median(self.samples)

    @property
    def spread(self):
        """The distance between the slowest and the fastest run, in medians."""
        return (max(self.samples) - min(self.samples)) / self.median


def entries_of(case: Case):
    """One entry per contender in the order of the case, then the parts of the floor."""
    entries = [Entry(contender) for contender in case.contenders]
    if case.floor is not None:
        entries += [Entry(Contender(FLOOR, name, command)) for name, command in case.floor.parts.items()]
    return entries


def race(case, repeats, run, progress):
    """Runs A B C A B C ... for `repeats` rounds and returns the entries. `run(command)` returns a Sample."""
    entries = entries_of(case)
    for done in range(repeats):
        for entry in entries:
            if not entry.active:
                progress.skip()
                continue
            progress.step(case, done, repeats, entry.contender)
            try:
                entry.samples.append(run(entry.contender.command).value)
            except ProgramFailed as failure:
                entry.failure = str(failure)
        if done + 1 >= ROUNDS_BEFORE_DROPPING:
            _drop_slow_settings(entries)
    return entries


def _drop_slow_settings(entries):
    best = {}
    for entry in entries:
        name = entry.contender.name
        if entry.failure is None and name not in (OURS, FLOOR):
            best[name] = min(best.get(name, entry.median), entry.median)
    for entry in entries:
        if entry.active and entry.contender.name in best:
            entry.dropped = min(entry.samples) > CLEARLY_SLOWER * best[entry.contender.name]
