"""Chip programs, predicates and captured graphs as parts of others."""

import os
import subprocess
import sys

import numpy as np
import pytest

import baton
from conftest import HERE

SOURCES = HERE.parent / "unit" / "orchestration" / "sources"
NAMES = {0: "add", 1: "scale", 2: "increase", 3: "mark_block"}


@pytest.fixture(scope="session")
def parts():
    kernels = baton.kernels(SOURCES / "kernels.cpp")
    numbered = {number: kernels[name] for number, name in NAMES.items()}
    numbered[14] = (kernels.library, "cube", "increase")
    return {file: baton.kernels(SOURCES / f"{file}.cpp", orchestration=True) for file in ("tasks", "errors")}, numbered


def bits(value):
    return int(np.float32(value).view("u4"))


@pytest.mark.parametrize("building", ["stream", "captured"])
@pytest.mark.parametrize("platform", ["a2a3sim", "a5sim"])
def test_a_program_runs_on_a_chip(parts, platform, building):
    libraries, kernels = parts
    program = baton.ChipProgram(libraries["tasks"], kernels, building=building)
    a, b, y = np.arange(4, dtype="f4"), np.full(4, 10, dtype="f4"), np.zeros(4, dtype="f4")
    with baton.Chip(platform, clusters=2) as chip:
        chip.run(program, a, b, y, bits(3))
    assert list(y) == [40, 44, 48, 52]


def test_a_program_runs_on_the_chips_of_a_node(parts):
    libraries, kernels = parts
    program = baton.ChipProgram(libraries["tasks"].library, list(kernels.items()), entry="halves", building="captured")
    with baton.Worker(devices="0-1", clusters=2) as node:
        xs = [node.tensor(np.full(4, chip, dtype="f4")) for chip in range(2)]

        def orchestration(o):
            for chip, x in enumerate(xs):
                o.submit_next_level(program, [baton.INOUT(x)], worker=chip)

        node.run(orchestration)
        assert [list(np.asarray(x)) for x in xs] == [[11, 11, 21, 21], [12, 12, 22, 22]]


def test_what_a_program_reports_is_an_error_with_its_number(chip, parts, capfd):
    libraries, kernels = parts
    program = baton.ChipProgram(libraries["errors"], kernels, entry="reported")
    with pytest.raises(baton.Error, match="run failed with code -9: 1 tensors are wrong") as raised:
        chip.run(program, np.zeros(4, dtype="f4"))
    assert raised.value.code == baton.Code.orchestration_failed
    printed = capfd.readouterr().err
    for part in ("orch_error_code=9", "PTO2_ERROR_EXPLICIT_ORCH_FATAL", "error detail:", "error hint:", "errors.cpp:"):
        assert part in printed


def test_what_a_program_reports_comes_from_the_chips_of_a_node(parts):
    libraries, kernels = parts
    program = baton.ChipProgram(libraries["errors"], kernels, entry="too_many_together")
    with baton.Worker(devices="0", clusters=2) as node:
        x = node.tensor(np.zeros(4, dtype="f4"))
        with pytest.raises(baton.Error, match="run failed with code -7"):
            node.run(lambda o: o.submit_next_level(program, [baton.INOUT(x)], worker=0))


def test_a_program_that_lacks_something_is_not_made(parts):
    libraries, kernels = parts
    with pytest.raises(baton.Error, match="no orchestration"):
        baton.ChipProgram(libraries["tasks"], kernels, entry="nothing_like_it")
    with pytest.raises(ValueError, match="building"):
        baton.ChipProgram(libraries["tasks"], kernels, building="later")


def test_a_predicate_decides_whether_a_task_runs(chip, ops):
    flags, x = np.array([0, 5], dtype="i4"), np.zeros(2, dtype="i4")

    def orchestration(g):
        for i in range(2):
            g.submit(ops["add_one"], x[i:i + 1], only_if=(flags[i:i + 1], ">", 4))
        g.submit(ops["add_one"], flags)
        g.submit(ops["add_one"], x[0:1], only_if=(flags[0:1], "==", 1))

    chip.run(orchestration)
    assert list(x) == [1, 1]
    with pytest.raises(baton.Error, match="no comparison '~'"):
        chip.run(lambda g: g.submit(ops["add_one"], x, only_if=(flags[0:1], "~", 4)))


def test_a_captured_graph_is_a_part_of_another(chip, ops):
    x, y = np.arange(4, dtype="f4"), np.zeros(4, dtype="f4")

    def layer(g):
        middle = g.output([4], fill=1.0)
        g.submit(ops["scale"], x, middle, 2.0)
        g.submit(ops["scale"], middle, y, 5.0)

    captured = chip.capture(layer)
    ys = [np.zeros(4, dtype="f4") for _ in range(20)]

    def orchestration(g):
        for other in ys:
            g.submit_graph(captured, instead=[(y, other)])
        g.submit_graph(captured)

    chip.run(orchestration)
    for other in (*ys, y):
        assert list(other) == [0, 10, 20, 30]


def test_an_output_begins_with_a_value(chip, ops):
    y = np.zeros(3, dtype="f4")

    def orchestration(g):
        g.submit(ops["scale"], g.output([3], fill=2.5), y, 2.0)

    chip.run(orchestration)
    assert list(y) == [5, 5, 5]


def test_a_wait_that_takes_too_long_has_its_number(tmp_path):
    # The deadline of waits is that of a process.
    program = tmp_path / "program.py"
    program.write_text(f"""
import baton, numpy as np, pathlib
sources = pathlib.Path({str(SOURCES)!r})
kernels = baton.kernels(sources / "kernels.cpp")
names = {{9: "wait_for_counter"}}
program = baton.ChipProgram(baton.kernels(sources / "order.cpp", orchestration=True), entry="lonely_wait",
                            kernels={{n: kernels[name] for n, name in names.items()}})
with baton.Chip(clusters=1) as chip:
    try:
        chip.run(program, np.zeros(1, dtype="i4"), np.zeros(1, dtype="f4"))
    except baton.Error as error:
        print(error.code.name, error.message)
""")
    ended = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60,
                           env={**os.environ, "BATON_WAIT_TIMEOUT": "300ms"})
    assert "wait_timeout run failed with code -100: " in ended.stdout, ended.stderr
