"""The suite of GPUs: what is compared with what, and what it says where there is none."""

import pytest

from cuda import suite
from harness import cli
from harness.cases import OURS, Plan


@pytest.fixture
def gpu(monkeypatch):
    monkeypatch.setattr(suite, "versions", lambda: {"GPU": "one that is pretended"})
    monkeypatch.setattr(suite, "has_cublas", lambda: True)


def cases(quick=False):
    return {case.name: case for case in suite.cases(Plan("/programs", None, processors=2, quick=quick))}


def argument(command, name):
    return command.argv[command.argv.index(name) + 1]


def test_all_run_the_same_graph_in_one_program(gpu):
    for case in cases().values():
        commands = [contender.command for contender in case.contenders]
        assert {command.argv[0] for command in commands} == {"/programs/cuda"}
        if case.bytes:
            assert {argument(command, "--bytes") for command in commands} == {str(1 << 30)}
            continue
        names = {contender.name for contender in case.contenders}
        if case.name.startswith(("put_signal", "experts")):
            assert names == {OURS}
            continue
        if case.name.startswith("matmul"):
            assert names == {OURS, "cublas"}
            assert len({argument(command, "--side") for command in commands}) == 1
            continue
        # A layer of a decoder, submitted each time and captured.
        if case.name.startswith("decoder"):
            assert names == {OURS, "captured"}
            continue
        # A CUDA Graph is captured: not a peer of what is submitted each time.
        assert names == ({OURS, "streams"} if case.name.startswith("stream/") else {OURS, "profiled", "graph", "streams"})
        assert len({(argument(command, "--pattern"), argument(command, "--tasks")) for command in commands}) == 1


def test_the_floor_of_a_sum_moves_as_many_bytes(gpu):
    floor = cases()["add_tiles/4"].floor
    assert floor.of({"copy": 2.0}) == 3.0
    assert argument(floor.parts["copy"], "--bytes") == str(1 << 30)


def test_without_cublas_products_have_no_peer(gpu, monkeypatch, capsys):
    monkeypatch.setattr(suite, "has_cublas", lambda: False)
    assert {contender.name for contender in cases()["matmul/4096"].contenders} == {OURS}
    assert "there is no cuBLAS" in capsys.readouterr().err


def test_without_a_gpu_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(suite, "versions", dict)
    assert cases() == {}
    monkeypatch.setattr(cli, "loaded", lambda name: suite)
    assert cli.main(["cuda", "--no-build"]) == 2
    assert "cuda is skipped: there is no NVIDIA GPU" in capsys.readouterr().err
