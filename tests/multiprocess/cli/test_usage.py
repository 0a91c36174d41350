"""What baton says to people who ask, and to those who err."""

import os
import re
import signal
import stat

import pytest

from conftest import sh


def test_help_shows_examples(baton):
    result = baton.run("--help")
    assert result.returncode == 0
    assert b"baton run -n 4 ./train" in result.stdout
    for command in (b"run", b"ps", b"doctor", b"version"):
        assert command in result.stdout


def test_help_of_run_shows_its_options(baton):
    result = baton.run("run", "--help")
    assert result.returncode == 0
    for text in (b"PROGRAM", b"--ranks", b"--devices", b"--timeout", b"--grace", b"--kill-after", b"--bind",
                 b"--no-prefix"):
        assert text in result.stdout


@pytest.mark.parametrize("command", ["", "run", "compile", "check", "explain", "tune", "completion", "trace"])
def test_help_says_what_options_take_in_words(baton, command):
    helped = baton.run(*command.split(), "--help").stdout.decode()
    assert not re.search(r"\b(REQUIRED|Positionals|SUBCOMMAND)\b", helped), helped
    for row in re.findall(r"^  \S.*", helped.partition("examples:")[0], re.MULTILINE):
        assert not re.search(r"\b(TEXT|INT)\b|[A-Z]=", row), row


def test_help_tells_choices_and_defaults(baton):
    assert re.search(r"--core vector\|cube\|aiv\|aic +What .* Default: vector\.", baton.run("compile", "--help").stdout.decode())
    assert "Default: 8,1KiB,8KiB," in baton.run("tune", "--help").stdout.decode()


@pytest.mark.parametrize("arguments", [["--version"], ["version"]])
def test_version(baton, arguments):
    result = baton.run(*arguments)
    assert result.returncode == 0
    lines = result.stdout.decode().splitlines()
    assert lines[0].startswith("baton ")
    assert [line.split()[0] for line in lines[1:]] == ["commit", "compiler", "platforms"]
    assert re.fullmatch(r"commit +([0-9a-f]{12}|unknown: .*)", lines[1])
    assert re.fullmatch(r"compiler +(GNU|Clang|AppleClang) [0-9.]+", lines[2])
    platforms = lines[3].split(maxsplit=1)[1].split(", ")
    assert "a2a3sim" in platforms and "torch" not in platforms  # libbaton_torch.so is not a platform


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "COMMAND is missing"),
        (["rum"], 'no command "rum"; do you mean run?'),
        (["run"], "PROGRAM is missing"),
        (["run", "-n", "2"], "PROGRAM is missing"),
        (["run", "-n", "2", "--"], "PROGRAM is missing"),
        (["run", "-n", "0", "true"], "--ranks"),
        (["run", "-n", "-3", "true"], "--ranks"),
        (["run", "-n", "two", "true"], "--ranks"),
        (["run", "-n", "1000000", "true"], "1000000"),
        (["run", "-n"], "--ranks"),
        (["run", "--bogus", "true"], '"--bogus"'),
        (["run", "--timeuot", "5s", "true"], "do you mean --timeout?"),
        (["run", "--hostfile", "no-such-file", "true"], 'there is no file of hosts "no-such-file"'),
        (["compile", "--core", "tensor", "x.cpp"], "tensor is not one of vector, cube, aiv, aic\n"),
        (["run", "-d", "0-", "true"], "0-"),
        (["run", "-d", "0,0", "true"], "0,0"),
        (["run", "-n", "3", "-d", "0-3", "true"], "4 devices"),
        (["run", "--timeout", "soon", "true"], "--timeout"),
        (["run", "--timeout", "0", "true"], "--timeout"),
        (["run", "--grace", "-1s", "true"], "--grace"),
        (["run", "--kill-after", "x", "true"], "--kill-after"),
        (["ps", "--bogus"], "--bogus"),
        (["ps", "something"], "something"),
        (["run", "-n", "", "true"], "--ranks has an empty value"),
        (["run", "-d", "", "true"], "--devices has an empty value"),
        (["run", "--timeout", "", "true"], "--timeout has an empty value"),
        (["compile", ""], "SOURCE has an empty value"),
        (["compile"], "no SOURCE is named"),
        (["tune", "-o", ""], "--output has an empty value"),
        (["tune", "--operations", "sum"], "there are barrier"),
        (["explain", "E036"], 'there is no error "E036"; do you mean BATON-E034 (in_flight)?'),
        (["explain", "99999999999"], "no error"),
        (["explain", "-5"], "-5"),
        (["explain", "wait_timout"], "do you mean BATON-E031 (wait_timeout)?"),
        (["explain", "E031", "E032"], "E032"),
    ],
)
def test_usage_errors(baton, arguments, words):
    result = baton.run(*arguments)
    assert result.returncode == 2
    assert result.stdout == b""
    assert result.stderr.startswith(b"baton: ")
    assert words in result.stderr.decode()


def test_a_program_that_is_not_there(baton):
    result = baton.run("run", "-n", "2", "no-such-program-here")
    assert result.returncode == 127
    assert b'"no-such-program-here"' in result.stderr and b"BATON-E040" in result.stderr


def test_a_folder_without_its_path(baton, tmp_path):
    (tmp_path / "trains").mkdir()
    result = baton.run("run", "trains", cwd=tmp_path)
    assert result.returncode == 127
    assert b"there is a folder of that name here" in result.stderr


def test_a_path_that_is_not_there(baton, tmp_path):
    result = baton.run("run", str(tmp_path / "nothing"))
    assert result.returncode == 127
    assert b"no such file" in result.stderr and b"try: Correct the path" in result.stderr


