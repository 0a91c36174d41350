"""Who waits for whom: told of a job that hangs, on request, at a deadline, and when nobody can go on."""

import os
import re
import signal
import subprocess
import sys

from conftest import finish, read_lines


def start(baton, rank_program, what, *, ranks=3, **environment):
    process = baton.start("run", "-n", str(ranks), rank_program, what, env=environment)
    pids = {int(line[1]): int(line.split()[-1]) for line in read_lines(process.stdout, ranks)}
    return process, pids


def wait_until_all_wait(baton, pids):
    while True:
        rows = [line for line in baton.run("ps").stdout.decode().splitlines() if any(f" {pid} " in line for pid in pids.values())]
        if len(rows) == len(pids) and all(" waiting " in row for row in rows):
            return rows[0].split()[0]


def end(process):
    process.send_signal(signal.SIGTERM)
    return finish(process)


def check(report):
    """What the report of "crossed" with three ranks says, however it was asked for."""
    assert re.search(r'rank 0: waiting for barrier 1 of "world", for ', report), report
    # Each waits for a signal of its own, and only one of these was notified.
    wait = r'waiting for signal 3 of "scratch" >= 2, for .*\n +it waits at [^ ]*rank.cpp:\d+\n +'
    assert re.search("rank 1: " + wait + r"it has 1 and needs >= 2\n +last notified by rank 0, [\d.]+ m?s ago, at [^ ]*rank.cpp:\d+", report), report
    assert re.search("rank 2: " + wait + r"it has 0 and needs >= 2\n +nobody has notified it", report), report
    assert 'who could notify it: rank 0 (waiting for barrier 1 of "world"), rank 2 (waiting for signal 3' in report, report
    assert 'who has not come: ranks 1-2 (waiting for signal 3 of "scratch" >= 2)' in report, report
    assert "ranks 0-2 cannot go on: everyone who could end their waits is waiting, too" in report, report
    assert "the last events:" in report and re.search(r'ago: rank 0 notified signal 3 of "scratch" at rank 1', report), report


def test_ps_explains_a_job(baton, rank_program):
    process, pids = start(baton, rank_program, "crossed")
    job = wait_until_all_wait(baton, pids)
    result = baton.run("ps", "--explain", job[:-3])  # the beginning of the name will do
    assert result.returncode == 0
    report = result.stdout.decode()
    assert report.startswith(job + "\n")
    check(report)
    end(process)


def test_ps_explains_no_job_that_is_not_there(baton):
    result = baton.run("ps", "--explain", "nothing-of-that-name")
    assert result.returncode == 2
    assert 'there is no job "nothing-of-that-name"' in result.stderr.decode()


def test_the_first_sigquit_asks_and_the_second_ends(baton, rank_program):
    process, pids = start(baton, rank_program, "crossed", BATON_LOG="error")
    wait_until_all_wait(baton, pids)
    process.send_signal(signal.SIGQUIT)
    report = b""
    while b"a second SIGQUIT" not in report:
        report += os.read(process.stderr.fileno(), 65536)
    assert report.decode().startswith("baton: the ranks of ")
    check(report.decode())
    assert process.poll() is None
    process.send_signal(signal.SIGQUIT)
    code, _, _ = finish(process)
    assert code == 128 + signal.SIGQUIT


def test_a_job_that_ran_too_long_is_explained(baton, rank_program):
    result = baton.run("run", "-n", "3", "--timeout", "3s", rank_program, "crossed", env={"BATON_LOG": "error"})
    assert result.returncode == 124
    check(result.stderr.decode())


def deadlock_report(baton, rank_program):
    process, _ = start(baton, rank_program, "crossed")
    text = b""
    while b"the last events:" not in text:
        text += os.read(process.stderr.fileno(), 65536)
    code, _, rest = end(process)
    return "\n".join(re.sub(r"^\[\d\] ", "", line) for line in (text.decode() + rest).splitlines())


def test_a_deadlock_is_told_when_it_happens_once(baton, rank_program):
    report = deadlock_report(baton, rank_program)
    assert report.count("can go on: all of them wait for each other") == 1, report
    check(report)


def test_a_deadlock_is_told_within_a_second(baton, rank_program):
    """From the moment when the last rank sleeps. On a machine that does other things as well, one of several times."""
    units = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60}
    took = []
    while not took or (min(took) >= 1 and len(took) < 10):
        waits = re.findall(r"^ *ranks? \S+: waiting for .*, for ([\d.]+) (\w+)$", deadlock_report(baton, rank_program), re.MULTILINE)
        assert len(waits) == 3, waits
        took.append(min(float(number) * units[unit] for number, unit in waits))
    assert min(took) < 1, took


def test_a_rank_that_computes_is_no_deadlock(baton, rank_program):
    result = baton.run("run", "-n", "2", rank_program, "busy")
    assert result.returncode == 0
    assert result.stderr == b""


def test_threads_that_work_in_turns_are_no_deadlock(baton, rank_program):
    result = baton.run("run", "-n", "2", rank_program, "turns")
    assert result.returncode == 0
    assert result.stderr == b""


def test_a_job_that_is_slow_is_no_deadlock(baton, rank_program):
    """Other programs want every processor several times over: each step takes longer than a rank sleeps before it looks."""
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * os.cpu_count())]
    try:
        result = baton.run("run", "-n", "4", rank_program, "slow")
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()
    assert result.returncode == 0
    assert result.stderr == b""


def test_waits_that_end_by_themselves_are_no_deadlock(baton, rank_program):
    result = baton.run("run", "-n", "2", rank_program, "impatient")
    assert result.returncode == 0
    assert result.stderr == b""


def test_one_rank_tells_at_the_deadline_what_all_wait_for(baton, rank_program):
    result = baton.run("run", "-n", "3", "--grace", "10s", rank_program, "late", env={"BATON_WAIT_TIMEOUT": "400ms"})
    assert result.returncode == 41
    report = result.stderr.decode()
    assert report.count("all ranks of the job:") == 1, report
    # A rank whose own deadline came at the same moment does not wait any more.
    assert re.search(r"ranks? 0([-,] ?[12])?: running", report), report
