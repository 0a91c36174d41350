"""Examples on Ascend chips of the stand-in.

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


@pytest.mark.parametrize("call, ranks", [
    (["vector_add", "-n", "9000"], 1), (["async_notify"], 5), (["ffn_tp"], 3), (["ffn_block", "-n", "33", "--late"], 4),
    (["transformer", "-n", "20", "--width", "32"], 2), (["moe_dispatch"], 8),
    (["moe_dispatch_combine", "-n", "12", "--width", "64"], 3)], ids=lambda it: it[0] if isinstance(it, list) else str(it))
def test_chips_with_graphs_of_their_own_and_layers(call, ranks, tmp_path):
    check(call, ranks, tmp_path)


HOST_WINDOW = """
import array, os, baton
me = baton.join(f"shm:ascend-host-window-{os.getpid()}", 0, 1)
ready = me.signals("ready")
with baton.Chip("a2a3", domain=me) as chip:
    mine = chip.window(me, "mine", 4, "int32")
    chip.copy_in(mine.tensor(), array.array("i", [1, 2, 3, 4]))
    assert list(chip.copy_out(mine.tensor(0)[2:])) == [3, 4]
    try:
        chip.run(lambda graph: graph.submit_notification_wait(ready.tensor(), 1))
    except baton.Error as error:
        print(error)
    mine.release()
"""


def test_a_window_of_the_host_is_out_of_reach(tmp_path):
    environment = os.environ | {"LD_LIBRARY_PATH": f"{STANDIN / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    done = subprocess.run([sys.executable, "-c", HOST_WINDOW], capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    assert 'byte 0 of "ready", a window of the host: kernels of this chip reach those of Chip::window()' in done.stdout


def test_what_needs_memory_of_the_host_says_so(tmp_path):
    code, said, _ = run(["async_completion"], 2, tmp_path)
    assert code == 2 and "-p a2a3: here the host plays an engine" in said


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
