"""How a job ends, and what baton says about it."""

import resource
import signal
import time

import pytest

from conftest import finish, python, sh


@pytest.mark.parametrize("code", [1, 3, 77, 255])
def test_the_exit_code_of_the_rank_that_failed(baton, code):
    result = baton.run("run", "-n", "3", *sh(f"[ $BATON_RANK != 1 ] || exit {code}"))
    assert result.returncode == code
    assert b"rank 1 (pid " in result.stderr and f"ended with exit code {code}".encode() in result.stderr
    assert result.stderr.count(b"BATON-E041") == 1


def test_success_says_nothing(baton):
    result = baton.run("run", "-n", "3", "true")
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")
    baton.assert_nothing_left()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
def test_a_rank_ended_by_a_signal(baton, number):
    result = baton.run("run", "-n", "3", *sh(f"ulimit -c 0; [ $BATON_RANK != 2 ] || kill -{number.value} $$; sleep 1000"))
    assert result.returncode == 128 + number
    report = result.stderr.decode()
    assert report.startswith("baton: rank 2 (pid ") and f"was ended by {number.name}" in report
    assert "ranks 0-1: ended because of it, by SIGTERM" in report
    baton.assert_nothing_left()


def test_the_first_failure_counts(baton, tmp_path):
    # Rank 0 fails after it has seen that rank 1 is gone.
    pid_file = tmp_path / "pid"
    source = f"""
if rank == 1:
    with open({str(pid_file)!r} + '.new', 'w') as f: f.write(str(os.getpid()))
    os.rename({str(pid_file)!r} + '.new', {str(pid_file)!r})
    os._exit(7)
import select
while not os.path.exists({str(pid_file)!r}): time.sleep(0.01)
try: select.select([os.pidfd_open(int(open({str(pid_file)!r}).read()))], [], [])
except ProcessLookupError: pass
os._exit(5)
"""
    result = baton.run("run", "-n", "2", "--grace", "60s", *python(source))
    assert result.returncode == 7
    assert b"rank 1 (pid" in result.stderr and b"rank 0: failed too, exit code 5" in result.stderr


def test_ranks_that_ended_well_are_told_apart(baton):
    source = """
if rank == 0: sys.exit(0)
if rank == 1: time.sleep(0.2); sys.exit(9)
time.sleep(1000)
"""
    result = baton.run("run", "-n", "3", *python(source))
    assert result.returncode == 9
    report = result.stderr.decode()
    assert "rank 2: ended because of it" in report
    assert "rank 0: ended well" in report


def test_grace_lets_the_others_say_what_they_saw(baton, tmp_path):
    flag = tmp_path / "flag"
    source = f"""
if rank == 1: sys.exit(4)
while not os.path.exists({str(flag)!r}): time.sleep(0.01)
print('farewell')
"""
    process = baton.start("run", "-n", "2", "--grace", "100s", *python(source))
    deadline = time.monotonic() + 60
    while len(baton.processes()) != 3 and time.monotonic() < deadline:  # baton, its keeper and rank 0
        time.sleep(0.01)
    flag.touch()
    code, out, err = finish(process)
    assert code == 4
    assert out == "[0] farewell\n"
    assert "rank 0: ended well" in err


def test_a_rank_that_ignores_sigterm_is_killed(baton):
    source = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('ready')
if rank == 0:
    time.sleep(0.3); sys.exit(3)
while True: time.sleep(1000)
"""
    result = baton.run("run", "-n", "2", "--grace", "0", "--kill-after", "500ms", *python(source))
    assert result.returncode == 3
    assert b"rank 1: did not end within 500 ms of SIGTERM, ended by SIGKILL" in result.stderr
    baton.assert_nothing_left()


def test_a_rank_that_tidies_up_at_sigterm(baton, tmp_path):
    source = """
signal.signal(signal.SIGTERM, lambda *_: (print('tidy'), sys.exit(6)))
caught = catch_signals()
open(os.environ['DIR'] + f'/{rank}', 'w').close()
if rank == 0:
    while not os.path.exists(os.environ['DIR'] + '/1'): time.sleep(0.01)
    sys.exit(3)
