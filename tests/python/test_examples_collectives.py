"""The examples that move data among all chips: allreduce, allgather, reduce_scatter, broadcast, all_to_all."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
REDUCTIONS = [["allreduce", "-m", mode] for mode in ("onephase", "twophase", "ring", "bidirectional_ring", "ibing")]
OTHERS = [["allgather"], ["reduce_scatter"], ["broadcast", "--root", "1"], ["broadcast", "--root", "each"],
          ["all_to_all"]]
ALL = REDUCTIONS + OTHERS


def name_of(call):
    return "-".join(part for part in call if not part.startswith("-"))


@pytest.fixture(scope="module")
def mains():
    """The function main() of each example."""
    loaded = {}
    for name in {call[0] for call in ALL}:
        spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / name / "main.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        loaded[name] = module.main
    return loaded


PROGRAM = """
import json, pathlib, runpy, sys
examples, more = sys.argv[1:]
for call in json.loads(more):
    main = runpy.run_path(str(pathlib.Path(examples, call[0], "main.py")))["main"]
    if main(call[1:]) != 0:
        sys.exit(f"wrong: {call}")
"""


def run_all(*options, **environment):
    """Runs all examples in one process: the environment is read once in each."""
    graphs = [["allreduce", "-g", "captured"], ["allreduce", "-g", "explicit"]]
    calls = json.dumps([[*call, "--inproc", *options] for call in ALL + graphs])
    done = subprocess.run([sys.executable, "-c", PROGRAM, EXAMPLES, calls], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **environment})
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize("call", ALL, ids=name_of)
def test_every_size_again_and_again(mains, capsys, call, ranks):
    for count in (1, 7, 256, 1000):
        assert mains[call[0]]([*call[1:], "--inproc", "-d", f"0-{ranks - 1}", "-n", str(count), "--repeat", "3"]) == 0
        output = capsys.readouterr().out
        assert f"on {ranks} chips" in output and "3 rounds" in output
        for rank in range(ranks):
            assert f"rank {rank}: largest difference 0\n" in output


@pytest.mark.parametrize("ranks", [3, 5, 7, 16])
@pytest.mark.parametrize("call", ALL, ids=name_of)
def test_odd_numbers_of_ranks_and_more_elements_than_a_tile(mains, call, ranks):
    assert mains[call[0]]([*call[1:], "--inproc", "-d", f"0-{ranks - 1}", "-n", "2049"]) == 0


@pytest.mark.parametrize("call", ALL, ids=name_of)
def test_a5(mains, capsys, call):
    assert mains[call[0]]([*call[1:], "--inproc", "-p", "a5sim", "-n", "1000"]) == 0
    assert "a5sim" in capsys.readouterr().out


@pytest.mark.parametrize("call", ALL, ids=name_of)
def test_chips_in_processes_of_their_own(mains, capsys, call):
    assert mains[call[0]]([*call[1:], "-n", "1000"]) == 0
    assert "a process each" in capsys.readouterr().out


@pytest.mark.parametrize("graph", ["captured", "explicit"])
@pytest.mark.parametrize("call", REDUCTIONS, ids=name_of)
def test_three_ways_to_build_a_graph(mains, capsys, call, graph):
    assert mains["allreduce"]([*call[1:], "-g", graph, "-n", "7", "--repeat", "3"]) == 0
    assert f"{graph} graphs" in capsys.readouterr().out


def test_any_root(mains, capsys):
    for root in range(4):
        assert mains["broadcast"](["--inproc", "--root", str(root)]) == 0
        assert f"of rank {root} on 4 chips" in capsys.readouterr().out


def test_auto_chooses_by_size(mains, capsys):
    for count, mode in ((4096, "onephase"), (4097, "twophase")):
        assert mains["allreduce"](["--inproc", "-n", str(count)]) == 0
        assert capsys.readouterr().out.startswith(f"allreduce ({mode}) of {count} floats on 4 chips")


@pytest.mark.parametrize("seed", range(1, 9))
def test_unkind_orders(seed):
    run_all("-n", "7", "--repeat", "3", BATON_SEED=str(seed))


def test_flags_are_all_there():
    run_all("-n", "5000", BATON_PIPES="strict")


@pytest.mark.parametrize("call, message", [
    (["allreduce", "-d", "0"], "1 device (0); this example needs 2 or more"),
    (["allgather", "-n", "0"], "--count 0: there must be at least 1 element"),
    (["reduce_scatter", "--repeat", "0"], "at least 1 round"),
    (["broadcast", "--root", "4"], "--root 4: there are ranks 0 to 3"),
    (["broadcast", "--root", "-1"], "--root -1: there are ranks 0 to 3"),
    (["all_to_all", "-d", "0-x"], "try -d 0-3, or -d 0,2-4"),
    (["allreduce", "-p", "a9sim", "--inproc"], "there is no platform"),
    (["allreduce", "-m", "spiral"], "invalid choice"),
], ids=lambda value: " ".join(value) if isinstance(value, list) else None)
def test_bad_options_are_told(mains, capsys, call, message):
    assert mains[call[0]](call[1:]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"{call[0]}: ") and message in said


def test_a_mismatch_is_told(mains, capsys, monkeypatch):
    monkeypatch.setattr(sys.modules["example_allreduce"], "golden_of", lambda k, options: 1.0)
    assert mains["allreduce"](["--inproc", "-d", "0-1", "-n", "4"]) == 1
    assert "rank 1: largest difference 107, 8 wrong: round 1 [0] is 100, expected 1" in capsys.readouterr().out
