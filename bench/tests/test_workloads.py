"""The suite of workloads: what is compared with what."""

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
