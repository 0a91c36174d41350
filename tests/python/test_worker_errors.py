"""Nodes: what goes wrong, how it is told, and that the node goes on."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import baton
from baton import CommBufferSpec


def test_a_notification_that_never_comes_is_an_error():
    program = """
import baton
from baton import CommBufferSpec
with baton.Worker(devices="0-1", clusters=1) as node:
    def orchestration(orch):
        with orch.allocate_domain("pair", [0, 1], buffers=[CommBufferSpec("s", "int32", 4)]) as domain:
            orch.submit_notification_wait(domain[1].buffers["s"][2:3], 5)
    try:
        node.run(orchestration)
    except baton.Error as error:
        print(error.code.name, error)
    pid = node.pid_of(1)
    node.run(lambda orch: None)
    assert node.pid_of(1) == pid
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60,
                            env={**os.environ, "BATON_WAIT_TIMEOUT": "200ms"})
    assert result.returncode == 0, result.stderr
    assert 'wait_timeout rank 1 of "pair" waited 200 ms for a notification: signal 2 of its window' in result.stdout
    assert "a wait for a notification, on chip 1" in result.stdout


@pytest.mark.parametrize("kernel, said", [("asserts", "an assertion failed"), ("traps", "trap"),
                                          ("throws", "threw the int 5")])
def test_a_kernel_that_asserts_traps_or_throws_is_an_error_like_all_others(node, ops, kernel, said):
    x, pid = node.create_buffer(1, "int32"), node.pid_of(1)
    with pytest.raises(baton.Error, match=said) as raised:
        node.run(lambda orch: orch.submit_next_level(ops[kernel], [x], worker=1))
    assert raised.value.code == baton.Code.kernel_fault and "on chip 1" in str(raised.value)
    assert node.pid_of(1) == pid


@pytest.mark.parametrize("inproc", [False, True])
def test_a_kernel_that_never_ends_keeps_neither_run_nor_close(ops, inproc):
    node = baton.Worker(devices="0-1", clusters=1, inproc=inproc, kernel_timeout=0.3)
    x = node.create_buffer(1, "int32")

    def spin(orch):
        orch.submit_next_level(ops["spins"], [x], worker=1)

    with pytest.raises(baton.Error, match="'spins'.*has run for more than 0.3 s") as raised:
        node.run(spin)
    assert raised.value.code == baton.Code.kernel_timeout
    future = node.submit(spin)
    node.close()
    with pytest.raises(baton.Error, match="'spins'"):
        future.result()


def test_close_and_restart_inside_a_run_are_errors(node):
    def orchestration(orch):
        for forbidden in (node.close, node.restart):
            with pytest.raises(baton.Error, match="inside a run of this worker") as raised:
                forbidden()
            assert raised.value.remedy.startswith("Let the run return first")

    node.run(orchestration)
    node.submit(orchestration).result()


@pytest.mark.parametrize("options, said", [({"device_ids": [0, 0]}, "both device 0"), ({"device_ids": [-1]}, "no device -1"),
                                           ({"chip_threads": -1}, "-1 threads"),
                                           ({"chip_threads": 1_000_000}, "0 to 1024 are possible")])
def test_options_that_make_no_sense_are_errors(options, said):
    with pytest.raises(baton.Error, match=said):
        baton.Worker(**options).init()


def test_a_chip_that_is_not_there_is_named_with_those_that_are(node, ops):
    x = node.create_buffer(1, "int32")
    with pytest.raises(baton.Error, match="there is no chip 7; this node has chips 0 to 2") as raised:
        node.run(lambda orch: orch.submit_next_level(ops["add_one"], [x], worker=7))
    assert raised.value.remedy.startswith("Chips count from 0")


def test_errors_have_task_kernel_and_place(node, ops):
    x = node.create_buffer(1, "int32")

    def orchestration(orch):
        orch.submit_next_level(ops["crash"], [x], worker=1)

    with pytest.raises(baton.Error) as raised:
        node.run(orchestration)
    error = raised.value
    assert error.code == baton.Code.kernel_fault and "crash" in str(error)
    assert __file__ in str(error)
    node.run(lambda orch: orch.submit_next_level(ops["add_one"], [x], worker=1))  # the node is good
    assert x.numpy()[0] == 1


def test_wrong_calls_are_told(node, ops):
    own = np.zeros(4, dtype="f4")
    with pytest.raises(baton.Error, match="not memory of this node"):
        node.run(lambda orch: orch.submit_next_level(ops["scale"], [own, own.copy(), 1.0], worker=0))
    with pytest.raises(baton.Error):
        node.run(lambda orch: orch.submit_next_level(ops["add_one"], [node.create_buffer(1, "int32")], worker=9))
    with pytest.raises(ValueError):
        node.allreduce([own] * 7)
    kept = []
    node.run(kept.append)
    with pytest.raises(baton.Error, match="after its function returned"):
        kept[0].wait(1)
    with pytest.raises(ZeroDivisionError):
        node.run(lambda orch: 1 / 0)