handle_signals(caught)
"""
    result = baton.run("run", "-n", "2", "--kill-after", "100s", *python(source), env={"DIR": str(tmp_path)})
    assert result.returncode == 3
    assert b"[1] tidy" in result.stdout
    assert b"rank 1: asked to end because of it, exit code 6" in result.stderr


def test_stopped_ranks_are_ended_too(baton):
    result = baton.run("run", "-n", "2", "--grace", "200ms", *sh("[ $BATON_RANK = 0 ] && sleep 0.2 && exit 3; kill -STOP $$"))
    assert result.returncode == 3
    assert b"rank 1: ended because of it, by SIGTERM" in result.stderr


def test_timeout(baton):
    started = time.monotonic()
    result = baton.run("run", "-n", "3", "--timeout", "500ms", *sh("[ $BATON_RANK = 1 ] || exec sleep 1000"))
    assert result.returncode == 124
    report = result.stderr.decode()
    assert report.startswith("baton: the job did not end within 500 ms")
    assert "ranks 0,2: running, has not joined" in report and "rank 1: ended, exit code 0" in report
    assert report.count("BATON-E042") == 1
    assert time.monotonic() - started >= 0.5
    baton.assert_nothing_left()


def test_a_job_within_its_timeout(baton):
    result = baton.run("run", "-n", "3", "--timeout", "100s", "true")
    assert (result.returncode, result.stderr) == (0, b"")


def test_grandchildren_end_with_the_job(baton):
    # One in the rank's process group, one in a session of its own; both keep the pipe open.
    script = "sleep 1000 & setsid sleep 1001 & echo started"
    result = baton.run("run", "-n", "3", *sh(script))
    assert result.returncode == 0
    assert sorted(result.stdout.splitlines()) == [b"[0] started", b"[1] started", b"[2] started"]
    baton.assert_nothing_left()


def test_orphans_are_reaped_while_the_job_runs(baton):
    source = """
import subprocess
for _ in range(50): subprocess.run(['sh', '-c', 'true & exit 0'])
children = open(f'/proc/{os.getppid()}/task/{os.getppid()}/children').read().split()
deadline = time.monotonic() + 60
while len(children) > 2 and time.monotonic() < deadline:
    time.sleep(0.01)
    children = open(f'/proc/{os.getppid()}/task/{os.getppid()}/children').read().split()
print(len(children))
"""
    result = baton.run("run", "-n", "1", *python(source))
    assert result.stdout == b"[0] 2\n"  # the rank and the keeper


def test_many_ranks(baton):
    result = baton.run("run", "-n", "200", *sh("echo $BATON_RANK"))
    assert result.returncode == 0
    assert sorted(result.stdout.decode().splitlines()) == sorted(f"[{r:>3}] {r}" for r in range(200))
    baton.assert_nothing_left()


def test_too_few_files_is_an_error_that_leaves_nothing(baton):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))

    result = baton.run("run", "-n", "64", "sleep", "1000", preexec_fn=limit)
    assert result.returncode == 127
    assert b"of 64 could not be started" in result.stderr and b"ulimit -n" in result.stderr
    baton.assert_nothing_left()


def test_ranks_keep_the_limit_of_open_files(baton):
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, 2000))

    result = baton.run("run", "-n", "2", *sh("ulimit -Sn"), preexec_fn=limit)
    assert sorted(result.stdout.splitlines()) == [b"[0] 100", b"[1] 100"]


def test_ranks_inherit_no_descriptors_of_baton(baton):
    result = baton.run("run", "-n", "1", "ls", "/proc/self/fd")
    assert result.stdout.split() == [b"[0]", b"0", b"[0]", b"1", b"[0]", b"2", b"[0]", b"3"]  # 3 is the folder itself


def test_a_caller_that_ignores_sigchld_and_blocks_signals(baton):
    def before():
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])

    result = baton.run("run", "-n", "2", *sh("exit $BATON_RANK"), preexec_fn=before)
    assert result.returncode == 1


def test_a_job_inside_a_job(baton):
    result = baton.run("run", "-n", "2", baton.path, "run", "-n", "2", *sh("echo $BATON_RANK; exit $BATON_RANK"))
    assert result.returncode == 1
    assert b"[0] [1] 1" in result.stdout
    baton.assert_nothing_left()
