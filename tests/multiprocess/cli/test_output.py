"""Output of many ranks becomes one: whole lines, nothing lost, nothing reordered within a rank."""

import fcntl
import os
import pty
import re
import select
import socket

import pytest

from conftest import LIMIT, python, sh


def by_rank(output):
    """rank -> its lines, without the prefix. Fails on a line that has none."""
    lines = {}
    for line in output.decode().splitlines():
        match = re.fullmatch(r"\[ *(\d+)\] (.*)", line)
        assert match, line[:200]
        lines.setdefault(int(match[1]), []).append(match[2])
    return lines


def test_lines_under_load(baton):
    # In writes of odd sizes, so that lines arrive in pieces.
    source = """
text = ''.join(f'{rank} line {i} ' + 'x' * (i * 7 % 90) + ' end\\n' for i in range(20000)).encode()
at, step = 0, 1
while at < len(text):
    step = step * 5 % 4093 + 1
    at += os.write(1, text[at:at + step])
"""
    result = baton.run("run", "-n", "8", *python(source))
    assert result.returncode == 0
    lines = by_rank(result.stdout)
    assert sorted(lines) == list(range(8))
    for rank, got in lines.items():
        assert got == [f"{rank} line {i} " + "x" * (i * 7 % 90) + " end" for i in range(20000)]


def test_standard_error_stays_standard_error(baton):
    source = """
for i in range(3000):
    print('out', i)
    print('err', i, file=sys.stderr)
"""
    result = baton.run("run", "-n", "3", *python(source))
    for word, stream in (("out", result.stdout), ("err", result.stderr)):
        assert by_rank(stream) == {rank: [f"{word} {i}" for i in range(3000)] for rank in range(3)}


def test_both_into_one_file_tear_no_line(baton, tmp_path):
    source = """
for i in range(3000):
    os.write(1, b'o' * 40); os.write(2, b'e' * 40); os.write(1, b'o' * 40 + b'\\n'); os.write(2, b'e' * 40 + b'\\n')
"""
    with open(tmp_path / "log", "wb") as log:
        assert baton.run("run", "-n", "3", *python(source), stdout=log, stderr=log).returncode == 0
    for lines in by_rank((tmp_path / "log").read_bytes()).values():
        assert sorted(lines) == ["e" * 80] * 3000 + ["o" * 80] * 3000


def test_appending_to_a_file_overwrites_nothing(baton, tmp_path):
    (tmp_path / "log").write_text("before\n")
    with open(tmp_path / "log", "ab") as log:
        baton.run("run", "-n", "2", "echo", "after", stdout=log)
    assert sorted((tmp_path / "log").read_text().splitlines()) == ["[0] after", "[1] after", "before"]


def test_a_line_of_5_megabytes_among_others(baton):
    source = """
if rank == 1:
    text = b'<' + b'x' * 5_000_000 + b'>\\n'
    while text: text = text[os.write(1, text):]
    print('short')
else:
    for i in range(20000): print('line', i)
"""
    result = baton.run("run", "-n", "3", *python(source))
    lines = by_rank(result.stdout)
    assert lines[1] == ["<" + "x" * 5_000_000 + ">", "short"]
    for rank in (0, 2):
        assert lines[rank] == [f"line {i}" for i in range(20000)]


def test_long_lines_of_all_ranks_at_once(baton):
    source = """
for i in range(3):
    text = str(rank).encode() * 300_000 + b'\\n'
    while text: text = text[os.write(1, text):]
"""
    lines = by_rank(baton.run("run", "-n", "4", *python(source)).stdout)
    assert lines == {rank: [str(rank) * 300_000] * 3 for rank in range(4)}


