"""Processes that run functions of a program: what they import, how they fail, when they end."""

import os
import select
import signal
import subprocess
import sys

import numpy as np
import pytest

import baton
import sub_functions
from baton import INOUT


@pytest.fixture(scope="module")
def node():
    with baton.Worker(devices="0", clusters=1, chip_threads=1, num_sub_workers=1) as made:
        yield made


def run_program(folder, text, **options):
    program = folder / "program.py"
    program.write_text(text)
    return subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=100, **options)


def failure_of(node, function, *scalars):
    y = node.create_buffer(1)
    with pytest.raises(baton.Error) as raised:
        node.run(lambda orch: orch.submit_sub(function, [INOUT(y), *scalars]))
    assert "report it" not in str(raised.value)
    return raised.value


@pytest.mark.parametrize("function, said, cause", [
    (sub_functions.fail_with_value, "fail_with_value() raised ValueError: wrong: 0.0", ValueError),
    (sub_functions.exit_with_three, "exit_with_three() raised SystemExit: 3", SystemExit),
    (sub_functions.raise_what_cannot_travel, "raise_what_cannot_travel() raised", RuntimeError),
    (sub_functions.die, "a sub-worker ended while it ran die() (exit code 7)", type(None)),
    (sub_functions.die_by_signal, "a sub-worker ended while it ran die_by_signal() (signal 9)", type(None)),
    (sub_functions.close_descriptors, "a sub-worker ended while it ran close_descriptors()", type(None)),
])
def test_what_a_function_does_wrong_is_its_own(node, function, said, cause):
    error = failure_of(node, function)
    assert error.code == baton.Code.rank_failed and said in error.message
    assert isinstance(error.__cause__, cause)
    assert any("submitted at" in note and __file__ in note for note in error.notes)
    node.run(lambda orch: orch.submit_sub(sub_functions.write_pid, [INOUT(node.create_buffer(1, "int64"))]))


def test_an_error_of_ours_keeps_its_code(node):
    error = failure_of(node, sub_functions.raise_error_of_ours)
    assert error.code == baton.Code.out_of_range and error.message == "there is no such thing"


def test_a_function_that_never_ends_is_ended_with_its_process():
    with baton.Worker(devices="0", clusters=1, chip_threads=1, num_sub_workers=1, kernel_timeout=3) as node:
        pid = node.create_buffer(1, "int64")
        node.run(lambda orch: orch.submit_sub(sub_functions.write_pid, [INOUT(pid)]))
        process = os.pidfd_open(int(np.asarray(pid)[0]))
        error = failure_of(node, sub_functions.never_end)
        assert error.code == baton.Code.kernel_timeout
        assert error.message == "never_end() has run for more than 3 s; its process was ended"
        assert any("submitted at" in note and __file__ in note for note in error.notes)
        assert select.select([process], [], [], 30)[0], "its process lives"
        node.run(lambda orch: orch.submit_sub(sub_functions.write_pid, [INOUT(pid)]))


def test_an_argument_that_cannot_travel_is_told_where_it_is_passed(node):
    y = node.create_buffer(1)
    with pytest.raises(baton.Error, match="an argument of take_long.. cannot travel to another process") as raised:
        node.run(lambda orch: orch.submit_sub(sub_functions.take_long, [INOUT(y), sys.stdout]))
    assert raised.value.code == baton.Code.invalid_argument


def test_a_sub_worker_imports_what_its_parent_would(tmp_path):
    for name in ("elsewhere", "program"):
        (tmp_path / name).mkdir()
    for shadow in ("statistics", "numpy", "ml_dtypes"):
        (tmp_path / "elsewhere" / f"{shadow}.py").write_text(f"raise ImportError('{shadow} of the current folder')")
    (tmp_path / "program" / "beside.py").write_text("VALUE = 5")
    result = run_program(tmp_path / "program", """
import os, sys
import baton

def look(y, path, environment):
    import statistics, beside
    assert sys.path == path and dict(os.environ) == environment, sys.path
    y[0] = beside.VALUE
    y[1] = "later" in sys.modules or __import__("importlib").util.find_spec("later") is not None

if __name__ == "__main__":
    with baton.Worker(devices="0", clusters=1) as node:
        y = node.create_buffer(2)
        for later in (0, 1):
            if later:
                folder = os.path.join(os.path.dirname(__file__), "more")
                os.mkdir(folder)
                open(os.path.join(folder, "later.py"), "w").close()
                sys.path.append(folder)
            arguments = [baton.OUT(y), sys.path[:], dict(os.environ)]
            node.run(lambda orch: orch.submit_sub(look, arguments))
            assert list(y.numpy()) == [5, later]
    print("GOOD")
""", cwd=tmp_path / "elsewhere")
    assert result.returncode == 0 and "GOOD" in result.stdout, result.stdout + result.stderr


def test_a_program_without_the_guard_is_told_so(tmp_path):
    result = run_program(tmp_path, """
import baton

def nothing(y):
    pass

with baton.Worker(devices="0", clusters=1) as node:
    y = node.create_buffer(1)
    node.run(lambda orch: orch.submit_sub(nothing, [baton.INOUT(y)]))
""")
    assert result.returncode == 1
    assert f"{tmp_path / 'program.py'} starts a node when a sub-worker imports it" in result.stderr
    assert 'if __name__ == "__main__":' in result.stderr


def test_a_sub_worker_ends_with_its_parent(tmp_path):
    (tmp_path / "busy.py").write_text("""
import os
def busy(y):
    print(os.getpid(), flush=True)
    while True:
        pass
""")
    program = """
import baton, busy
node = baton.Worker(devices="0", clusters=1)
y = node.create_buffer(1)
node.run(lambda orch: orch.submit_sub(busy.busy, [baton.INOUT(y)]))
"""
    parent = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        life = os.pidfd_open(int(parent.stdout.readline()))
    finally:
        parent.send_signal(signal.SIGKILL)
        parent.wait()
    ended, _, _ = select.select([life], [], [], 60)
    os.close(life)
    assert ended, "the sub-worker lives on"
