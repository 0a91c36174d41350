"""Races: baton.check() and pytest --baton-check."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

import baton


def hand_over(me, ordered):
    x = me.window("x", 4, "int32")
    if me.rank == 0:
        x.put(1, 7)
    if ordered:
        me.barrier()
    if me.rank == 1:
        assert x.get(1, count=1)[0] in (0, 7)
    me.barrier()


def test_what_is_ordered_passes():
    with baton.check():
        baton.run_ranks(2, lambda me: hand_over(me, True))


def test_what_races_is_an_error_that_names_both_accesses():
    with pytest.raises(baton.RaceError) as told:
        with baton.check():
            baton.run_ranks(2, lambda me: hand_over(me, False))
    [race] = told.value.races
    assert 'race on bytes 0 to 3 of rank 1\'s part of "x"' in race
    first = hand_over.__code__.co_firstlineno
    assert f"rank 0 writes: put at {__file__}:{first + 3}\n" in race, race
    assert f"rank 1 reads: get at {__file__}:{first + 7}\n" in race, race
    with baton.check():  # and another one can follow
        baton.run_ranks(2, lambda me: hand_over(me, True))


def test_nothing_is_left_of_a_program_that_was_killed(tmp_path):
    program = "import baton, os, signal\nbaton.check().__enter__()\nos.kill(os.getpid(), signal.SIGKILL)"
    ended = subprocess.run([sys.executable, "-c", program], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert os.listdir(tmp_path) == []


def test_an_error_inside_stays_what_it_is():
    with pytest.raises(ZeroDivisionError):
        with baton.check():
            baton.run_ranks(2, lambda me: hand_over(me, False))
            1 / 0  # noqa: B018
    with baton.check():
        pass


def test_pytest_fails_tests_that_race(tmp_path):
    (tmp_path / "test_two.py").write_text(textwrap.dedent("""
        import baton

        def hand_over(me, ordered):
            x = me.window("x", 4, "int32")
            if me.rank == 0:
                x.put(1, 7)
            if ordered:
                me.barrier()
            if me.rank == 1:
                x.get(1, count=1)
            me.barrier()

        def test_ordered():
            baton.run_ranks(2, lambda me: hand_over(me, True))

        def test_racy():
            baton.run_ranks(2, lambda me: hand_over(me, False))
    """))

    def run(*options):
        from baton.runner.collect import plugin_arguments
        return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin_arguments(), *options,
                               str(tmp_path)], capture_output=True, text=True, timeout=120, cwd=tmp_path)

    assert run().returncode == 0
    checked = run("--baton-check")
    assert checked.returncode == 1, checked.stdout
    assert "race on bytes 0 to 3 of rank 1's part of" in checked.stdout
    assert "test_racy" in checked.stdout and "2 passed, 1 error" in checked.stdout
