"""All examples are without races, whatever the schedule. TEST_SEEDS says how many schedules are tried."""

import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(file.parent.name for file in EXAMPLES.glob("*/main.py") if file.parent.name != "existing_project")
SEEDS = os.environ.get("TEST_SEEDS", "1")


@pytest.mark.parametrize("how", [[], ["--inproc"]], ids=["processes", "inproc"])
@pytest.mark.parametrize("name", NAMES)
def test_an_example_has_no_race(name, how):
    if name == "relay" and how:
        pytest.skip("its ranks are fibers")
    command = [os.environ["TEST_PROGRAM"], "check", "--seeds", SEEDS, sys.executable, str(EXAMPLES / name / "main.py"), *how]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60 + 10 * int(SEEDS))
    assert done.returncode == 0 and "baton: 0 races in" in done.stderr, done.stdout[-2000:] + done.stderr[-4000:]
