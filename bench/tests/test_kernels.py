"""The suite of kernels: what is compared with what."""

import json

from harness import cli
from harness.cases import OURS, Plan
from kernels import suite


def cases(programs="/programs"):
    return {case.name: case for case in suite.cases(Plan(programs, None, processors=2))}


def test_tiles_are_held_against_loops_and_copies_of_the_same_size():
    case = cases()["tadd/16K"]
    (part,) = case.floor.parts.values()
    assert "loop" in part.argv and case.floor.of({"loop": 7.0}) == 7.0
    for command in (part, case.contenders[0].command):
        assert command.argv[command.argv.index("--bytes") + 1] == "16384"
    assert "copy" in cases()["tload/64K"].floor.parts


def test_products_have_a_peer_only_if_it_was_built(script, tmp_path):
    assert [contender.name for contender in cases()["tmatmul/128"].contenders] == [OURS]
    script("kernels_openblas", "true")
    assert [contender.name for contender in cases(str(tmp_path))["tmatmul/128"].contenders] == [OURS, "openblas"]


def test_sorting_is_held_against_the_standard_library():
    for operation, loop in suite.SORTING:
        (part,) = cases()[f"{operation}/16K"].floor.parts.values()
        assert loop in part.argv and operation in cases()[f"{operation}/16K"].contenders[0].command.argv


def test_checks_are_held_against_the_same_kernel_without_them():
    ours, unchecked = cases()["checks/tadd/1K"].contenders
    assert unchecked.command.argv == (*ours.command.argv, "--method", "unchecked")


def test_runs_from_end_to_end(script, tmp_path, capsys):
    for name, ns in (("ours", 120), ("floor", 100), ("openblas", 60)):
        script(f"bin/bench/kernels_{name}", f"""echo '{{"median_ns": {ns}, "count": 10}}'""")
    arguments = ["kernels", "--no-build", "--build-dir", str(tmp_path), "--repeats", "1"]
    assert cli.main([*arguments, "--case", "tmatmul/32", "--case", "load"]) == 0
    with open(f"{tmp_path}/bench/kernels.json", encoding="utf-8") as file:
        written = json.load(file)
    assert set(written["header"]["versions"]) == {"openblas"}
    product, load = written["results"]
    assert product["ratio_best_peer"] == 2 and load["ratio_floor"] == 1.2
    assert "tmatmul/32" in capsys.readouterr().out
