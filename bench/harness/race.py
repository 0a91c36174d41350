"""Running the contenders of a case in turns."""

import statistics
from dataclasses import dataclass, field

from harness.cases import OURS, Case, Contender
from harness.programs import ProgramFailed

FLOOR = "floor"
# Rounds in which the settings of a peer race each other, before those that count. No more than the latter.
HEATS = 3


@dataclass
class Entry:
    """A contender, or a part of the floor, and what it reported so far."""

    contender: Contender
    heats: list[float] = field(default_factory=list)
    samples: list[float] = field(default_factory=list)
    failure: str | None = None

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


def runs_of(case, repeats):
    """How many programs race() starts if none fails."""
    settings = sum(len(group) for group in _settings(entries_of(case)).values() if len(group) > 1)
    return min(HEATS, repeats) * settings + repeats * len(_finalists(entries_of(case)))


def race(case, repeats, run, progress):
    """Runs A B C A B C ... for `repeats` rounds and returns the entries. `run(command)` returns a Sample.

    Of a peer with several settings the best one takes part. Heats decide which, and do not count: of eight settings
    that are equally good the luckiest would count otherwise."""
    entries = entries_of(case)
    settings = [entry for group in _settings(entries).values() if len(group) > 1 for entry in group]
    heats = min(HEATS, repeats)

    def run_one(entry, times, what):
        if entry.failure is not None:
            return progress.skip()
        progress.step(case, what, entry.contender)
        try:
            times.append(run(entry.contender.command).value)
        except ProgramFailed as failure:
            entry.failure = str(failure)

    for done in range(heats):
        for entry in settings:
            run_one(entry, entry.heats, f"heat {done + 1}/{heats}")
    finalists = _finalists(entries)
    for done in range(repeats):
        for entry in finalists:
            run_one(entry, entry.samples, f"round {done + 1}/{repeats}")
    return entries


def _settings(entries):
    """The entries of each contender, by its name; the parts of a floor are no settings."""
    groups = {}
    for entry in entries:
        if entry.contender.name != FLOOR:
            groups.setdefault(entry.contender.name, []).append(entry)
    return groups


def _finalists(entries):
    """Those whose runs count, in their order: of each contender the setting with the best median in the heats."""
    chosen = []
    for group in _settings(entries).values():
        candidates = [entry for entry in group if entry.failure is None] or group
        chosen.append(min(candidates, key=lambda entry: statistics.median(entry.heats) if entry.heats else 0))
    return [entry for entry in entries if entry.contender.name == FLOOR or entry in chosen]
