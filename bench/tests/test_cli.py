"""bench/run from end to end, on programs that pretend."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from comm import suite
from harness import cli
from harness.cases import Plan

MEASURES = """echo "$0" >> {log}; echo '{{"median_ns": {ns}, "count": 10}}'"""


@pytest.fixture
def programs(script, tmp_path, monkeypatch):
    """Fake programs and launchers; `add(name, ns)` adds one."""
    log = tmp_path / "order"
    monkeypatch.setenv("PATH", f"{tmp_path}/path:/usr/bin:/bin")
    for launcher in ("mpirun.openmpi", "mpirun.mpich"):
        script(f"path/{launcher}", 'while [ "${1#*/comm_}" = "$1" ]; do shift; done; exec "$@"')

    class Programs:
        build_dir = str(tmp_path)

        def add(self, name, ns):
            script(f"bin/bench/comm_{name}", MEASURES.format(log=log, ns=ns))

        def order(self):
            return [line.rsplit("/comm_", 1)[1] for line in log.read_text().splitlines()]

    return Programs()


def run(programs, *arguments):
    return cli.main(["comm", "--no-build", "--build-dir", programs.build_dir, *arguments])


def test_writes_a_table_and_json(programs, capsys):
    for name, ns in (("ours", 120), ("floor", 100), ("openmpi", 240), ("mpich", 480), ("ucx", 160)):
        programs.add(name, ns)
    assert run(programs, "--quick", "--case", "put/8") == 0
    with open(f"{programs.build_dir}/bench/comm.json", encoding="utf-8") as file:
        written = json.load(file)
    assert {"date", "commit", "processors", "arch", "kernel", "versions", "build"} <= written["header"].keys()
    (row,) = written["results"]
    assert (row["case"], row["ours"], row["floor"], row["ratio_best_peer"]) == ("put/8", 120, 100, 0.75)
    assert row["peers"] == {"openmpi": 240, "mpich": 480, "ucx": 160}
    assert "put/8" in capsys.readouterr().out


def test_programs_alternate(programs):
    for name in ("ours", "floor", "openmpi", "ucx"):
        programs.add(name, 100)
    assert run(programs, "--quick", "--case", "start/2", "--repeats", "2") == 0
    one_round = ["openmpi", "floor"]
    assert [name for name in programs.order() if name != "ours"] == one_round * 2


def test_a_peer_that_was_not_built_is_left_out(programs, tmp_path):
    programs.add("ours", 120)
    programs.add("floor", 100)
    target = tmp_path / "elsewhere" / "result.json"
    assert run(programs, "--quick", "--case", "signal", "--json", str(target)) == 0
    (row,) = json.loads(target.read_text())["results"]
    assert (row["peers"], row["ratio_best_peer"], row["notes"]) == ({}, None, [])


def test_a_benchmark_without_our_number_fails(programs, capsys):
    programs.add("floor", 100)
    assert run(programs, "--quick", "--case", "signal") == 1
    assert "No such file" in capsys.readouterr().out


def test_an_unknown_case_is_an_error(programs, capsys):
    assert run(programs, "--case", "nothing*") == 2
    assert "--list" in capsys.readouterr().err


def test_a_suite_may_have_the_name_of_a_package_that_is_installed(tmp_path):
    (tmp_path / "comm").mkdir()
    (tmp_path / "comm" / "__init__.py").write_text("raise SystemExit('this is not the suite')")
    run_file = pathlib.Path(cli.__file__).resolve().parents[1] / "run"
    done = subprocess.run([sys.executable, str(run_file), "comm", "--list"], capture_output=True, text=True, timeout=60,
                          env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert "put/8" in done.stdout.split(), done.stderr


def test_a_suite_names_what_is_built_for_it():
    assert cli.targets_of([cli.loaded("comm"), cli.loaded("node")]) == ["baton_bench"]
    assert cli.targets_of([cli.loaded("torch")]) == ["baton_python"]


def test_a_suite_without_what_it_measures_says_so(programs, monkeypatch, capsys):
    monkeypatch.setenv("BENCH_PYTHON", "/nowhere/python")
    assert cli.main(["torch", "--no-build", "--build-dir", programs.build_dir]) == 2
    assert "what torch would measure is not installed" in capsys.readouterr().err


def test_list_runs_nothing(programs, capsys):
    assert run(programs, "--list", "--case", "put/*") == 0
    assert capsys.readouterr().out.split()[0] == "put/8"


def test_quick_tries_one_setting_of_each_peer(programs):
    for name in ("ours", "floor", "openmpi", "mpich", "ucx"):
        programs.add(name, 100)

    def settings(quick):
        plan = Plan(f"{programs.build_dir}/bin/bench", None, processors=2, quick=quick)
        case = next(case for case in suite.cases(plan) if case.name == "pairs/4")
        return [contender.name for contender in case.contenders]

    assert settings(quick=True) == ["ours", "openmpi", "mpich", "ucx"]
    assert len(settings(quick=False)) > 2 * len(settings(quick=True))


def test_ranks_are_started_by_the_launcher_if_there_is_one_and_one_by_one_otherwise():
    def ours(launcher):
        case = next(case for case in suite.cases(Plan("/programs", launcher, processors=2)) if case.name == "barrier/4")
        return case.contenders[0].command

    alone = ours(None)
    assert [environment["BATON_RANK"] for environment in alone.environments] == ["0", "1", "2", "3"]
    assert len({environment["BATON_JOB"] for environment in alone.environments}) == 1
    launched = ours("/bin/baton")
    assert launched.argv[:5] == ("/bin/baton", "run", "--no-prefix", "-n", "4")
    assert len(launched.environments) == 1


def test_without_a_suite_all_that_have_such_a_case_are_measured(programs, script, tmp_path, capsys):
    for name in ("ours", "floor"):
        programs.add(name, 100)
        script(f"bin/bench/node_{name}", """echo '{"median_ns": 50, "count": 10}'""")
    script("bin/baton", "shift 4; exec \"$@\"")
    target, page = tmp_path / "all.json", tmp_path / "all.html"
    arguments = ["--no-build", "--build-dir", programs.build_dir, "--quick", "--case", "signal", "--case", "round_trip"]
    assert cli.main([*arguments, "--json", str(target), "--html", str(page)]) == 0
    measured = [(document["header"]["suite"], [row["case"] for row in document["results"]])
                for document in json.loads(target.read_text())]
    assert measured == [("comm", ["signal"]), ("node", ["round_trip"])]
    assert "suite 2 of 2: node" in capsys.readouterr().err
    drawn = page.read_text()
    assert "<h1>Baton: comm</h1>" in drawn and "<h1>Baton: node</h1>" in drawn
    # What was written is read again, all of it or one suite.
    assert cli.main(["--from", str(target), "--html", str(page)]) == 0
    assert page.read_text() == drawn
    assert cli.main(["node", "--from", str(target), "--html", str(page)]) == 0
    assert "<h1>Baton: comm</h1>" not in page.read_text()
    assert cli.main(["tasks", "--from", str(target), "--html", str(page)]) == 2
    assert "nothing about the suite tasks" in capsys.readouterr().err


def test_help_names_the_program_that_was_called_and_what_the_suites_are_about(capsys):
    with pytest.raises(SystemExit):
        cli.main(["--help"], program="baton bench")
    said = capsys.readouterr().out
    assert said.startswith("usage: baton bench ") and "bench/run" not in said
    for name in cli.suites():
        assert cli.about(name) in said


def test_beside_runs_busy_programs_while_it_measures(programs, script, tmp_path):
    """One on each processor, and none is left."""
    seen = tmp_path / "seen"
    script("bin/bench/comm_ours", f"""ps -eo args | grep -c '^[^ ]*python.*while True: pass' > {seen}
