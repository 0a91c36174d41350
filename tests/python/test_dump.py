"""Dumps: tensors of graphs in files."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import baton
from conftest import HERE

SOURCES = HERE.parent / "unit" / "orchestration" / "sources"


def dumped(folder):
    """What is in the folder: {"run1-0001-name": array}."""
    found = {}
    for file in sorted(folder.iterdir()):
        rest = re.fullmatch(r"rank0-chip\d+-(run.*)\.npy", file.name)
        assert rest, file.name
        found[rest[1]] = np.load(file)
    return found


def test_a_dump_is_what_the_tasks_before_it_wrote(ops, tmp_path):
    x = np.arange(12, dtype="f4").reshape(3, 4)
    with baton.Chip(clusters=2, dump=tmp_path / "new") as chip:

        def orchestration(graph):
            for _ in range(50):
                graph.dump(x, "x")
                graph.submit(ops["scale"], x, x, 2.0)

        chip.run(orchestration)
        assert x[2, 3] == 11 * 2.0**50
    files = dumped(tmp_path / "new")
    assert list(files) == [f"run1-{i:04}-x" for i in range(1, 51)]
    for i, seen in enumerate(files.values()):
        assert np.array_equal(seen, np.arange(12, dtype="f4").reshape(3, 4) * 2.0**i)


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"])
def test_dumps_have_the_type_and_the_shape_of_the_tensor(dtype, tmp_path):
    whole = np.arange(2 * 3 * 4 * 5).reshape(2, 3, 4, 5).astype(dtype)
    with baton.Chip(clusters=1, dump=tmp_path) as chip:

        def orchestration(graph):
            graph.dump(whole, "whole")
            graph.dump(baton.view(whole[:, 1:, ::2, 3]), "part")
            graph.dump(baton.view(whole.transpose(3, 1, 0, 2)), "turned")

        chip.run(orchestration)
    files = dumped(tmp_path)
    for key, array in (("whole", whole), ("part", whole[:, 1:, ::2, 3]), ("turned", whole.transpose(3, 1, 0, 2))):
        seen = next(value for name, value in files.items() if name.endswith(key))
        assert seen.dtype == array.dtype and np.array_equal(seen, array), key


def test_bfloat16_becomes_float(tmp_path):
    bits = np.array([0x3F80, 0x4000, 0xC040], dtype="u2")  # 1, 2, -3
    with baton.Chip(clusters=1, dump=tmp_path) as chip:
        chip.run(lambda graph: graph.dump(baton.view(bits).reinterpret("bfloat16"), "b"))
    (seen,) = dumped(tmp_path).values()
    assert seen.dtype == np.float32 and list(seen) == [1, 2, -3]


def test_each_run_of_a_captured_graph_dumps(ops, tmp_path):
    x, other = np.ones(4, dtype="f4"), np.full(4, 7, dtype="f4")
    with baton.Chip(clusters=2, dump=tmp_path) as chip:

        def layer(graph):
            graph.submit(ops["scale"], x, x, 2.0)
            graph.dump(x, "after scale")

        captured = chip.capture(layer)
        chip.run(captured)
        chip.run(captured, instead=[(x, other)])

        def both(graph):
            graph.submit_graph(captured)
            graph.submit_graph(captured)

        chip.run(both)
    files = dumped(tmp_path)
    assert {name: seen[0] for name, seen in files.items()} == {
        "run1-0001-after_scale": 2, "run2-0001-after_scale": 14, "run3-0001-after_scale": 4,
        "run3-0002-after_scale": 8}


def test_edges_that_are_named_hold_dumps_in_place(ops, tmp_path):
    x = np.ones(4, dtype="f4")
    with baton.Chip(clusters=4, dump=tmp_path) as chip:

        def orchestration(graph):
            last = []
            for _ in range(20):
                last = [graph.submit(ops["scale"], x, x, 2.0, after=last)]
                last = [graph.dump(x, "x", after=last)]

        chip.run(orchestration, edges="named")
    assert [seen[0] for seen in dumped(tmp_path).values()] == [2.0**i for i in range(1, 21)]


def test_without_a_folder_a_dump_is_a_task_that_only_reads(ops, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    x = np.ones(4, dtype="f4")
    with baton.Chip(clusters=1) as chip:
        tasks = []
        chip.run(lambda graph: tasks.extend([graph.dump(x, "x"), graph.submit(ops["scale"], x, x, 2.0)]))
        assert tasks[1] == tasks[0] + 1 and x[0] == 2
    assert not list(tmp_path.iterdir())


def test_two_chips_do_not_write_over_each_other(tmp_path):
    x = np.ones(4, dtype="f4")
    for value in (1, 2):
        with baton.Chip(clusters=1, dump=tmp_path) as chip:
            x[:] = value
            chip.run(lambda graph: graph.dump(x, "x"))
    assert sorted(np.load(file)[0] for file in tmp_path.iterdir()) == [1, 2]


def test_a_folder_that_cannot_be_made_is_an_error_at_once(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(baton.Error, match=f"making the folder {tmp_path}/file/dumps for dumps"):
        baton.Chip(clusters=1, dump=tmp_path / "file" / "dumps")


def test_a_file_that_cannot_be_written_fails_its_task(tmp_path):
    x = np.ones(4, dtype="f4")
    with baton.Chip(clusters=1, dump=tmp_path / "gone") as chip:
        (tmp_path / "gone").rmdir()
        with pytest.raises(baton.Error, match=rf"opening {tmp_path}/gone/rank0-chip\d+-run1-0001-x.npy") as raised:
            chip.run(lambda graph: graph.dump(x, "x"))
        assert any("test_dump.py" in note for note in raised.value.notes)


def test_a_token_has_nothing_to_dump(tmp_path):
    counter = np.ones(1, dtype="i4")
    with baton.Chip(clusters=1, dump=tmp_path) as chip:
        with pytest.raises(baton.Error, match="dump: a token has no elements"):
            chip.run(lambda graph: graph.dump(graph.submit_notification_wait(counter, 1), "t"))


@pytest.fixture(scope="session")
def program():
    kernels = baton.kernels(SOURCES / "kernels.cpp")
    numbered = {number: kernels[name] for number, name in enumerate(("add", "scale", "increase"))}
    library = baton.kernels(SOURCES / "dumps.cpp", orchestration=True)
    return lambda entry, building="stream": baton.ChipProgram(library, numbered, entry=entry, building=building)


@pytest.mark.parametrize("building", ["stream", "captured"])
def test_orchestrations_dump_what_their_author_marks(program, building, tmp_path):
    x, y = np.full(4, 5, dtype="f4"), np.zeros(4, dtype="f4")
    with baton.Chip(clusters=4, dump=tmp_path) as chip:
        chip.run(program("dumps", building), x, y)
    assert x[0] == 7 and y[0] == 18
    one, two = (int(np.float32(value).view("u4")) for value in (1, 2))
    assert {name[len("run1-0000-"):]: seen[0] for name, seen in dumped(tmp_path).items()} == {
        "kernel2.tensor0.before": 5, "kernel2.scalar0": one, "kernel2.tensor0.after": 6, "kernel1.scalar0": two,
        "kernel1.tensor1.after": 12, "kernel0.tensor1.before": 6}


def test_explicit_edges_of_an_orchestration_wait_for_its_dumps(program, tmp_path):
    x = np.zeros(4, dtype="f4")
    with baton.Chip(clusters=8, dump=tmp_path) as chip:
        chip.run(program("manual_dumps"), x)
    seen = [array[0] for array in dumped(tmp_path).values()]
    assert x[0] == 100 and seen == [count for i in range(100) for count in (i, i + 1)]


def test_what_was_not_added_cannot_be_dumped(program):
    with baton.Chip(clusters=1) as chip:
        with pytest.raises(baton.Error, match="dump: this was not added before"):
            chip.run(program("dumps_unknown"), np.zeros(4, dtype="f4"))


def test_the_environment_names_the_folder_for_all_chips_of_a_node(tmp_path):
    code = f"""
import baton, numpy as np
kernels = baton.kernels("{SOURCES}/kernels.cpp")
numbered = {{number: kernels[name] for number, name in enumerate(("add", "scale", "increase"))}}
library = baton.kernels("{SOURCES}/dumps.cpp", orchestration=True)
program = baton.ChipProgram(library.library, list(numbered.items()), entry="manual_dumps")
with baton.Worker(devices="0-1", clusters=1) as node:
    xs = [node.tensor(np.zeros(4, dtype="f4")) for chip in range(2)]
    node.run(lambda o: [o.submit_next_level(program, [baton.INOUT(x)], worker=chip) for chip, x in enumerate(xs)])
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120,
                   env={**os.environ, "BATON_DUMP": str(tmp_path / "dumps")})
    names = [file.name for file in (tmp_path / "dumps").iterdir()]
    assert len(names) == 400
    assert {name.split("-")[0] for name in names} == {"rank0", "rank1"}