def test_a_pause_inside_a_long_line_does_not_block_the_others(baton, tmp_path):
    # Rank 0 ends its line only when rank 1 has written more than a pipe holds.
    source = """
path = os.environ['FLAG']
if rank == 0:
    text = b'a' * 200_000
    while text: text = text[os.write(1, text):]
    open(path + '0', 'w').close()
    while not os.path.exists(path + '1'): time.sleep(0.01)
    print('b')
else:
    while not os.path.exists(path + '0'): time.sleep(0.01)
    for i in range(20000): print('line', i)
    open(path + '1', 'w').close()
"""
    result = baton.run("run", "-n", "2", *python(source), env={"FLAG": f"{tmp_path}/"})
    lines = by_rank(result.stdout)
    assert "".join(lines[0]) == "a" * 200_000 + "b"
    assert lines[1] == [f"line {i}" for i in range(20000)]


def test_a_last_line_without_a_newline_gets_one(baton):
    result = baton.run("run", "-n", "3", "printf", "one\\ntwo")
    assert by_rank(result.stdout) == {rank: ["one", "two"] for rank in range(3)}
    assert result.stdout.endswith(b"\n")


def test_a_long_last_line_without_a_newline_gets_one(baton):
    result = baton.run("run", "-n", "2", *python("sys.stdout.write(str(rank) * 150_000)"))
    assert by_rank(result.stdout) == {rank: [str(rank) * 150_000] for rank in range(2)}
    assert result.stdout.endswith(b"\n")


def test_prefixes_are_aligned(baton):
    result = baton.run("run", "-n", "11", "echo", "x")
    assert sorted(result.stdout.splitlines()) == sorted([b"[%2d] x" % rank for rank in range(11)])


def test_empty_lines_and_bytes_of_any_value(baton):
    data = bytes(range(256)) * 3 + b"\n\n\n" + b"\0" * 10
    source = f"os.write(1, {data!r})"
    result = baton.run("run", "-n", "1", *python(source))
    expected = b"".join(b"[0] " + line + b"\n" for line in data.split(b"\n"))
    assert result.stdout == expected


def test_no_prefix(baton):
    result = baton.run("run", "-n", "3", "--no-prefix", *python("print('rank', rank); sys.stdout.write('rest')"))
    assert sorted(result.stdout.splitlines()) == [b"rank 0", b"rank 1", b"rank 2", b"rest", b"rest", b"rest"]


def test_one_rank_without_prefix_passes_every_byte_as_it_is(baton):
    data = os.urandom(300_000)
    result = baton.run("run", "--no-prefix", *python("data = sys.stdin.buffer.read(); sys.stdout.buffer.write(data)"), input=data)
    assert result.stdout == data


def test_a_slow_reader_loses_nothing_and_slows_the_ranks(baton):
    # Each rank tells on standard error how far it has come.
    source = """
line = b'x' * 99 + b'\\n'
for i in range(1, 50001):
    os.write(1, line)
    if i % 5000 == 0: os.write(2, f'{i}\\n'.encode())
"""
    process = baton.start("run", "-n", "2", *python(source), bufsize=0)
    # 10 MB are on their way, and nobody reads: pipes and queues hold far less, so the ranks must stand still.
    told = b""
    while select.select([process.stderr], [], [], 1)[0]:
        told += os.read(process.stderr.fileno(), 65536)
    assert b"50000" not in told
    out, _ = process.communicate(timeout=LIMIT)
    assert process.returncode == 0
    assert by_rank(out) == {rank: ["x" * 99] * 50000 for rank in range(2)}


def test_memory_stays_bounded_while_nobody_reads(baton):
    process = baton.start("run", "-n", "4", *python("while True: os.write(1, b'y' * 4096)"), bufsize=0)
    assert select.select([process.stdout], [], [], LIMIT)[0]
    for _ in range(2000):  # 128 MB of a single line per rank
        os.read(process.stdout.fileno(), 65536)
    with open(f"/proc/{process.pid}/statm") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    process.terminate()
    process.communicate(timeout=LIMIT)
    if not os.environ.get("BATON_TEST_BUILD"):  # sanitizers keep more
        assert resident < 64 * 1024 * 1024