def test_a_mistyped_path_is_answered_with_the_nearest(baton, tmp_path):
    program = tmp_path / "train"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    result = baton.run("run", str(tmp_path / "trian"))
    assert result.returncode == 127
    assert f"  there is {program}\n" in result.stderr.decode()


@pytest.mark.parametrize("arguments", [["ps"], ["doctor"], ["--help"], ["run", "--help"], ["version"], ["man"]])
def test_a_reader_that_goes_away_is_no_error(baton, arguments):
    reader, writer = os.pipe()
    os.close(reader)
    for before in (None, lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)):
        result = baton.run(*arguments, stdout=writer, preexec_fn=before, restore_signals=before is None)
        assert result.returncode in (141, -signal.SIGPIPE)
        assert result.stderr == b""
    os.close(writer)


def test_output_that_cannot_be_written_is_an_error(baton):
    with open("/dev/full", "w") as full:
        result = baton.run("version", stdout=full)
    assert result.returncode == 1
    assert b"No space left on device" in result.stderr


def test_a_device_is_no_file_of_hosts(baton):
    result = baton.run("run", "--hostfile", "/dev/zero", "true")
    assert result.returncode == 2
    assert b"/dev/zero is a device, not a file of hosts" in result.stderr


def test_a_device_is_no_source(baton):
    result = baton.run("compile", "/dev/zero")
    assert result.returncode == 1
    assert b"/dev/zero is a device, not the source of a kernel" in result.stderr


def test_a_directory(baton, tmp_path):
    result = baton.run("run", "-n", "2", str(tmp_path))
    assert result.returncode == 127
    assert b"directory" in result.stderr


def test_a_file_that_is_not_executable(baton, tmp_path):
    file = tmp_path / "data"
    file.write_text("echo hello")
    result = baton.run("run", str(file))
    assert result.returncode == 127
    assert b"not executable" in result.stderr


def test_a_name_without_its_path_is_explained(baton, tmp_path):
    file = tmp_path / "unique-program-name"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    result = baton.run("run", "unique-program-name", cwd=tmp_path)
    assert result.returncode == 127
    assert b"./unique-program-name" in result.stderr


def test_the_program_is_found_through_path(baton, tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "tool").write_text("not executable")
    (tmp_path / "b" / "tool").write_text("#!/bin/sh\necho found")
    (tmp_path / "b" / "tool").chmod(0o755)
    path = f"{tmp_path}/a:{tmp_path}/b:{os.environ['PATH']}"
    result = baton.run("run", "tool", env={"PATH": path})
    assert result.stdout == b"[0] found\n"


def test_a_script_without_an_interpreter_line_is_run_by_the_shell(baton, tmp_path):
    file = tmp_path / "script"
    file.write_text('echo "$0" "$1"')
    file.chmod(0o755)
    result = baton.run("run", str(file), "argument")
    assert result.stdout.decode() == f"[0] {file} argument\n"


def test_a_program_whose_interpreter_is_missing(baton, tmp_path):
    file = tmp_path / "script"
    file.write_text("#!/no/such/interpreter\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    result = baton.run("run", "-n", "4", str(file))
    assert result.returncode == 127
    assert b"BATON-E040" in result.stderr
    baton.assert_nothing_left()


def test_what_follows_the_program_belongs_to_it(baton):
    result = baton.run("run", "-n", "1", "echo", "-n", "7", "--timeout", "--", "--help", "run")
    assert result.stdout == b"[0] 7 --timeout -- --help run\n"


def test_two_dashes_end_the_options(baton, tmp_path):
    file = tmp_path / "--odd"
    file.write_text("#!/bin/sh\necho odd $*")
    file.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    result = baton.run("run", "-n", "1", "--", "--odd", "--", "-n", "3", env={"PATH": path})
    assert result.stdout == b"[0] odd -- -n 3\n"


def test_devices_give_the_number_of_ranks(baton):
    for arguments in (["-d", "0-2"], ["-d", "5,7,1"], ["-n", "3", "-d", "0-2"]):
        result = baton.run("run", *arguments, *sh("echo $BATON_RANK of $BATON_SIZE"))
        assert sorted(result.stdout.splitlines()) == [b"[0] 0 of 3", b"[1] 1 of 3", b"[2] 2 of 3"]


def test_one_rank_is_the_default(baton):
    result = baton.run("run", *sh("echo $BATON_RANK of $BATON_SIZE"))
    assert result.stdout == b"[0] 0 of 1\n"


def test_each_job_has_a_name_of_its_own_and_hides_an_outer_one(baton):
    names = set()
    for _ in range(2):
        result = baton.run("run", "-n", "2", *sh("echo $BATON_JOB $BATON_LAUNCHER"), env={"BATON_JOB": "outer", "BATON_RANK": "9"})
        lines = {line[4:] for line in result.stdout.splitlines()}
        assert len(lines) == 1
        names |= lines
    assert len(names) == 2 and not any(b"outer" in name for name in names)


def test_a_folder_runs_its_main_with_what_follows(baton, tmp_path):
    (tmp_path / "main.py").write_text("import sys; print(sys.argv[1:]); sys.exit(7)")
    result = baton.run("run", str(tmp_path), "-p", "a5sim", "-d", "0-3")
    assert result.returncode == 7
    assert result.stdout == b"['-p', 'a5sim', '-d', '0-3']\n"


def test_a_folder_has_its_options_behind_its_name(baton, tmp_path):
    (tmp_path / "main.py").write_text("")
    result = baton.run("run", "-n", "2", str(tmp_path))
    assert result.returncode == 2
    assert b"starts its chips itself" in result.stderr
