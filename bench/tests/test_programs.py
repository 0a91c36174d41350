"""Running one program: its line, its failures, its end."""

import os
import time

import pytest

from harness.programs import Command, ProgramFailed, run


def test_reads_the_line_among_others(script):
    path = script("program", """echo hello; echo '{"median_ns": 12.5, "count": 4}'""")
    sample = run(Command((path,)))
    assert (sample.value, sample.count) == (12.5, 4)


def test_reads_bytes(script):
    assert run(Command((script("program", """echo '{"bytes": 4096, "count": 2}'"""),))).value == 4096


def test_counts_from_its_own_start_when_a_program_only_knows_when_it_was_ready(script):
    clock = "import json, time; print(json.dumps({'count': 1, 'ready_at_ns': time.monotonic_ns()}))"
    path = script("program", f'sleep 0.05; python3 -c "{clock}"')
    before = time.monotonic_ns()
    sample = run(Command((path,)))
    assert 50e6 <= sample.value <= time.monotonic_ns() - before


def test_gives_every_process_its_environment_and_reads_the_one_that_reports(script):
    path = script("program", """[ "$RANK" = 1 ] && echo "{\\"median_ns\\": $VALUE, \\"count\\": 1}"; true""")
    environments = ({"RANK": "0", "VALUE": "7"}, {"RANK": "1", "VALUE": "8"})
    assert run(Command((path,), environments)).value == 8


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("echo 'a wrong byte' >&2; exit 3", "exit status 3: a wrong byte"),
        ("true", "printed no result"),
        ("""echo '{"median_ns": 1'""", "cannot read"),
        ("""echo '{"median_ns": 0, "count": 1}'""", "reported 0.0 for 1"),
    ],
)
def test_says_why_there_is_no_number(script, body, message):
    with pytest.raises(ProgramFailed, match=message):
        run(Command((script("program", body),)))


def test_of_a_traceback_the_exception_is_told(script):
    body = """cat >&2 <<END
Process Process-1:
Traceback (most recent call last):
  File "measure.py", line 3, in <module>
    import baton
ModuleNotFoundError: No module named 'baton'
Traceback (most recent call last):
  File "measure.py", line 9, in <module>
SystemExit: no rank 0 reported
END
exit 1"""
    with pytest.raises(ProgramFailed, match="^exit status 1: ModuleNotFoundError: No module named 'baton'$"):
        run(Command((script("program", body),)))


def test_a_missing_program_is_a_failure(tmp_path):
    with pytest.raises(ProgramFailed, match="No such file"):
        run(Command((str(tmp_path / "missing"),)))


def test_a_program_that_hangs_is_ended_with_what_it_started(script, tmp_path):
    path = script("program", f"sleep 600 & echo $! > {tmp_path}/child; wait")
    with pytest.raises(ProgramFailed, match="longer than 0.5 s"):
        run(Command((path,), limit_s=0.5))
    child = int((tmp_path / "child").read_text())
    for _ in range(500):
        if not _runs(child):
            return
        time.sleep(0.01)
    pytest.fail(f"process {child} still runs")


def test_a_rank_that_fails_ends_the_others(script, tmp_path):
    # Renamed, so that the file has the number or is not there: the rank may be ended anywhere.
    other = f"echo $$ > {tmp_path}/new; mv {tmp_path}/new {tmp_path}/other; exec sleep 600"
    path = script("program", f'[ "$RANK" = 0 ] && exit 1; {other}')
    with pytest.raises(ProgramFailed, match="exit status 1"):
        run(Command((path,), ({"RANK": "0"}, {"RANK": "1"}), limit_s=60))
    if (tmp_path / "other").exists():
        assert not _runs(int((tmp_path / "other").read_text()))


def _runs(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_environment_of_the_harness_stays_as_it_is(script):
    run(Command((script("program", """echo '{"median_ns": 1, "count": 1}'"""),), ({"BENCH_ONLY_THERE": "1"},)))
    assert "BENCH_ONLY_THERE" not in os.environ
