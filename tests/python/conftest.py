"""What the tests of the Python package share: kernels, and programs as ranks of a job."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

import baton

HERE = pathlib.Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def ops():
    return baton.kernels(HERE / "kernels" / "ops.cpp")


@pytest.fixture(scope="module", params=[False, True], ids=["processes", "inproc"])
def node(request):
    """Three small chips, as processes and in this one."""
    with baton.Worker(level=3, platform="a2a3sim", device_ids=[0, 1, 2], num_sub_workers=2, inproc=request.param,
                      clusters=1, chip_threads=1) as made:
        yield made


@pytest.fixture
def chip():
    with baton.Chip(clusters=2, threads=2) as made:
        yield made


class OnlyDlpack:
    """Something that lends memory by DLPack, and by nothing else."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def baton_program():
    return os.environ.get("TEST_PROGRAM") or shutil.which("baton") or pytest.skip("there is no program `baton`")


@pytest.fixture
def ranks(tmp_path):
    """Runs a program as the ranks of a job and returns what became of it."""

    def run(size, text, *, timeout=60):
        program = tmp_path / "program.py"
        program.write_text(text)
        return subprocess.run([baton_program(), "run", "-n", str(size), sys.executable, str(program)],
                              capture_output=True, text=True, timeout=timeout)

    return run


@pytest.fixture
def interrupted(tmp_path):
    """Runs a program, sends it SIGINT when it prints READY, and returns its output and how long it took to end."""

    def run(text):
        program = tmp_path / "program.py"
        program.write_text(text)
        process = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True)
        try:
            for line in process.stdout:
                if line.strip() == "READY":
                    break
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=20)
        finally:
            process.kill()
        assert "leaked" not in output, output  # what was interrupted keeps its objects, on purpose
        return process.returncode, output

    return run
