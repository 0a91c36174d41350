"""Signals that reach baton reach the ranks."""

import os
import signal

import pytest

from conftest import LIMIT, finish, python, read_lines, sh


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGUSR2, signal.SIGHUP, signal.SIGTERM, signal.SIGINT, signal.SIGQUIT])
def test_a_signal_reaches_all_ranks(baton, number):
    source = f"""
signal.signal({number.value}, lambda *_: (print('got it'), sys.exit(0)))
caught = catch_signals()
print('ready')
handle_signals(caught)
"""
    process = baton.start("run", "-n", "3", *python(source))
    read_lines(process.stdout, 3)
    process.send_signal(number)
    code, out, _ = finish(process)
    assert code == 0
    assert sorted(out.splitlines()) == ["[0] got it", "[1] got it", "[2] got it"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ranks_that_a_signal_ends_are_no_failure_to_report(baton, number):
    process = baton.start("run", "-n", "2", *sh("echo ready; exec sleep 1000"))
    read_lines(process.stdout, 2)
    process.send_signal(number)
    code, _, err = finish(process)
    assert code == 128 + number
    assert "BATON-E" not in err
    baton.assert_nothing_left()


def test_a_second_sigint_kills_at_once(baton):
    source = """
signal.signal(signal.SIGINT, lambda *_: print('not yet'))
signal.signal(signal.SIGTERM, signal.SIG_IGN)
caught = catch_signals()
print('ready')
handle_signals(caught)
"""
    process = baton.start("run", "-n", "2", "--grace", "1000s", "--kill-after", "1000s", *python(source))
    read_lines(process.stdout, 2)
    process.send_signal(signal.SIGINT)
    assert sorted(read_lines(process.stdout, 2)) == ["[0] not yet\n", "[1] not yet\n"]
    process.send_signal(signal.SIGINT)
    code, _, _ = finish(process)
    assert code == 128 + signal.SIGKILL
    baton.assert_nothing_left()


def test_a_second_sigint_does_not_wait_for_a_reader(baton):
    process = baton.start("run", "-n", "2", *sh("trap '' INT TERM; while :; do echo yyyyyyyyyyyyyyyyyyyyy; done"), bufsize=0)
    heard = b""
    while b"[0]" not in heard or b"[1]" not in heard:  # a rank that writes has set its trap
        heard = heard[-4096:] + process.stdout.read(4096)
    process.send_signal(signal.SIGINT)
    while is_pending(process.pid, signal.SIGINT):  # a second one that comes meanwhile would not count
        pass
    process.send_signal(signal.SIGINT)
    assert process.wait(LIMIT) == 128 + signal.SIGKILL
    baton.assert_nothing_left()


def is_pending(pid, number):
    with open(f"/proc/{pid}/status") as file:
        pending = next(line for line in file if line.startswith("ShdPnd"))
    return int(pending.split()[1], 16) & (1 << (number - 1)) != 0


def state_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def test_stop_and_continue(baton):
    source = """
signal.signal(signal.SIGCONT, lambda *_: print('on it goes'))
caught = catch_signals()
print(os.getpid())
handle_signals(caught)
"""
    process = baton.start("run", "-n", "2", "--timeout", "1000s", *python(source))
    ranks = [int(line.split()[1]) for line in read_lines(process.stdout, 2)]
    process.send_signal(signal.SIGTSTP)
    pid, status = os.waitpid(process.pid, os.WUNTRACED)
    assert pid == process.pid and os.WIFSTOPPED(status)
    # Sent before baton stopped; acted on by the ranks in their own time.
    for rank in ranks:
        while state_of(rank) != "T":
            pass
    process.send_signal(signal.SIGCONT)
    assert sorted(read_lines(process.stdout, 2)) == ["[0] on it goes\n", "[1] on it goes\n"]
    process.terminate()
    code, _, _ = finish(process)
    assert code == 128 + signal.SIGTERM


def test_ranks_are_process_groups_of_their_own(baton):
    result = baton.run("run", "-n", "3", *python("print(os.getpid() == os.getpgrp())"))
    assert sorted(result.stdout.splitlines()) == [b"[0] True", b"[1] True", b"[2] True"]


def test_ranks_have_the_signals_of_their_caller(baton):
    source = "print(signal.pthread_sigmask(signal.SIG_BLOCK, []) == set(), signal.getsignal(signal.SIGCHLD) == signal.SIG_DFL)"
    assert baton.run("run", *python(source)).stdout == b"[0] True True\n"
    # Python itself ignores SIGPIPE; the shell tells what it was given.
    shown = baton.run("run", "grep", "SigIgn", "/proc/self/status").stdout
    assert int(shown.split()[-1], 16) & (1 << (signal.SIGPIPE - 1)) == 0
