"""`baton test --compat`: the tests of the example project and of a made-up one, as they stand."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

from conftest import baton_program

PROJECT = pathlib.Path(__file__).resolve().parents[2] / "examples" / "existing_project"


def test_command(folder, *words):
    program = baton_program()
    environment = {**os.environ, "PYTHON": sys.executable, "PATH": f"{pathlib.Path(program).parent}:{os.environ['PATH']}"}
    return subprocess.run([program, "test", "--compat", *words], cwd=folder, env=environment, capture_output=True,
                          text=True, timeout=220)


test_command.__test__ = False


def outcomes(done):
    """test -> (outcome, devices)"""
    return {name: (outcome, devices) for name, outcome, devices in
            re.findall(r"^(\S+::\S+|\S+\.py) +(\S+) +(\S+) +[\d.]+ s +[\d.]+ s$", done.stdout, re.MULTILINE)}


@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
def test_the_tests_of_the_example_project(platform):
    done = test_command(PROJECT, ".", "-p", platform, "-d", "0-3")
    found = outcomes(done)
    assert done.returncode == 0 and len(found) == 13, done.stdout + done.stderr
    assert all(outcome == "passed" for outcome, _ in found.values())
    assert "-" in found["test_blend.py::TestBlendOnTwoChips::test_run"][1]


def test_the_program_for_one_chip():
    done = subprocess.run([sys.executable, "-m", "baton.compat", str(PROJECT / "hello.py"), "-p", "a5sim", "-d", "2"],
                          capture_output=True, text=True, timeout=220)
    assert (done.returncode, done.stdout) == (0, "hello from a chip\n"), done.stderr


def test_one_of_them_as_a_program():
    done = subprocess.run([sys.executable, "-m", "baton.compat", str(PROJECT / "test_blend.py"), "--case", "TestBlend::",
                           "--manual", "include", "--rounds", "2", "-d", "3"], capture_output=True, text=True, timeout=220)
    assert (done.returncode, done.stdout) == (0, "PASSED TestBlend: one_tile, many_tiles, on_request\n"), done.stderr
    done = subprocess.run([sys.executable, "-m", "baton.compat", str(PROJECT / "test_blend.py"), "--case", "none"],
                          capture_output=True, text=True, timeout=220)
    assert done.returncode == 2 and "no case" in done.stderr
    done = subprocess.run([sys.executable, "-m", "baton.compat", str(PROJECT / "test_blend.py"), "-p", "a2a3"],
                          capture_output=True, text=True, timeout=220)
    assert (done.returncode, done.stderr) == (2, "there is no platform 'a2a3' here; there are a2a3sim, a5sim\n")


# A project with what such projects have around their tests.
CONFTEST = "from simpler_setup.parallel_scheduler import everything\n"
FUNCTIONS = '''
import os
import pytest
import beside  # a module in the folder of the test
from simpler.worker import Worker

@pytest.mark.platforms(["a2a3sim", "a2a3"])
@pytest.mark.runtime("tensormap_and_ringbuffer")
def test_worker(st_platform, st_worker):
    assert st_platform == "a2a3sim" and st_worker.level == 2
    st_worker.free(st_worker.malloc(64))

@pytest.mark.platforms(["a2a3sim"])
@pytest.mark.device_count(3)
def test_devices(st_device_ids, st_platform):
    assert len(st_device_ids) == 3

@pytest.mark.platforms(["a2a3sim"])
@pytest.mark.device_count(2)
def test_pool(device_pool):
    taken = device_pool.allocate(2)
    with pytest.raises(pytest.fail.Exception):
        device_pool.allocate(1)
    device_pool.release(taken)
    assert len(device_pool.allocate(1)) == 1

@pytest.mark.platforms(["a5sim"])
def test_elsewhere():
    raise AssertionError("of another platform")

@pytest.mark.platforms(["a2a3sim"])
@pytest.mark.manual
def test_on_request():
    pass

@pytest.mark.platforms(["a2a3sim"])
@pytest.mark.limit(1)
def test_hangs():
    import time
    time.sleep(600)
'''
REFUSED = "from simpler.task_interface import MpiL3GroupSpec\n\ndef test_hosts():\n    pass\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "conftest.py").write_text(CONFTEST)
    (root / "pytest.ini").write_text("[pytest]\naddopts = --option-of-their-conftest\n")
    (root / "simpler_setup").mkdir()
    (root / "simpler_setup" / "__init__.py").write_text("raise ImportError('their own setup')\n")
    for part in ("one", "two"):  # files of one name in several folders
        (root / "tests" / part).mkdir(parents=True)
        (root / "tests" / part / "beside.py").write_text("")
        (root / "tests" / part / "test_functions.py").write_text(
            FUNCTIONS if part == "one" else "from simpler_setup import scene_test\n\ndef test_more():\n    pass\n")
    (root / "tests" / "test_refused.py").write_text(REFUSED)
    return root


def test_functions_marks_and_refusals(project):
    done = test_command(project, "tests", "-d", "0-3")
    found = outcomes(done)
    at = "tests/one/test_functions.py::"
    assert {name: outcome for name, (outcome, _) in found.items()} == {
        f"{at}test_worker": "passed", f"{at}test_devices": "passed", f"{at}test_pool": "passed",
        f"{at}test_hangs": "killed", "tests/two/test_functions.py::test_more": "passed",
        "tests/test_refused.py": "failed"}, done.stdout + done.stderr
    assert len(found[f"{at}test_devices"][1]) == 3  # such as 0-2
    assert "2 tests are deselected" in done.stderr
    assert "baton.compat does not offer simpler.task_interface.MpiL3GroupSpec: it is for several hosts" in done.stdout
    assert done.returncode == 1


def test_options_go_to_the_tests(project):
    done = test_command(project, "tests/one", "--list", "--", "--manual", "only")
    assert done.stdout == "  1 device   tests/one/test_functions.py::test_on_request\n", done.stdout + done.stderr
    done = test_command(project, "tests/one", "--", "--enable-chip-swimlane", "1")
    assert done.returncode == 2 and "does not offer --enable-chip-swimlane" in done.stderr
    done = test_command(project, "tests/one", "-p", "a2a3")
    assert done.returncode == 2 and "no platform 'a2a3' here; there are a2a3sim, a5sim" in done.stderr


def test_plain_pytest(tmp_path):
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "baton.compat.pytest_plugin",
                           "--noconftest", "--platform", "a5sim", "-W", "error", str(PROJECT)], cwd=tmp_path,
                          capture_output=True, text=True, timeout=220)
    assert done.returncode == 0 and "13 passed" in done.stdout, done.stdout + done.stderr
