"""The examples of tasks that wait for other chips, and of domains: every size, both isolations, both generations."""

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
NAMES = ["ffn_tp", "ffn_block", "transformer", "async_notify", "deferred_notify", "dma_get", "domain_rank_map",
         "dual_domain_overlap"]


def load(name):
    """examples/NAME/main.py as a module."""
    known = f"example_{name}"
    if known not in sys.modules:
        spec = importlib.util.spec_from_file_location(known, EXAMPLES / name / "main.py")
        sys.modules[known] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[known])
    return sys.modules[known]


def sizes_of(name):
    rows = {"ffn_tp": [1, 7, 64, 130], "ffn_block": [1, 7, 64, 130], "transformer": [1, 65]}  # tiles have 64
    return rows.get(name, [1, 7, 256, 1000])


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


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("name", ["vector_add", "async_completion"])
def test_one_chip_is_enough_for_some(name, ranks, capsys):
    for count in (1, 5000):
        assert run(name, ranks, count, "--inproc", "--repeat", "3") == 0, capsys.readouterr()
        told = capsys.readouterr().out
        assert told.count("largest difference 0\n") == ranks and ("on 1 chip (" in told) == (ranks == 1)


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


@pytest.mark.parametrize("more", [["--width", "1", "--hidden", "4"], ["--width", "97", "--hidden", "203"],
                                  ["--chunks", "1"], ["--chunks", "33"]], ids=" ".join)
def test_layers_of_any_size_in_any_number_of_chunks(more, capsys):
    assert run("ffn_block", 4, 33, "--inproc", *more) == 0, capsys.readouterr()


@pytest.mark.parametrize("more", [["--width", "4", "--heads", "4", "--hidden", "4"],
                                  ["--width", "99", "--heads", "9", "--hidden", "71"]], ids=" ".join)
def test_heads_of_any_size(more, capsys):
    assert run("transformer", 4, 33, "--inproc", *more) == 0, capsys.readouterr()


@pytest.mark.parametrize("chips", [[], ["--inproc"]], ids=["processes", "inproc"])
def test_later_chunks_are_computed_while_a_sum_waits(chips):
    """Rank 1 shows its first chunk when all ranks have shown their last: if a sum held up what follows it, nobody could
    go on."""
    done = subprocess.run([sys.executable, EXAMPLES / "ffn_block" / "main.py", "--late", "-n", "40", *chips],
                          env={**os.environ, "BATON_WAIT_TIMEOUT": "20s"}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "rank 1 late" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("name, options, told", [
    ("ffn_block", ["--hidden", "3"], "each of 4 ranks needs at least 1"), ("ffn_block", ["--width", "0"], "--width 0"),
    ("ffn_block", ["--chunks", "0"], "--chunks 0"), ("transformer", ["--heads", "5"], "a multiple of --heads 5"),
    ("transformer", ["--heads", "3"], "each of 4 ranks"),
    ("transformer", ["-n", "4097", "--width", "4", "--heads", "4"], "a row has 4097 elements"),
])
def test_layers_that_make_no_sense_are_told(name, options, told, capsys):
    assert load(name).main(["--inproc", *options]) == 2
    assert told in capsys.readouterr().err


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
