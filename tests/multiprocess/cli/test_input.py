"""Standard input goes to rank 0."""

import fcntl
import os
import pty
import subprocess
import termios

from conftest import LIMIT, finish, python, read_lines


def test_rank_0_reads_the_others_read_nothing(baton):
    result = baton.run("run", "-n", "3", *python("print(len(sys.stdin.buffer.read()))"), input=b"x" * 300_000)
    assert sorted(result.stdout.splitlines()) == [b"[0] 300000", b"[1] 0", b"[2] 0"]


def test_a_file(baton, tmp_path):
    (tmp_path / "input").write_text("content\n")
    with open(tmp_path / "input", "rb") as file:
        result = baton.run("run", "-n", "2", "cat", stdin=file)
    assert result.stdout == b"[0] content\n"


def test_an_end_of_input_that_does_not_come_is_no_hindrance(baton):
    process = baton.start("run", "-n", "2", "true", stdin=subprocess.PIPE)
    assert process.wait(LIMIT) == 0


def take_terminal(fd):
    """Makes it the terminal of a session of its own, as a terminal's window does."""
    os.setsid()
    fcntl.ioctl(fd, termios.TIOCSCTTY, 0)


def test_a_terminal(baton):
    ours, theirs = pty.openpty()
    source = "print(sys.stdin.readline().strip() if rank == 0 else 'nothing')\nprint(sys.stdin.readline() == '')"
    process = baton.start("run", "-n", "2", *python(source), stdin=theirs, preexec_fn=lambda: take_terminal(theirs))
    os.write(ours, b"typed\n")
    first = read_lines(process.stdout, 3)
    os.write(ours, b"\x04")  # the end of the input
    code, rest, _ = finish(process)
    os.close(ours)
    os.close(theirs)
    assert code == 0
    assert sorted([*first, *rest.splitlines(True)]) == ["[0] True\n", "[0] typed\n", "[1] True\n", "[1] nothing\n"]


def test_ctrl_c_on_a_terminal_reaches_the_ranks(baton):
    ours, theirs = pty.openpty()
    source = """
signal.signal(signal.SIGINT, lambda *_: (print('interrupted'), sys.exit(0)))
caught = catch_signals()
print('ready')
handle_signals(caught)
"""
    process = baton.start("run", "-n", "2", *python(source), stdin=theirs, preexec_fn=lambda: take_terminal(theirs))
    read_lines(process.stdout, 2)
    os.write(ours, b"\x03")
    code, out, _ = finish(process)
    os.close(ours)
    os.close(theirs)
    assert code == 0
    assert sorted(out.splitlines()) == ["[0] interrupted", "[1] interrupted"]
