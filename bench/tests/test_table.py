"""What people read."""

import pytest

from harness.cases import BYTES, OURS, Case, Contender
from harness.programs import Command
from harness.table import Table, bytes_text, peers_of, time_text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (None, "-"),
        (5.25, "5.25 ns"),
        (123.4, "123 ns"),
        (999.4, "999 ns"),
        (999.6, "1.00 us"),
        (45_600, "45.6 us"),
        (2.5e6, "2.50 ms"),
        (3e9, "3.00 s"),
    ],
)
def test_times_have_three_digits_and_a_unit(ns, text):
    assert time_text(ns) == text


@pytest.mark.parametrize(("count", "text"), [(None, "-"), (8, "8.00 B"), (4096, "4.00 KiB"), (11 << 20, "11.0 MiB")])
def test_memory_has_three_digits_and_a_unit(count, text):
    assert bytes_text(count) == text


def test_memory_is_shown_as_bytes():
    lines = []
    table = Table([Case("s", "memory", (Contender(OURS, "", Command(("x",))),), unit=BYTES)], lines.append)
    numbers = {"ours": 2048, "peers": {}, "floor": None, "ratio_best_peer": None, "ratio_floor": None}
    table.row({"case": "memory", "unit": BYTES, "spread": {}, "notes": []} | numbers)
    assert lines[0].split()[:3] == ["memory", "2.00", "KiB"]


def test_columns_are_the_peers_of_all_cases():
    command = Command(("x",))

    def case(*names):
        return Case("s", "a", tuple(Contender(name, "", command) for name in names))

    assert peers_of([case(OURS, "ucx"), case(OURS, "mpich", "mpich")]) == ["ucx", "mpich"]


def test_a_row_shows_missing_peers_and_notes():
    lines = []
    command = Command(("x",))
    table = Table([Case("s", "signal", (Contender(OURS, "", command), Contender("ucx", "", command)))], lines.append)
    table.head()
    numbers = {"ours": 120, "peers": {"ucx": None}, "floor": 100, "ratio_best_peer": None, "ratio_floor": 1.2}
    table.row({"case": "signal", "unit": "ns", "spread": {"ours": 0.03}, "notes": ["ucx (default): missing"]} | numbers)
    assert lines[0].split() == ["case", "ours", "ucx", "floor", "/peer", "/floor", "spread"]
    assert lines[2].split() == ["signal", "120", "ns", "-", "100", "ns", "-", "1.20", "3%"]
    assert lines[3].strip() == "ucx (default): missing"
