"""Turns, settings and failures, with commands that only have names."""

from harness.cases import OURS, Case, Contender, Floor
from harness.programs import Command, ProgramFailed, Sample
from harness.race import race, runs_of
from harness.results import failed, result_of


class Quiet:
    def step(self, *_):
        pass

    def skip(self):
        pass


class FakeRun:
    """Answers with the times given per program, one after the other; the last one again and again."""

    def __init__(self, times):
        self.times = {name: list(values) for name, values in times.items()}
        self.order = []

    def __call__(self, command):
        name = command.argv[0]
        self.order.append(name)
        values = self.times[name]
        value = values.pop(0) if len(values) > 1 else values[0]
        if isinstance(value, str):
            raise ProgramFailed(value)
        return Sample(value, 10)


def contender(name, setting="default"):
    return Contender(name, setting, Command((f"{name}:{setting}",)))


def case(*contenders, floor=True, size=0):
    parts = Floor({"handoff": Command(("floor",))}, lambda part: 2 * part["handoff"], "2 x hand-off")
    return Case("comm", "signal", contenders, parts if floor else None, ranks=2, bytes=size)


def result(a_case, times, repeats=3):
    run = FakeRun(times)
    return result_of(a_case, race(a_case, repeats, run, Quiet())), run.order


def test_contenders_alternate_and_the_floor_runs_with_them():
    _, order = result(case(contender(OURS), contender("ucx")), {"ours:default": [1], "ucx:default": [2], "floor": [3]})
    assert order == ["ours:default", "ucx:default", "floor"] * 3


def test_a_row_has_medians_ratios_spread_and_settings():
    times = {"ours:default": [100, 300, 200], "ucx:default": [400], "floor": [50]}
    row, _ = result(case(contender(OURS), contender("ucx")), times)
    assert row == {
        "suite": "comm",
        "case": "signal",
        "unit": "ns",
        "ranks": 2,
        "bytes": 0,
        "size_in": "bytes",
        "ours": 200,
        "peers": {"ucx": 400},
        "floor": 100,
        "ratio_best_peer": 0.5,
        "ratio_floor": 2,
        "spread": {"ours": 1, "ucx": 0},
        "repeats": {"ours": 3, "ucx": 3},
        "settings": {"ours": "default", "ucx": "default", "floor": "2 x hand-off"},
        "notes": [],
    }
    assert not failed(row)


def test_large_rows_also_have_bandwidth():
    row, _ = result(case(contender(OURS), size=1 << 20), {"ours:default": [1 << 18], "floor": [1]})
    assert row["gigabytes_per_second"] == {"ours": 4}


def settings_of_mpich():
    return case(contender(OURS), contender("mpich", "slow"), contender("mpich", "fast"))


def test_the_best_setting_of_a_peer_counts():
    times = {"ours:default": [10], "mpich:slow": [21], "mpich:fast": [20], "floor": [1]}
    row, order = result(settings_of_mpich(), times, repeats=5)
    assert (row["peers"], row["settings"]["mpich"]) == ({"mpich": 20}, "fast")
    heats, rounds = ["mpich:slow", "mpich:fast"] * 3, ["ours:default", "mpich:fast", "floor"] * 5
    assert order == heats + rounds
    assert len(order) == runs_of(settings_of_mpich(), 5)


def test_what_a_setting_took_in_the_heats_does_not_count():
    times = {"ours:default": [10], "mpich:slow": [21], "mpich:fast": [5, 5, 5, 20], "floor": [1]}
    row, _ = result(settings_of_mpich(), times)
    assert (row["peers"], row["repeats"]["mpich"]) == ({"mpich": 20}, 3)


def test_there_are_no_more_heats_than_rounds():
    times = {"ours:default": [10], "mpich:slow": [21], "mpich:fast": [20], "floor": [1]}
    _, order = result(settings_of_mpich(), times, repeats=1)
    assert order == ["mpich:slow", "mpich:fast", "ours:default", "mpich:fast", "floor"]


def test_a_setting_that_fails_in_a_heat_is_left_out_with_a_note():
    times = {"ours:default": [10], "mpich:slow": [21], "mpich:fast": [20, "no such device"], "floor": [1]}
    row, _ = result(settings_of_mpich(), times)
    assert (row["peers"], row["settings"]["mpich"]) == ({"mpich": 21}, "slow")
    assert row["notes"] == ["mpich (fast): no such device"]


def test_a_peer_whose_settings_all_fail_has_no_number():
    times = {"ours:default": [10], "mpich:slow": ["broke"], "mpich:fast": ["broke"], "floor": [1]}
    row, _ = result(settings_of_mpich(), times)
    assert row["peers"] == {"mpich": None}
    assert row["notes"] == ["mpich (slow): broke", "mpich (fast): broke"]


def test_settings_of_different_peers_do_not_race_each_other():
    a_case = case(contender(OURS), contender("mpich"), contender("ucx"))
    times = {"ours:default": [10], "mpich:default": [900], "ucx:default": [20], "floor": [1]}
    _, order = result(a_case, times, repeats=4)
    assert order.count("mpich:default") == 4


def test_a_peer_that_fails_is_left_out_with_a_note():
    a_case = case(contender(OURS), contender("mpich"), contender("ucx"))
    times = {"ours:default": [10], "mpich:default": ["no such device"], "ucx:default": [20], "floor": [1]}
    row, order = result(a_case, times)
    assert row["peers"] == {"mpich": None, "ucx": 20}
    assert row["notes"] == ["mpich (default): no such device"]
    assert order.count("mpich:default") == 1
    assert not failed(row)


def test_a_failure_after_good_runs_takes_the_number_away():
    times = {"ours:default": [10], "ucx:default": [20, "wrong byte"], "floor": [1]}
    row, _ = result(case(contender(OURS), contender("ucx")), times)
    assert row["peers"] == {"ucx": None}


def test_a_row_without_ours_is_a_failure_that_still_shows_the_peers():
    times = {"ours:default": ["wrong byte"], "ucx:default": [20], "floor": [1]}
    row, _ = result(case(contender(OURS), contender("ucx")), times)
    assert failed(row)
    assert (row["ours"], row["ratio_best_peer"], row["peers"]) == (None, None, {"ucx": 20})


def test_a_row_without_its_floor_is_a_failure():
    row, _ = result(case(contender(OURS)), {"ours:default": [10], "floor": ["broke"]})
    assert failed(row)


def test_no_peer_means_no_ratio():
    row, _ = result(case(contender(OURS), floor=False), {"ours:default": [10]})
    assert (row["ratio_best_peer"], row["floor"], row["ratio_floor"]) == (None, None, None)
    assert not failed(row)
