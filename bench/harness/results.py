"""From the runs of a case to one row: who took how long, and the ratios."""

from harness.cases import BYTES, OURS
from harness.race import FLOOR


def result_of(case, entries):
    """The object that the JSON file holds for a case. Who has no number is None there, with a note that says why."""
    best = {}
    notes = []
    for entry in entries:
        name, setting = entry.contender.name, entry.contender.setting
        if entry.failure is not None:
            notes.append(f"{name} ({setting}): {entry.failure}")
        elif name != FLOOR and entry.samples:
            best[name] = entry
    floor = _floor_of(case, entries)
    ours = best.pop(OURS, None)
    peers = {contender.name: None for contender in case.contenders if contender.name != OURS}
    peers |= {name: entry.median for name, entry in best.items()}
    measured = [value for value in peers.values() if value is not None]
    winners = ({OURS: ours} if ours else {}) | best
    result = {
        "suite": case.suite,
        "case": case.name,
        "unit": case.unit,
        "ranks": case.ranks,
        "bytes": case.bytes,
        "size_in": case.size_in,
        "ours": ours.median if ours else None,
        "peers": peers,
        "floor": floor,
        "ratio_best_peer": _ratio(ours, min(measured, default=None)),
        "ratio_floor": _ratio(ours, floor),
        "spread": {name: round(entry.spread, 4) for name, entry in winners.items()},
        "repeats": {name: len(entry.samples) for name, entry in winners.items()},
        "settings": {name: entry.contender.setting for name, entry in winners.items()},
        "notes": notes,
    }
    if case.floor is not None:
        result["settings"][FLOOR] = case.floor.formula
    if case.bytes >= 4096 and case.size_in == BYTES:
        # Bytes per nanosecond are gigabytes per second.
        result["gigabytes_per_second"] = {name: case.bytes / entry.median for name, entry in winners.items()}
    return result


def failed(result):
    """Whether this row is not a result: ours, or the floor where the case has one, gave no number."""
    return result["ours"] is None or (FLOOR in result["settings"] and result["floor"] is None)


def _floor_of(case, entries):
    parts = {entry.contender.setting: entry for entry in entries if entry.contender.name == FLOOR}
    if not parts or any(entry.failure is not None for entry in parts.values()):
        return None
    return case.floor.of({name: entry.median for name, entry in parts.items()})


def _ratio(ours, other):
    return None if ours is None or other is None else ours.median / other
