"""The suite of collectives: what is compared with what."""

from collectives import suite
from harness.cases import OURS, Plan


def cases(programs="/programs", quick=False):
    return {case.name: case for case in suite.cases(Plan(programs, "/baton", processors=2, quick=quick))}


def argument(command, name):
    return command.argv[command.argv.index(name) + 1]


def test_every_operation_size_and_number_of_ranks_is_there():
    names = set(cases())
    for all_ranks, sizes in ((2, 4, 8, 16), ("8", "4K", "1M", "64M")), ((3, 5, 6, 12), ("1000", "24K", "300K", "5M")):
        for operation in suite.OPERATIONS:
            assert {f"windows/{operation}/{ranks}/{size}" for ranks in all_ranks for size in sizes} <= names
    assert {"inproc/barrier/16", "windows/barrier/12"} <= names
    assert len(names) == len(suite.cases(Plan("/programs", "/baton", processors=2)))


def test_names_of_quick_cases_exist():
    found = cases(quick=True)
    assert suite.QUICK <= set(found)
    assert {name for name, case in found.items() if case.in_quick} == suite.QUICK


def test_all_do_the_same(script, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: name)
    for peer in ("openmpi", "mpich"):
        script(f"collectives_{peer}", "true")
    case = cases(str(tmp_path))["private/allgather/4/64K"]
    assert {contender.name for contender in case.contenders} == {OURS, "openmpi", "mpich"}
    for contender in case.contenders:
        assert argument(contender.command, "--operation") == "allgather"
        assert argument(contender.command, "--bytes") == str(64 << 10)
        assert argument(contender.command, "-n") == "4"
    assert argument(case.contenders[0].command, "--method") == "private"


def test_the_floor_of_an_allreduce_moves_and_adds_with_both_processors():
    floor = cases()["windows/allreduce/4/1M"].floor
    assert floor.of({"handoff": 1, "yield": 10, "copy": 100, "sum": 1000}) == 2 * (1 + 10) + 3 * (100 + 1000) / 2


def test_a_switch_is_one_among_all_ranks_of_a_processor():
    floors = {ranks: cases()[f"windows/allreduce/{ranks}/8"].floor for ranks in (2, 4, 16)}
    assert [argument(floor.parts["yield"], "--ranks") for floor in floors.values()] == ["2", "2", "8"]


def test_small_ones_cost_a_barrier():
    floor = cases()["inproc/allreduce/16/8"].floor
    assert set(floor.parts) == {"handoff", "fiber"}
    assert floor.of({"handoff": 1, "fiber": 10}) == 1 + 7 * 10
