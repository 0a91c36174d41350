"""`baton test`: packing, limits, reports; and the comparison with goldens."""

import os
import pathlib
import re
import subprocess
import sys
import time
from xml.etree import ElementTree

import numpy as np
import pytest

from baton.runner.collect import Test as Case
from baton.runner.schedule import Schedule
from baton.testing import assert_close
from conftest import baton_program

CASES = '''
import os, pathlib, subprocess, sys, time
import numpy, pytest, baton

HERE = pathlib.Path(__file__).parent

@pytest.mark.devices(3)
def test_three(devices, platform):
    assert len(devices) == 3 and platform == "a5sim"
    (HERE / "three").write_text(" ".join(map(str, devices)))

def test_one(devices, chip):
    assert len(devices) == 1 and chip.clusters == 36
    assert not hasattr(baton, "left_over")
    baton.left_over = True

def test_one_more():
    assert not hasattr(baton, "left_over")  # each test has its own process
    baton.left_over = True

def test_wrong():
    from baton.testing import assert_close
    assert_close(numpy.arange(4), [0, 1, 7, 3])

@pytest.mark.limit(2)
def test_hang():
    # One child that shares the session, and an orphan that left it.
    child = subprocess.Popen(["sleep", "600"])
    orphan = subprocess.run([sys.executable, "-c", "import subprocess; print(subprocess.Popen("
                             "['sleep', '600'], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).pid)"],
                            capture_output=True, text=True).stdout
    (HERE / "pids").write_text(f"{child.pid} {orphan}")
    me = baton.join("runner-hang-" + str(os.getpid()), 0, 1)
    me.signals("never").wait(timeout=60)

@pytest.mark.devices(9)
def test_nine():
    pass

@pytest.mark.skip(reason="not today")
def test_skipped():
    pass
'''


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cases")
    (folder / "test_cases.py").write_text(CASES)
    program = baton_program()
    environment = {**os.environ, "PYTHON": sys.executable,
                   "PATH": f"{pathlib.Path(program).parent}:{os.environ['PATH']}"}
    done = subprocess.run([program, "test", "test_cases.py", "-p", "a5sim", "-d", "2,4-6", "--max-parallel", "2",
                           "--junit", "result.xml"],
                          cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    return folder, done


def row(done, name):
    found = re.search(rf"^test_cases.py::{name} +(\S+) +(\S+) +([\d.]+) s +([\d.]+) s$", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    return found.groups()


def test_every_test_has_its_outcome_its_devices_and_its_times(outcome):
    folder, done = outcome
    assert done.returncode == 1
    assert row(done, "test_three")[:2] == ("passed", "2,4-5")
    assert (folder / "three").read_text() == "2 4 5"
    for name in ("test_one", "test_one_more"):
        assert row(done, name)[0] == "passed"
    assert row(done, "test_skipped")[0] == "skipped"
    assert row(done, "test_nine")[0] == "impossible"
    assert "7 tests in" in done.stdout


def test_a_mismatch_shows_the_first_elements_that_differ(outcome):
    _, done = outcome
    assert row(done, "test_wrong")[0] == "failed"
    assert "1 of 4 elements differ" in done.stdout and "[2]  got 2" in done.stdout


def test_a_hang_is_killed_with_all_it_started_and_its_wait_is_shown(outcome):
    folder, done = outcome
    assert row(done, "test_hang")[0] == "killed"
    assert "killed after 2 s" in done.stdout
    assert 'signal 0 of "never"' in done.stdout
    assert "in test_hang" in done.stdout
    for pid in (folder / "pids").read_text().split():
        deadline = time.monotonic() + 5
        while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline:
            time.sleep(0.01)  # until its parent has reaped it
        assert not os.path.exists(f"/proc/{pid}"), f"process {pid} is still there"


def test_junit_has_the_same(outcome):
    folder, _ = outcome
    suite = ElementTree.parse(folder / "result.xml").getroot()[0]
    assert suite.get("tests") == "7" and suite.get("failures") == "3" and suite.get("skipped") == "1"
    cases = {case.get("name"): case for case in suite}
    assert "elements differ" in cases["test_wrong"].find("failure").text
    assert cases["test_three"].find("failure") is None


def test_large_tests_go_first_and_small_ones_fill_the_gaps():
    tests = [Case("a"), Case("b", 2), Case("c", 4), Case("d", 3), Case("e")]
    schedule = Schedule(tests, [0, 1, 2, 3], 8)
    order = []
    running = []
    while True:
        fits = schedule.next()
        if fits:
            order.append(fits[0].name)
            running.append(fits)
            assert len({device for _, devices in running for device in devices}) == sum(
                len(devices) for _, devices in running) <= 4
        elif running:
            schedule.give_back(running.pop(0)[1])
        else:
            break
    assert order == ["c", "d", "a", "b", "e"]


def test_max_parallel_bounds_what_runs():
    schedule = Schedule([Case(str(i)) for i in range(5)], range(8), 2)
    first, second = schedule.next(), schedule.next()
    assert schedule.next() is None and schedule.waiting == 3
    schedule.give_back(first[1])
    assert schedule.next() is not None
    assert second[1] != first[1]


def test_a_wrong_device_list_and_broken_tests_are_told(tmp_path):
    (tmp_path / "test_broken.py").write_text("import nonesuch")
    environment = {**os.environ, "PYTHON": sys.executable}

    def run(*arguments):
        return subprocess.run([baton_program(), "test", *arguments], cwd=tmp_path, env=environment, text=True,
                              capture_output=True, timeout=60)

    done = run("-d", "3-1", ".")
    assert done.returncode == 2 and "E011" in done.stderr
    done = run(".")
    assert done.returncode == 2 and "nonesuch" in done.stderr
    (tmp_path / "test_broken.py").write_text("def test_x(): pass")
    assert run("-k", "nothing", ".").returncode == 5
    assert "1 device" in run("--list", ".").stdout


def test_assert_close():
    x = np.linspace(0, 1, 50, dtype="f4").reshape(5, 10)
    assert_close(x, x + 1e-9)
    assert_close(np.array([np.nan, np.inf]), np.array([np.nan, np.inf]))
    assert_close(np.ones(3, dtype="f2"), 1)
    assert_close(np.arange(3, dtype="u8") + (1 << 63), np.arange(3, dtype="u8") + (1 << 63))
    with pytest.raises(AssertionError, match=r"y: the shape is \[5, 10\], the golden has \[50\]"):
        assert_close(x, x.reshape(50), name="y")
    with pytest.raises(AssertionError) as raised:
        assert_close(x, x + (x > 0.5), show=2)
    said = str(raised.value)
    assert "25 of 50 elements differ" in said and "[2, 5]" in said and "and 23 more, the last at [4, 9]" in said
    with pytest.raises(AssertionError):
        assert_close(np.array([1.0, np.nan]), np.array([1.0, 2.0]))
    with pytest.raises(AssertionError):
        assert_close(np.arange(3), np.array([0, 1, 3]))


@pytest.mark.parametrize("arguments", [["--help"], ["--list", "."]])
def test_a_reader_that_goes_away_gets_no_traceback(tmp_path, arguments):
    (tmp_path / "test_one.py").write_text("def test_one(): pass\n")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([baton_program(), "test", *arguments], cwd=tmp_path, stdout=writer, stderr=subprocess.PIPE,
                          text=True, timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")
