"""Examples on Ascend chips of the stand-in: collectives in kernels, overlapping domains.

STANDIN_FOLDER has bin and lib of the stand-in, STANDIN_INCLUDE Baton's headers."""

import os
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
STANDIN = pathlib.Path(os.environ["STANDIN_FOLDER"])
COLLECTIVES = [["allreduce", "-m", mode] for mode in ("onephase", "twophase", "ring", "bidirectional_ring", "ibing")] + [
    ["allgather"], ["reduce_scatter"], ["broadcast", "--root", "1"], ["all_to_all"]]


def run(call, ranks, tmp_path, platform="a2a3", **more):
    log = tmp_path / "log"
    environment = os.environ | {"LD_LIBRARY_PATH": f"{STANDIN / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}",
                                "PATH": f"{STANDIN / 'bin'}:{os.environ['PATH']}", "STANDIN_LOG": str(log)} | more
    words = [sys.executable, EXAMPLES / call[0] / "main.py", *call[1:], "-p", platform, "-d", f"0-{ranks - 1}"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment)
    return done.returncode, done.stdout + done.stderr, log.read_text().split("\n")[:-1] if log.exists() else []


def check(call, ranks, tmp_path, **more):
    code, said, log = run(call, ranks, tmp_path, **more)
    assert code == 0, said
    assert said.count("largest difference") == ranks
    # Each chip has ended its runtime, no rule was broken, and nothing was left behind.
    assert log == ["ended"] * ranks


@pytest.mark.parametrize("call", COLLECTIVES, ids=lambda call: "-".join(word for word in call if not word.startswith("-")))
def test_collectives_in_kernels(call, tmp_path):
    check([*call, "-n", "1000", "--repeat", "3"], 4, tmp_path)


@pytest.mark.parametrize("ranks", [2, 3, 8])
def test_collectives_of_other_sizes(ranks, tmp_path):
    check(["allreduce", "-m", "ring", "-n", "257"], ranks, tmp_path)


@pytest.mark.parametrize("name", ["domain_rank_map", "dual_domain_overlap"])
def test_domains(name, tmp_path):
    code, said, log = run([name], 4, tmp_path)
    assert code == 0, said
    assert set(log) == {"ended"}


@pytest.mark.parametrize("ranks", [2, 5])
def test_tasks_that_are_complete_later(ranks, tmp_path):
    check(["deferred_notify", "-n", "100", "--repeat", "3"], ranks, tmp_path)


def test_asynchronous_copies_are_refused_by_name(tmp_path):
    code, said, _ = run(["dma_get"], 2, tmp_path)
    assert code == 2
    assert "kernel 'fetch'" in said and "platform a2a3 has no DMA engine" in said and "dma_get/main.py:" in said


def test_the_other_generation(tmp_path):
    check(["allgather"], 2, tmp_path, platform="a5", STANDIN_ARCHITECTURE="3510")


def test_a_call_that_fails_names_chip_number_and_text(tmp_path):
    code, said, _ = run(["allgather"], 2, tmp_path, STANDIN_FAIL="aclrtMapMem:2=507899")
    assert code == 2
    assert "aclrtMapMem: 507899 (the driver): aclrtMapMem fails because a test wants it" in said


def test_chips_of_one_process_have_no_windows(tmp_path):
    code, said, _ = run(["allgather", "--inproc"], 2, tmp_path)
    assert code == 2
    assert "are of one process" in said and "processes" in said
