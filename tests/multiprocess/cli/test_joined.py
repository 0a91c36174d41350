"""Ranks that join: what baton learns of them, and what it tells them."""

import json
import os
import signal
import subprocess

from conftest import LIMIT, finish, read_lines, sh, wait_for_end


def pids_of(lines):
    """rank -> pid, from lines such as "[2] joined 4711"."""
    return {int(line[1 : line.index("]")]): int(line.split()[-1]) for line in lines}


def jobs(baton):
    result = baton.run("ps", "--json")
    assert result.returncode == 0
    return json.loads(result.stdout)["jobs"]


def our_job(baton, pids):
    """The job of these processes: other jobs of this user may run as well."""
    found = [job for job in jobs(baton) if {rank["pid"] for rank in job["ranks"]} == set(pids.values())]
    assert len(found) <= 1
    return found[0] if found else None


def test_a_job_that_ends_well(baton, rank_program):
    result = baton.run("run", "-n", "4", rank_program, "leave")
    assert (result.returncode, result.stderr) == (0, b"")
    baton.assert_nothing_left()


def test_processes_that_join_a_second_job(baton, rank_program):
    result = baton.run("run", "-n", "2", rank_program, "again")
    assert (result.returncode, result.stderr) == (0, b"")
    baton.assert_nothing_left()


def test_processes_of_a_rank_that_are_a_job_of_their_own(baton, rank_program):
    result = baton.run("run", "-n", "1", rank_program, "own_job")
    assert (result.returncode, result.stderr) == (0, b"")
    baton.assert_nothing_left()


def test_the_others_learn_how_a_rank_died(baton, rank_program):
    result = baton.run("run", "-n", "3", "--grace", "100s", rank_program, "die")
    assert result.returncode == 128 + signal.SIGKILL
    report = result.stderr.decode()
    assert report.count("died: SIGKILL") == 2  # what ranks 0 and 1 said
    assert "baton: rank 2 (pid " in report and "was ended by SIGKILL" in report
    assert "ranks 0-1: failed too, exit code 40" in report


def test_the_rank_that_failed_first_is_the_culprit(baton, rank_program):
    for _ in range(10):
        result = baton.run("run", "-n", "4", "--grace", "100s", rank_program, "throw")
        assert result.returncode == 9
        assert b"baton: rank 3 (pid " in result.stderr


def test_a_rank_that_ends_silently_is_the_culprit(baton, rank_program):
    result = baton.run("run", "-n", "4", "--grace", "100s", rank_program, "quit")
    assert result.returncode == 40  # of a rank that saw it
    report = result.stderr.decode()
    assert "baton: rank 3 (pid " in report and "ended with exit code 0 after " in report
    assert "without leaving the job\n" in report and "return from main()" in report
    assert "ranks 0-2: failed too, exit code 40" in report


def test_a_silent_end_is_not_blamed_for_a_crash(baton, rank_program):
    # Rank 0 crashes long after rank 1 ended; a crash does not follow from that.
    script = f'if [ $BATON_RANK = 1 ]; then exec "{rank_program}" quit; fi; "{rank_program}" quit; ulimit -c 0; kill -SEGV $$'
    result = baton.run("run", "-n", "2", "--grace", "100s", *sh(script))
    assert "baton: rank 0 (pid " in result.stderr.decode() and "SIGSEGV" in result.stderr.decode()


def test_an_exception_that_nobody_catches_is_told_to_the_others(baton, rank_program):
    for what, text in (("uncaught", "std::runtime_error: enough"), ("uncaught_int", "int")):
        result = baton.run("run", "-n", "3", "--grace", "100s", *sh(f'ulimit -c 0; exec "{rank_program}" {what}'))
        assert result.returncode == 128 + signal.SIGABRT
        report = result.stderr.decode()
        # In the reports of ranks 0 and 1, which nobody catches either, and in that of baton.
        assert report.count(f" died: it threw {text}\n") == 2, report
        assert f"  it threw {text}\n" in report.split("baton: rank 2 (pid ")[1]


def test_a_rank_that_leaves_with_a_reason(baton, rank_program):
    result = baton.run("run", "-n", "3", "--grace", "100s", rank_program, "because")
    assert result.returncode == 5
    report = result.stderr.decode()
    assert report.count(" died: it threw ValueError: 7 is odd\n") == 2
    assert "second line" not in report
    assert "  it threw ValueError: 7 is odd\n" in report.split("baton: rank 2 (pid ")[1]


