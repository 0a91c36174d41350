"""kill -9 of baton leaves no process behind."""

import os
import time
import signal

import pytest

from conftest import LIMIT, python, read_lines, sh, wait_for_end

PROGRAMS = {
    "sleep": sh("echo ready; exec sleep 1000"),
    "spin": sh("echo ready; while :; do :; done"),
    "ignore SIGTERM": sh("trap '' TERM INT HUP; echo ready; while :; do sleep 1000; done"),
    "grandchild": sh("sleep 1000 & echo ready; wait"),
    "grandchild of a rank that is gone": sh("sleep 1000 >/dev/null 2>&1 & echo ready; [ $BATON_RANK = 0 ] || exec sleep 1000"),
    "session of its own": sh("setsid sleep 1000 & echo ready; wait"),
    "double fork": python(
        "if os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n  print('ready')\n  time.sleep(1000)\n os._exit(0)\ntime.sleep(1000)"
    ),
    "writing": sh("echo ready; exec yes"),
    "stopped": sh("echo ready; kill -STOP $$"),
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_killed_baton(baton, program):
    process = baton.start("run", "-n", "3", *program, bufsize=0)
    ready = b""
    while ready.count(b"ready") < 3:
        ready += os.read(process.stdout.fileno(), 65536)
    there = baton.processes()
    assert len(there) >= 4, there
    process.kill()
    process.wait(LIMIT)
    wait_for_end(there)
    baton.assert_nothing_left()


def test_killed_baton_with_a_job_inside(baton):
    process = baton.start("run", "-n", "2", baton.path, "run", "-n", "2", *sh("setsid sleep 1000 & echo ready; wait"))
    read_lines(process.stdout, 4)
    there = baton.processes()
    process.kill()
    process.wait(LIMIT)
    wait_for_end(there)
    baton.assert_nothing_left()


def test_a_reader_sees_the_end_of_the_output(baton):
    # Nothing, and not the keeper either, may hold the pipe longer than the job lives.
    process = baton.start("run", "-n", "2", *sh("echo ready; exec sleep 1000"))
    read_lines(process.stdout, 2)
    process.kill()
    assert process.stdout.read() == b""


def name_of(pid):
    """Empty if the process is gone by now."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as file:
            return file.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_a_killed_keeper_does_no_harm(baton):
    process = baton.start("run", "-n", "2", *sh("echo ready; read line; exit 3"), stdin=-1)
    read_lines(process.stdout, 2)
    deadline = time.monotonic() + LIMIT
    keepers = []
    while not keepers and time.monotonic() < deadline:  # it names itself after it was started
        keepers = [pid for pid in baton.processes() if name_of(pid) == "baton-keeper"]
    assert len(keepers) == 1
    os.kill(keepers[0], signal.SIGKILL)
    process.stdin.write(b"\n")
    process.stdin.close()
    assert process.wait(LIMIT) == 3
    baton.assert_nothing_left()
