"""Ranks of an example as processes: what is told when one is killed, and that nothing stays behind."""

import glob
import os
import pathlib
import signal
import subprocess
import sys

import pytest

from conftest import baton_program

COMMON = pathlib.Path(__file__).resolve().parents[2] / "examples" / "common"
# Rank 1 ends as the argument says, and the others wait for it.
PROGRAM = f"""
import argparse, os, signal, sys
sys.path.insert(0, {str(COMMON)!r})
import example, ranks

def live(me, options):
    os.write(1, b"READY\\n")
    if me.rank == 1:
        if options.end == "killed": os.kill(os.getpid(), signal.SIGKILL)
        if options.end == "exit": os._exit(3)
        if options.end == "never": signal.pause()
    me.barrier()
    return me.rank

if __name__ == "__main__":
    options = argparse.Namespace(inproc=False, ranks=3, end=sys.argv[1])
    try:
        print(ranks.run(options, live))
    except example.Refused as refused:
        sys.exit(str(refused))
"""


@pytest.fixture
def started(tmp_path):
    processes = []

    def start(end):
        program = tmp_path / "program.py"
        program.write_text(PROGRAM)
        processes.append(subprocess.Popen([sys.executable, str(program), end], stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE, text=True, start_new_session=True))
        return processes[-1]

    yield start
    for process in processes:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def test_what_each_rank_gives(started):
    process = started("well")
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert output.splitlines()[-1] == "[0, 1, 2]"


@pytest.mark.parametrize("end, told", [("killed", "was killed (SIGKILL)"), ("exit", "ended with exit code 3")])
def test_a_rank_that_dies_is_named(started, end, told):
    process = started(end)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (1, f"the process of rank 1 {told}\n")


@pytest.mark.parametrize("whom", ["the program", "all of it"])
def test_nothing_stays_behind_when_it_is_killed(started, whom):
    before = set(glob.glob("/dev/shm/sem.*"))
    process = started("never")
    for _ in range(3):
        assert process.stdout.readline() == "READY\n"
    if whom == "the program":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=20)  # until all that could write, the ranks among them, have ended
    assert set(glob.glob("/dev/shm/sem.*")) <= before


@pytest.mark.parametrize("where", [[], ["--inproc"]])
def test_the_relay_runs_like_its_siblings(where):
    done = subprocess.run([baton_program(), "run", str(COMMON.parent / "relay"), "-d", "0,2-3", "--repeat", "3", *where],
                          capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"relay on 3 ranks ({'one process' if where else 'a process each'}), 3 rounds in ")
    assert lines[1:] == [f"rank {rank}: largest difference 0" for rank in range(3)]


def test_a_reader_that_goes_away_gets_no_traceback():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([baton_program(), "run", str(COMMON.parent / "relay"), "-d", "0-1", "--inproc"],
                          stdout=writer, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")