def test_a_killed_rank_and_what_it_waited_for(baton, rank_program):
    process = baton.start("run", "-n", "3", rank_program, "wait")
    pids = pids_of(read_lines(process.stdout, 3))
    wait_until_waiting(baton, pids, 3)
    os.kill(pids[1], signal.SIGKILL)
    code, _, err = finish(process)
    assert code == 128 + signal.SIGKILL
    assert f"baton: rank 1 (pid {pids[1]}) was ended by SIGKILL after" in err
    assert 'it was waiting for signal 3 of "scratch" >= 7, for' in err


def test_a_rank_behind_a_shell(baton, rank_program):
    process = baton.start("run", "-n", "3", "--grace", "100s", *sh(f'"{rank_program}" wait; exit $?'))
    pids = pids_of(read_lines(process.stdout, 3))
    wait_until_waiting(baton, pids, 3)
    os.kill(pids[1], signal.SIGKILL)
    code, _, err = finish(process)
    assert code == 137
    assert "baton: rank 1 (pid " in err and "ended with exit code 137" in err


def wait_until_waiting(baton, pids, count):
    """A rank says that it joined a moment before it waits."""
    while True:
        job = our_job(baton, pids)
        if job and sum(rank["state"] == "waiting" for rank in job["ranks"]) == count:
            return job


def test_timeout_tells_who_waits_for_what(baton, rank_program):
    result = baton.run("run", "-n", "3", "--timeout", "3s", rank_program, "barrier")
    assert result.returncode == 124
    report = result.stderr.decode()
    assert "rank 0: running\n" in report
    assert 'ranks 1-2: waiting for barrier ' in report and 'of "world", for ' in report


def test_ps_lists_ranks_and_waits(baton, rank_program):
    process = baton.start("run", "-n", "3", rank_program, "wait")
    pids = pids_of(read_lines(process.stdout, 3))
    job = wait_until_waiting(baton, pids, 3)
    assert {rank["rank"]: rank["pid"] for rank in job["ranks"]} == pids
    for rank in job["ranks"]:
        assert rank["waits_for"]["text"] == 'signal 3 of "scratch" >= 7'
        assert (rank["waits_for"]["kind"], rank["waits_for"]["index"], rank["waits_for"]["needs"]) == ("signal", 3, 7)
        assert rank["waits_for"]["seconds"] >= 0
    table = baton.run("ps").stdout.decode().splitlines()
    # HOST: where another job of this user is on several.
    assert [word for word in table[0].split() if word != "HOST"] == ["JOB", "RANK", "PID", "STATE", "WAITS", "FOR", "SINCE"]
    for rank, pid in pids.items():
        rows = [line for line in table if f" {pid} " in line]
        assert len(rows) == 1
        # Columns are as wide as other jobs need.
        assert rows[0].startswith(job["name"]) and 'waiting signal 3 of "scratch" >= 7' in " ".join(rows[0].split())
    os.kill(pids[0], signal.SIGSTOP)
    while our_job(baton, pids)["ranks"][0]["state"] != "stopped":
        pass
    os.kill(pids[0], signal.SIGCONT)
    process.terminate()
    finish(process)
    assert our_job(baton, pids) is None


def test_ps_shows_a_dead_rank_of_a_job_that_goes_on(baton, rank_program):
    process = baton.start("run", "-n", "3", "--grace", "1000s", rank_program, "pause")
    pids = pids_of(read_lines(process.stdout, 3))
    os.kill(pids[2], signal.SIGKILL)
    while our_job(baton, pids)["ranks"][2]["state"] != "dead: SIGKILL":
        pass
    states = [rank["state"] for rank in our_job(baton, pids)["ranks"]]
    assert states == ["running", "running", "dead: SIGKILL"]
    process.terminate()
    finish(process)


def test_a_job_without_a_launcher_is_listed_too(baton, rank_program):
    processes = []
    for rank in range(2):
        environment = {**baton.environment, "BATON_RANK": str(rank), "BATON_SIZE": "2", "BATON_JOB": "by-hand-" + baton.mark[-8:]}
        processes.append(subprocess.Popen([rank_program, "wait"], env=environment, stdout=subprocess.PIPE))
    pids = {rank: int(process.stdout.readline().split()[-1]) for rank, process in enumerate(processes)}
    job = wait_until_waiting(baton, pids, 2)
    assert job["name"].startswith("by-hand-")
    for process in processes:
        process.kill()
    for process in processes:
        process.wait(LIMIT)
        process.stdout.close()
    assert our_job(baton, pids) is None


def test_killed_baton_takes_a_joined_job_with_it(baton, rank_program):
    process = baton.start("run", "-n", "4", rank_program, "wait")
    pids = pids_of(read_lines(process.stdout, 4))
    there = baton.processes()
    process.kill()
    process.wait(LIMIT)
    wait_for_end(there)
    baton.assert_nothing_left()
    assert our_job(baton, pids) is None
