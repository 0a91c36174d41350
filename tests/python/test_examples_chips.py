"""The examples of tasks that wait for other chips, and of domains: every size, both isolations, both generations."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
NAMES = ["ffn_tp", "async_notify", "deferred_notify", "dma_get", "domain_rank_map", "dual_domain_overlap"]


def load(name):
    """examples/NAME/main.py as a module."""
    known = f"example_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, EXAMPLES / name / "main.py")
        sys.modules[known] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[known])
    return sys.modules[known]


def sizes_of(name):
    return [1, 7, 64, 130] if name == "ffn_tp" else [1, 7, 256, 1000]  # ffn_tp: rows and columns; 130 needs 9 tiles


def run(name, ranks, count, *more):
    return load(name).main(["-d", f"0-{ranks - 1}", "-n", str(count), *more])


@pytest.mark.parametrize("ranks", [2, 4, 8])
@pytest.mark.parametrize("name", NAMES)
def test_any_size_again_and_again_in_the_same_windows(name, ranks, capsys):
    for count in sizes_of(name):
        assert run(name, ranks, count, "--inproc", "--repeat", "3") == 0, capsys.readouterr()
        lines = capsys.readouterr().out.splitlines()
        told = [line for line in lines if line.startswith("rank ")]
        assert len(told) == ranks and all("largest difference" in line for line in told)
        assert any(name in line and "3 rounds in" in line for line in lines)


@pytest.mark.parametrize("name", NAMES)
def test_the_other_generation_and_numbers_of_chips_that_are_no_powers_of_two(name, capsys):
    for ranks in (3, 5):
        assert run(name, ranks, 19, "--inproc", "-p", "a5sim") == 0, capsys.readouterr()


@pytest.mark.parametrize("name", NAMES)
def test_sixteen_chips(name, capsys):
    assert run(name, 16, 33, "--inproc") == 0, capsys.readouterr()


@pytest.mark.parametrize("name", NAMES)
def test_a_process_for_each_chip(name):
    done = subprocess.run([sys.executable, EXAMPLES / name / "main.py", "-d", "0,2-3", "-n", "100", "--repeat", "3"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a process each" in done.stdout and done.stdout.count("largest difference") == 3


@pytest.mark.parametrize("environment", [{"BATON_SEED": "1"}, {"BATON_SEED": "2"},
                                         {"BATON_SEED": "3", "BATON_PIPES": "strict"}], ids=str)
def test_what_chips_leave_open_changes_nothing(environment):
    done = subprocess.run([sys.executable, __file__], env={**os.environ, **environment}, capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("options, told", [(["-n", "0"], "at least 1"), (["-n", "many"], "many"),
                                           (["-d", "0"], "2 or more"), (["-d", "0-16"], "16 at most"),
                                           (["--repeat", "0"], "at least 1 round")])
def test_options_that_make_no_sense_are_told(name, options, told, capsys):
    assert load(name).main(["--inproc", *options]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"{name}: ") and told in error and "Traceback" not in error


def test_domains_of_any_number_of_chips_share_one_with_different_ranks():
    for ranks in range(2, 17):
        left, right = load("domain_rank_map").members(ranks).values()
        assert sorted({*left, *right}) == list(range(ranks)) and min(len(left), len(right)) >= 2
        shared = set(left) & set(right)
        assert shared and all(left.index(chip) != right.index(chip) for chip in shared)
        left, right = load("dual_domain_overlap").members(ranks).values()
        assert sorted({*left, *right}) == list(range(ranks)) and set(left) & set(right)


if __name__ == "__main__":  # all examples, for a seed in the environment
    sys.exit(sum(run(name, 4, 100, "--inproc", "--repeat", "5") for name in NAMES))
