"""baton tune: a table of the fastest collectives, and programs that read it."""

import os
import subprocess

import pytest

BATON = os.environ["BATON_TEST_CLI"]
RANK = os.environ["BATON_TEST_RANK"]


def baton(*words, **environment):
    return subprocess.run([BATON, *words], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Measured on a tiny grid."""
    path = tmp_path_factory.mktemp("tune") / "machine.table"
    done = baton("tune", "-n", "2,3", "-s", "8,4KiB", "--operations", "barrier,allreduce", "--budget", "1ms", "-o",
                 str(path))
    assert done.returncode == 0, done.stderr
    # 2 of barrier, 10 of allreduce by 2 sizes and 2 places.
    assert "2 ranks, " in done.stderr and "3 ranks, " in done.stderr and str(path) in done.stderr
    return path


def test_the_table_has_rows_for_everything_that_was_measured(table):
    rows = [line.split() for line in table.read_text().splitlines() if not line.startswith("#")]
    assert {row[0] for row in rows} == {"barrier", "allreduce"}
    assert all(len(row) == 5 for row in rows)
    for ranks in ("2", "any"):
        for place in ("windows", "elsewhere"):
            found = [row for row in rows if row[:3] == ["allreduce", ranks, place]]
            assert found and found[-1][3] == "any"


def test_without_a_file_it_goes_to_standard_output():
    done = baton("tune", "-n", "2", "-s", "8", "--operations", "barrier", "--budget", "1ms")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# operation") and "barrier" in done.stdout


def test_only_algorithms_that_take_a_size_are_measured_with_it():
    done = baton("tune", "-n", "2", "-s", "8,64KiB", "--operations", "gather", "--budget", "1ms")
    assert done.returncode == 0, done.stderr
    # In two places: eager, fetch, read and mesh of 8 bytes; fetch, read and mesh of 64 KiB.
    assert "2 ranks, 14 measurements" in done.stderr


def test_programs_read_the_table(table):
    done = baton("run", "-n", "2", "--no-prefix", RANK, "allreduce", BATON_COLLECTIVE_TABLE=str(table))
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text, message", [
    ("allreduce 2 windows 8 bruck", "line 1"),
    ("# a remark\nallreduce two windows 8 mesh", "line 2"),
    (None, "cannot be read"),
])
def test_a_table_that_makes_no_sense_is_told(tmp_path, text, message):
    path = tmp_path / "odd.table"
    if text is not None:
        path.write_text(text + "\n")
    done = baton("run", "-n", "2", "--no-prefix", RANK, "allreduce", BATON_COLLECTIVE_TABLE=str(path))
    assert done.returncode != 0
    assert "BATON_COLLECTIVE_TABLE" in done.stderr and message in done.stderr


@pytest.mark.parametrize("words, message", [
    (["--operations", "allreduec"], 'there is no "allreduec"; there are barrier, broadcast'),
    (["-n", "1"], "--ranks"),
    (["-s", "many"], "--sizes"),
])
def test_bad_options_are_told(words, message):
    done = baton("tune", *words)
    assert done.returncode == 2 and message in done.stderr


def test_a_file_that_cannot_be_written_is_told_before_measuring(tmp_path):
    done = baton("tune", "-o", str(tmp_path / "nowhere" / "machine.table"))
    assert done.returncode == 1 and "nowhere/machine.table: No such file" in done.stderr
    assert "measurements" not in done.stderr


def test_help_has_examples():
    done = baton("tune", "--help")
    assert done.returncode == 0
    assert "baton tune -o machine.table" in done.stdout and "--results" not in done.stdout