def test_copies_convert_nothing(node):
    tensor, ones = node.create_buffer(4), np.ones(4, dtype="f4")
    whole = np.ones(4, dtype="i4")
    for copy in (node.copy_to, node.copy_from):
        copy(tensor, ones)
        with pytest.raises(baton.Error) as raised:
            copy(tensor, whole)
        assert "int32" in raised.value.message and "float32" in raised.value.message
        with pytest.raises(baton.Error) as raised:
            copy(tensor, np.ones(4))
        assert "float64" in raised.value.message and "float32" in raised.value.message

    def orchestration(orch):
        with orch.allocate_domain("pair", [0, 1], buffers=[CommBufferSpec("x", "float32", 4)]) as domain:
            for copy in (orch.copy_to, orch.copy_from):
                copy(domain[0].buffers["x"], ones)
                with pytest.raises(baton.Error, match="int32"):
                    copy(domain[0].buffers["x"], whole)

    node.run(orchestration)
    assert np.all(tensor.numpy() == 1) and np.all(ones == 1) and np.all(whole == 1)


def test_a_chip_that_is_killed_is_an_error_and_starts_again(ops):
    with baton.Worker(devices="0-1", clusters=1, chip_threads=1) as node:
        x = node.create_buffer(4, "int32")

        def orchestration(orch):
            orch.submit_next_level(ops["wait_for"], [x], worker=1)
            os.kill(node.pid_of(1), signal.SIGKILL)

        with pytest.raises(baton.Error) as raised:
            node.run(orchestration)
        assert "chip 1" in str(raised.value)
        node.run(lambda orch: orch.submit_next_level(ops["add_one"], [x], worker=1))
        assert x.numpy()[0] == 1


def test_a_program_that_is_no_chip_is_told(tmp_path):
    with pytest.raises(baton.Error) as raised:
        baton.Worker(chip_program=tmp_path / "nothing").init()
    assert raised.value.code == baton.Code.launch_failed and "nothing" in str(raised.value)


def test_ctrl_c_ends_a_run_of_a_node(interrupted, ops):
    code, output = interrupted(f"""
import os
os.environ['BATON_WAIT_TIMEOUT'] = '60s'
import baton
wait = baton.kernel({ops.library!r}, 'wait_for')
try:
    with baton.Worker(devices='0', clusters=1, chip_threads=1) as node:
        x = node.create_buffer(1, 'int32')
        node.run(lambda orch: (orch.submit_next_level(wait, [x], worker=0), print('READY', flush=True)))
except KeyboardInterrupt:
    print('INTERRUPTED', flush=True)
""")
    assert "INTERRUPTED" in output, output


def test_ctrl_c_ends_a_submission_to_a_node_that_waits_for_room(interrupted, ops):
    code, output = interrupted(f"""
import os, threading
os.environ['BATON_WAIT_TIMEOUT'] = '60s'
import baton
wait = baton.kernel({ops.library!r}, 'wait_for')
def orchestration(orch):
    for _ in range(2):
        orch.submit_next_level(wait, [x], worker=0)
    threading.Timer(0.2, lambda: print('READY', flush=True)).start()
    orch.submit_next_level(wait, [x], worker=0)
    print('SUBMITTED', flush=True)
try:
    with baton.Worker(devices='0', clusters=1, chip_threads=1, task_window=2) as node:
        x = node.create_buffer(1, 'int32')
        node.run(orchestration)
except KeyboardInterrupt:
    print('INTERRUPTED', flush=True)
""")
    assert "INTERRUPTED" in output and "SUBMITTED" not in output, output


def test_a_run_that_takes_long_says_what_is_at_work():
    program = """
import baton, sub_functions
from baton import INOUT
with baton.Worker(devices="0", clusters=1) as node:
    y = node.create_buffer(4)
    node.run(lambda orch: orch.submit_sub(sub_functions.take_long, [INOUT(y)]))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60,
                            cwd=os.path.dirname(__file__), env={**os.environ, "BATON_WAIT_TIMEOUT": "200ms", "BATON_KERNEL_TIMEOUT": "60s"})
    assert result.returncode == 0, result.stderr
    assert "no task of this node has completed for 0.2 s; tasks that are not complete: 1, at work: 1" in result.stderr
    assert "task 1 of the node, a host function" in result.stderr


@pytest.mark.parametrize("options, said", [
    ({"num_sub_workers": -1}, "num_sub_workers=-1 is not a whole number from 0 up"),
    ({"num_sub_workers": 1.5}, "num_sub_workers=1.5 is not a whole number"),
    ({"task_window": -1}, "task_window=-1 is not a whole number"),
    ({"devices": [0, 1.5]}, "devices=[0, 1.5] is not a list of devices"),
    ({"devices": 3}, "devices=3 is not a list of devices"),
    ({"devices": []}, "a node of 0 chips is not possible"),
])
def test_options_of_a_node_that_cannot_be_are_refused_by_name(options, said):
    with pytest.raises(baton.Error) as refused:
        baton.Worker(**options)
    assert refused.value.code == baton.Code.invalid_argument
    assert refused.value.message.startswith(said)
