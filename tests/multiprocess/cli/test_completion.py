"""Completions and the manual page: they know what --help knows."""

import re
import shutil
import subprocess

import pytest

from conftest import LIMIT

COMMANDS = ["run", "compile", "ps", "test", "tune", "bench", "doctor", "completion", "man", "version"]


def written(baton, *words):
    result = baton.run(*words)
    assert (result.returncode, result.stderr) == (0, b"")
    return result.stdout.decode()


def options_of(baton, command):
    """All long options that `baton COMMAND --help` shows in its first column."""
    return re.findall(r"^  (?:-\w,)?(--[\w-]+)", written(baton, command, "--help"), re.MULTILINE)


@pytest.mark.parametrize("words", [["completion", "bash"], ["completion", "zsh"], ["completion", "fish"], ["man"]])
def test_every_command_and_option_is_there(baton, words):
    text = written(baton, *words).replace("\\-", "-")
    for command in COMMANDS:
        assert command in text
    for command in ("run", "compile", "ps", "tune", "doctor"):
        for option in options_of(baton, command):
            spelled = f"-l {option[2:]}" if words[-1] == "fish" else option
            assert spelled in text, (command, option)
    assert "--results" not in text, "hidden options stay hidden"


def complete(baton, tmp_path, *words):
    """What bash offers for the last of `words`."""
    script = tmp_path / "baton.bash"
    script.write_text(written(baton, "completion", "bash"))
    quoted = " ".join(f"'{word}'" for word in words)
    program = (f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _baton; "
               "printf '%s\\n' \"${COMPREPLY[@]}\"")
    result = subprocess.run(["bash", "--norc", "-euc", program], cwd=tmp_path, capture_output=True, text=True,
                            timeout=LIMIT)
    assert (result.returncode, result.stderr) == (0, "")
    return set(result.stdout.split())


def test_bash_completes(baton, tmp_path):
    (tmp_path / "train.py").touch()
    (tmp_path / "folder").mkdir()
    assert complete(baton, tmp_path, "baton", "") >= set(COMMANDS) | {"--version", "--help"}
    assert complete(baton, tmp_path, "baton", "do") == {"doctor"}
    assert complete(baton, tmp_path, "baton", "run", "--ti") == {"--timeout"}
    assert complete(baton, tmp_path, "baton", "run", "-n", "") == set(), "a number is not a file"
    assert complete(baton, tmp_path, "baton", "run", "-n", "4", "tr") == {"train.py"}
    assert complete(baton, tmp_path, "baton", "compile", "--core", "") == {"vector", "cube", "aic", "aiv"}
    assert complete(baton, tmp_path, "baton", "compile", "-o", "") == {"folder"}
    assert complete(baton, tmp_path, "baton", "completion", "") == {"bash", "zsh", "fish"}


@pytest.mark.parametrize("shell, check", [("zsh", ["-n"]), ("fish", ["--no-execute"])])
def test_other_shells_can_read_theirs(baton, tmp_path, shell, check):
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    script = tmp_path / "script"
    script.write_text(written(baton, "completion", shell))
    subprocess.run([shell, *check, str(script)], check=True, timeout=LIMIT)


def test_the_manual_page_is_formatted_without_complaint(baton, tmp_path):
    if shutil.which("groff") is None:
        pytest.skip("there is no groff")
    page = written(baton, "man")
    result = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-K", "utf8"], input=page, capture_output=True, text=True,
                            timeout=LIMIT)
    assert (result.returncode, result.stderr) == (0, "")
    for text in ("NAME", "baton run", "--timeout TIME", "ENVIRONMENT", "BATON_WAIT_TIMEOUT"):
        assert text in re.sub(r"\x1b\[[0-9;]*m|.\x08", "", result.stdout).replace("‐", "-").replace("−", "-"), text


def test_an_unknown_shell_is_refused_with_those_there_are(baton):
    result = baton.run("completion", "tcsh")
    assert result.returncode == 2
    assert b"bash" in result.stderr and b"fish" in result.stderr
