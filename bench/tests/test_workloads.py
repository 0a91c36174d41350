"""The suite of workloads: what is compared with what."""

import pytest

from harness.cases import OURS, Plan
from workloads import suite


def cases(programs="/programs", quick=False):
    return {case.name: case for case in suite.cases(Plan(programs, "/baton", processors=2, quick=quick))}


def argument(command, name):
    return command.argv[command.argv.index(name) + 1]


def test_names_of_quick_cases_exist():
    assert {name for name, case in cases(quick=True).items() if case.in_quick} == suite.QUICK


def test_all_do_the_same(script, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: name)
    for peer in ("openmpi", "mpich"):
        script(f"workloads_{peer}", "true")
    case = cases(str(tmp_path))["layer/4/128"]
    assert {contender.name for contender in case.contenders} == {OURS, "openmpi", "mpich"}
    for contender in case.contenders:
        assert argument(contender.command, "--operation") == "layer"
        assert argument(contender.command, "--tokens") == "128"
        assert argument(contender.command, "-n") == "4"


@pytest.fixture
def peers(script, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: name)
    for peer in ("openmpi", "mpich"):
        script(f"workloads_overlap_{peer}", "true")
    return str(tmp_path)


@pytest.mark.parametrize("order", suite.ORDERS)
def test_sums_behind_calculations_and_in_turn_are_the_same_work(peers, order):
    case = cases(peers)[f"{order}/2/64K"]
    assert {contender.name for contender in case.contenders} == {OURS, "openmpi", "mpich"}
    for contender in case.contenders:
        assert argument(contender.command, "--operation") == suite.ORDERS[order][0]
        assert argument(contender.command, "--bytes") == str(64 << 10)
        if contender.name == OURS:
            assert argument(contender.command, "--method") == suite.ORDERS[order][1]
    assert argument(case.floor.parts["calculation"], "--bytes") == str(64 << 10)


def test_peers_may_ask_between_calculations_or_only_wait(peers):
    def settings(name):
        return {contender.setting.split(",")[0] for contender in cases(peers)[name].contenders} - {"processes"}

    assert settings("overlap/2/64K") == {"test", "wait"}
    assert settings("overlap/4/64K") == {"test", "wait", "test-yield", "wait-yield"}
    assert settings("in_turn/2/64K") == {"wait"}


def test_the_floor_is_the_larger_of_calculation_and_sums():
    floor = cases()["overlap/2/64K"].floor
    parts = {name: 0.0 for name in floor.parts}
    assert floor.of(parts | {"calculation": 7.0}) == 7.0
    assert floor.of(parts | {"calculation": 7.0, "copy": 100.0, "sum": 100.0}) == 100.0
