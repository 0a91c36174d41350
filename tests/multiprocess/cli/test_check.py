"""baton check: races of ranks that are processes."""

import os
import re

import pytest

from conftest import read_lines, sh, wait_for_end

RANK = os.environ["BATON_TEST_RANK"]


@pytest.mark.parametrize("ranks", ["2", "4", "7"])
def test_a_program_without_races(baton, ranks):
    result = baton.run("check", "-n", ranks, RANK, "add_up")
    assert (result.returncode, b"baton: 0 races in 1 run" in result.stderr) == (0, True), result.stderr
    baton.assert_nothing_left()


def test_collectives_and_barriers_have_no_races(baton):
    for what in ["allreduce", "leave"]:
        result = baton.run("check", "-n", "4", RANK, what)
        assert result.returncode == 0, result.stderr


def test_a_wait_that_is_one_short(baton):
    result = baton.run("check", "-n", "4", RANK, "add_up_early", "two words")
    report = result.stderr.decode()
    assert result.returncode == 1
    # Each pair of places once, though the puts of all three ranks race.
    assert report.count("race on bytes") == 1
    assert "of rank 0's part of \"numbers\"" in report
    assert "writes: put at " in report and "reads: load at " in report and "rank.cpp:" in report
    assert "waits for signal 0 of \"handed\" at rank 0 >= 2" in report and "does not need the notify of rank" in report
    assert f"repeat: baton check -n 4 {RANK} add_up_early 'two words'" in report
    baton.assert_nothing_left()


def test_a_race_that_is_known(baton, tmp_path):
    known = tmp_path / "races.txt"
    known.write_text("# the sum is only shown\npart of \"numbers\"\n")
    result = baton.run("check", "-n", "4", "--suppress", str(known), RANK, "add_up_early")
    assert result.returncode == 0 and b"0 races in 1 run" in result.stderr and b"1 suppressed" in result.stderr


def test_the_code_of_a_program_that_fails(baton):
    result = baton.run("check", "-n", "2", RANK, "throw")
    assert result.returncode == 9


def test_a_program_that_is_not_one_of_batons(baton):
    result = baton.run("check", "true")
    assert result.returncode == 2 and b"did not use Baton" in result.stderr


def test_a_program_that_fails_before_it_comes_to_baton(baton):
    result = baton.run("check", "false")
    assert result.returncode == 1 and b"did not use Baton" not in result.stderr


def test_seeds_and_options(baton):
    result = baton.run("check", "--seeds", "3", RANK, "leave")
    assert result.returncode == 0 and b"0 races in 3 runs" in result.stderr
    assert baton.run("check", "--seeds", "3", "--seed", "1", RANK).returncode == 2
    assert baton.run("check", "--suppress", "/nowhere", RANK).returncode == 2
    assert baton.run("check").returncode == 2


def accesses_of(result):
    assert result.returncode == 0, result.stderr
    return int(re.search(rb"0 races in 1 run \((\d+) accesses\)", result.stderr)[1])


def test_programs_that_follow_each_other(baton):
    once = accesses_of(baton.run("check", "-n", "3", RANK, "add_up"))
    twice = accesses_of(baton.run("check", "-n", "3", *sh(f"{RANK} add_up && {RANK} add_up")))
    assert (once > 0, twice) == (True, 2 * once)


def test_nothing_is_left_of_a_check_that_was_killed(baton, tmp_path):
    check = baton.start("check", "-n", "2", RANK, "pause", env={"TMPDIR": str(tmp_path)})
    read_lines(check.stdout, 2)
    pids = list(baton.processes())
    check.kill()
    wait_for_end(pids)
    assert os.listdir(tmp_path) == []