@pytest.mark.parametrize("ranks", ["1", "3"])
def test_a_reader_that_goes_away_ends_the_job_quietly(baton, ranks):
    process = baton.start("run", "-n", ranks, "yes", bufsize=0)
    process.stdout.read(4)
    process.stdout.close()
    assert process.wait(LIMIT) == 141
    assert process.stderr.read() == b""
    baton.assert_nothing_left()


def test_a_reader_that_goes_away_ends_ranks_that_write_no_more(baton):
    process = baton.start("run", "-n", "2", *python("print('x' * 100)\nif rank: time.sleep(1000)\nwhile True: print('x')"))
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(LIMIT) == 141
    baton.assert_nothing_left()


def test_a_full_disk_is_an_error(baton):
    with open("/dev/full", "wb") as full:
        result = baton.run("run", "-n", "2", *sh("echo hello; exec sleep 1000"), stdout=full)
    assert result.returncode == 1
    assert b"ENOSPC" in result.stderr
    baton.assert_nothing_left()


def test_output_into_a_socket(baton):
    ours, theirs = socket.socketpair()
    process = baton.start("run", "-n", "2", *python("for i in range(20000): print('line', i)"), stdout=theirs)
    theirs.close()
    received = b""
    while chunk := ours.recv(65536):
        received += chunk
    ours.close()
    assert process.wait(LIMIT) == 0
    assert by_rank(received) == {rank: [f"line {i}" for i in range(20000)] for rank in range(2)}


def test_closed_standard_files(baton):
    result = baton.run("run", "-n", "2", *sh("echo out; echo err >&2; cat"), preexec_fn=lambda: os.closerange(0, 3))
    assert result.returncode == 0


def test_the_flags_of_the_output_are_left_alone(baton):
    read_end, write_end = os.pipe()
    before = fcntl.fcntl(write_end, fcntl.F_GETFL)
    process = baton.start("run", "-n", "2", *sh("echo ready; exec sleep 1000"), stdout=write_end)
    os.read(read_end, 4)
    assert fcntl.fcntl(write_end, fcntl.F_GETFL) == before
    process.terminate()
    process.wait(LIMIT)
    os.close(read_end)
    os.close(write_end)


def on_terminal(baton, environment, *arguments):
    """What baton writes if its standard output is a terminal."""
    ours, theirs = pty.openpty()
    process = baton.start(*arguments, stdout=theirs, env=environment)
    os.close(theirs)
    received = b""
    try:
        while chunk := os.read(ours, 65536):
            received += chunk
    except OSError:  # the terminal ends with its last user
        pass
    os.close(ours)
    assert process.wait(LIMIT) == 0
    return received


def test_color_on_a_terminal_only(baton):
    terminal = {"TERM": "xterm"}
    assert b"\x1b[" in on_terminal(baton, terminal, "run", "-n", "2", "echo", "x")
    assert b"\x1b[" not in on_terminal(baton, {**terminal, "NO_COLOR": "1"}, "run", "-n", "2", "echo", "x")
    assert b"\x1b[" not in on_terminal(baton, {"TERM": "dumb"}, "run", "-n", "2", "echo", "x")
    assert b"\x1b[" not in baton.run("run", "-n", "2", "echo", "x", env=terminal).stdout


def test_much_output_on_a_terminal(baton):
    out = on_terminal(baton, {"TERM": "dumb"}, "run", "-n", "3", *python("for i in range(5000): print('line', i)"))
    assert by_rank(out.replace(b"\r\n", b"\n")) == {rank: [f"line {i}" for i in range(5000)] for rank in range(3)}


def test_a_rank_that_never_stops_writing_does_not_silence_the_others(baton):
    process = baton.start("run", "-n", "3", "sh", "-c", "exec yes", bufsize=0)
    lines = {"[0] y": 0, "[1] y": 0, "[2] y": 0}
    rest = b""
    for _ in range(400):
        *whole, rest = (rest + os.read(process.stdout.fileno(), 65536)).split(b"\n")
        for line in whole:
            lines[line.decode()] += 1
    process.kill()
    process.wait(30)
    assert min(lines.values()) * 10 > max(lines.values()), lines
