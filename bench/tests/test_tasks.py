"""The suite of tasks: what is compared with what."""

import json

from harness import cli
from harness.cases import BYTES, OURS, Plan
from tasks import suite


def cases(programs="/programs", quick=False):
    return {case.name: case for case in suite.cases(Plan(programs, None, processors=2, quick=quick))}


def argument(command, name):
    return command.argv[command.argv.index(name) + 1]


def test_all_run_the_same_graph(script, tmp_path):
    for peer in ("gcc", "llvm", "tbb", "starpu"):
        script(f"tasks_{peer}", "true")
    case = cases(str(tmp_path))["tasks/fan"]
    assert {contender.name for contender in case.contenders} == {OURS, "gcc", "llvm", "tbb", "starpu"}
    commands = [contender.command for contender in case.contenders] + list(case.floor.parts.values())
    assert {argument(command, "--pattern") for command in commands} == {"fan"}
    assert {argument(command, "--tasks") for command in commands} == {"100000"}


def test_a_peer_that_was_not_built_is_left_out(script, tmp_path):
    script("tasks_llvm", "true")
    assert {contender.name for contender in cases(str(tmp_path))["run_one"].contenders} == {OURS, "llvm"}


def test_openmp_always_has_two_threads(script, tmp_path):
    script("tasks_gcc", "true")
    plan = Plan(str(tmp_path), None, processors=1)
    for case in suite.cases(plan):
        for contender in case.contenders:
            if contender.name == "gcc":
                assert contender.command.environments[0]["OMP_NUM_THREADS"] == "2"


def test_no_chain_of_lightweight_nodes(script, tmp_path):
    script("tasks_tbb", "true")
    settings = {name: [c.setting for c in case.contenders] for name, case in cases(str(tmp_path)).items()}
    assert "lightweight nodes" in settings["tasks/random"]
    assert "lightweight nodes" not in settings["tasks/chain"]


def test_quick_takes_one_setting_of_each_and_fewer_tasks(script, tmp_path):
    for peer in ("gcc", "starpu"):
        script(f"tasks_{peer}", "true")
    quick = cases(str(tmp_path), quick=True)["tasks/random"]
    assert [contender.name for contender in quick.contenders] == [OURS, "gcc", "starpu"]
    assert argument(quick.contenders[0].command, "--tasks") == "20000"


def test_what_must_not_grow_is_held_against_the_same_program_with_less():
    all_cases = cases()
    for name, what, many, few in (
        ("views", "--live", "12000", "12"),
        ("memory", "--tasks", "10000000", "100000"),
        ("deferred", "--live", "10000", "0"),
    ):
        ours, baseline = all_cases[name].contenders
        assert (ours.name, baseline.name) == (OURS, suite.BASELINE)
        assert (argument(ours.command, what), argument(baseline.command, what)) == (many, few)
    assert all_cases["memory"].unit == BYTES


def test_runs_from_end_to_end(script, tmp_path, capsys):
    for name, ns in (("ours", 300), ("floor", 1), ("llvm", 600)):
        script(f"bin/bench/tasks_{name}", f"""echo '{{"median_ns": {ns}, "count": 10}}'""")
    script("bin/bench/comm_floor", """echo '{"median_ns": 100, "count": 10}'""")
    arguments = ["tasks", "--no-build", "--build-dir", str(tmp_path), "--repeats", "1"]
    assert cli.main([*arguments, "--case", "tasks/random", "--case", "run_one"]) == 0
    with open(f"{tmp_path}/bench/tasks.json", encoding="utf-8") as file:
        written = json.load(file)
    assert set(written["header"]["versions"]) == {"gcc", "llvm", "tbb", "starpu"}
    graph, one = written["results"]
    assert (graph["ratio_best_peer"], graph["ratio_floor"]) == (0.5, 300)
    assert one["ratio_floor"] == 1.5
    assert "tasks/random" in capsys.readouterr().out
