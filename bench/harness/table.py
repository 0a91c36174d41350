"""The table for people."""

from harness.cases import BYTES, OURS

MISSING = "-"


def time_text(ns):
    """Three digits and a unit: 123 ns, 1.23 us, 45.6 ms."""
    if ns is None:
        return MISSING
    for unit, size in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if ns < 999.5 * size:
            break
    else:
        unit, size = "s", 1e9
    return _three_digits(ns / size, unit)


def bytes_text(count):
    """Three digits and a unit: 123 B, 1.23 KiB, 45.6 MiB."""
    if count is None:
        return MISSING
    for unit, size in (("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)):
        if count < 999.5 * size:
            break
    return _three_digits(count / size, unit)


def ratio_text(ratio):
    return MISSING if ratio is None else f"{ratio:.2f}"


def _three_digits(value, unit):
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    return f"{value:.{digits}f} {unit}"


def peers_of(cases):
    """The columns: every peer of some case, in the order in which they appear."""
    return list(dict.fromkeys(c.name for case in cases for c in case.contenders if c.name != OURS))


class Table:
    """Prints rows as they come, in columns whose width is known from the start."""

    CELL = 10

    def __init__(self, cases, write):
        self._write = write
        self._peers = peers_of(cases)
        self._name = max([len("case")] + [len(case.name) for case in cases])

    def head(self):
        cells = [OURS, *self._peers, "floor", "/peer", "/floor", "spread"]
        self._write(self._line("case", cells))
        self._write("-" * len(self._line("case", cells)))

    def row(self, result):
        text = bytes_text if result["unit"] == BYTES else time_text
        cells = [text(result["ours"])]
        cells += [text(result["peers"].get(peer)) for peer in self._peers]
        cells += [text(result["floor"]), ratio_text(result["ratio_best_peer"]), ratio_text(result["ratio_floor"])]
        spread = result["spread"].get(OURS)
        cells.append(MISSING if spread is None else f"{spread:.0%}")
        self._write(self._line(result["case"], cells))
        for note in result["notes"]:
            self._write(f"    {note}")

    def foot(self):
        self._write("/peer: ours / best peer, /floor: ours / floor; below 1 ours is faster.")
        self._write("spread: (slowest - fastest run) / median, of ours.")

    def _line(self, name, cells):
        return name.ljust(self._name) + "".join(cell.rjust(self.CELL) for cell in cells)