echo '{{"median_ns": 10, "count": 10}}'""")
    programs.add("floor", 100)
    assert run(programs, "--quick", "--case", "signal", "--beside", "2", "--repeats", "1") == 0
    assert int(seen.read_text()) >= 2
    with open(f"{programs.build_dir}/bench/comm.json", encoding="utf-8") as file:
        assert json.load(file)["header"]["beside"] == 2


def test_a_negative_load_is_an_error(programs, capsys):
    assert run(programs, "--beside", "-1") == 2
    assert "--beside -1" in capsys.readouterr().err


@pytest.mark.parametrize("argument", ["--list", "--help"])
def test_a_reader_that_goes_away_gets_no_traceback(argument):
    reader, writer = os.pipe()
    os.close(reader)
    run_file = pathlib.Path(cli.__file__).resolve().parents[1] / "run"
    done = subprocess.run([sys.executable, str(run_file), argument], stdout=writer, stderr=subprocess.PIPE, text=True,
                          timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_suite_is_measured_in_pieces(programs, tmp_path, capsys):
    for name in ("ours", "floor"):
        programs.add(name, 100)
    grid = str(tmp_path / "grid.json")
    options = ("--quick", "--case", "put/*", "--repeats", "1", "--json", grid, "--resume")
    assert run(programs, "--quick", "--case", "put/8", "--repeats", "1", "--json", grid) == 0
    assert run(programs, *options, "--within", "0") == 1
    assert "cases are left" in capsys.readouterr().err
    assert run(programs, *options) == 0
    with open(grid, encoding="utf-8") as file:
        names = [result["case"] for result in json.load(file)["results"]]
    assert names[0] == "put/8" and len(names) == len(set(names)) > 1
    assert run(programs, *options) == 0
    assert "all cases" in capsys.readouterr().err
    assert run(programs, "--resume") == 2
