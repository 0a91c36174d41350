"""How groups come about and end: every way to meet, several at once, again after the end."""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading

import pytest
import torch
import torch.distributed as dist

SCRIPT = pathlib.Path(__file__).parent / "sum_of_ranks.py"


def needs(major, minor, what):
    """A mark of tests of what older versions of PyTorch lack."""
    version = tuple(map(int, torch.__version__.split(".")[:2]))
    return pytest.mark.skipif(version < (major, minor), reason=f"PyTorch {torch.__version__} has no {what}")


def total(rank, group=None):
    x = torch.tensor([float(rank)])
    dist.all_reduce(x, group=group)
    return int(x)


def overlapping(rank):
    low, high, own = dist.new_group([0, 1, 2]), dist.new_group([3, 2, 1]), dist.new_group([rank], use_local_synchronization=True)
    results = []
    if rank <= 2:
        results.append(total(rank, low))
    if rank >= 1:
        results.append(total(rank, high))
    results += [total(rank, own), total(rank)]
    return results


@needs(2, 1, "use_local_synchronization")
def test_groups_overlap(ranks):
    assert ranks(4, overlapping) == [[3, 0, 6], [3, 6, 1, 6], [3, 6, 2, 6], [6, 3, 6]]


def again(rank, folder, size):
    for round_ in range(3):
        dist.init_process_group("baton", init_method=f"file://{folder}/again{round_}", rank=rank, world_size=size)
        assert total(rank) == 3
        dist.destroy_process_group()
    return True


def test_a_group_can_be_made_again(ranks, tmp_path):
    assert ranks(3, again, tmp_path, 3, backend=None) == [True] * 3


def again_in_one_store(rank, path, size):
    store = dist.FileStore(str(path), size)
    for _ in range(3):
        dist.init_process_group("baton", store=store, rank=rank, world_size=size)
        assert total(rank) == 3
        dist.destroy_process_group()
    return True


def test_a_group_can_be_made_again_in_the_same_store(ranks, tmp_path):
    assert ranks(3, again_in_one_store, tmp_path / "store", 3, backend=None) == [True] * 3


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def over_tcp(rank, port, size):
    dist.init_process_group("baton", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=size)
    return total(rank)


def test_ranks_meet_over_tcp(ranks):
    assert ranks(3, over_tcp, free_port(), 3, backend=None) == [3, 3, 3]


def run(*command):
    result = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, timeout=120, env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert result.returncode == 0, result.stdout
    return result.stdout


def test_torchrun():
    output = run(sys.executable, "-m", "torch.distributed.run", "--nproc_per_node=3", f"--master_port={free_port()}",
                 SCRIPT)
    assert output.count("the sum is 3") == 3


@pytest.mark.skipif("TEST_PROGRAM" not in os.environ, reason="TEST_PROGRAM does not name the command `baton`")
def test_baton_run():
    output = run(os.environ["TEST_PROGRAM"], "run", "-n", 3, sys.executable, SCRIPT)
    assert output.count("the sum is 3") == 3 and "baton: [warn]" not in output


def test_spawn():
    assert run(sys.executable, SCRIPT, "spawn").count("the sum is 3") == 3


def from_several_threads(rank):
    """Calls of one group stay in order whichever threads make them; groups do not wait for each other."""
    groups = [dist.new_group() for _ in range(3)]
    wrong = []

    def use(group, factor):
        for i in range(200):
            x = torch.tensor([float(rank * factor + i)])
            dist.all_reduce(x, group=group)
            if x != factor * 3 + i * 3:
                wrong.append((factor, i, x))

    threads = [threading.Thread(target=use, args=(group, factor)) for factor, group in enumerate(groups)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return wrong


def test_groups_are_used_by_several_threads_at_once(ranks):
    assert ranks(3, from_several_threads) == [[], [], []]


def splits(rank):
    part = dist.new_subgroups(group_size=2)[0]
    return total(rank, part)


@needs(2, 1, "subgroups without CUDA")
def test_subgroups(ranks):
    assert ranks(4, splits) == [1, 1, 5, 5]


def shares_by_mesh(rank):
    from torch.distributed.device_mesh import init_device_mesh
    mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("rows", "columns"))
    return total(rank, mesh.get_group("rows")), total(rank, mesh.get_group("columns"))


@needs(2, 2, "device_mesh")
def test_device_mesh(ranks):
    assert ranks(4, shares_by_mesh) == [(2, 1), (4, 1), (2, 5), (4, 5)]


def split_off(rank):
    part = dist.split_group(split_ranks=[[2, 0], [1, 3]])
    alone = dist.split_group(part, split_ranks=[[1]])
    # The members of a split keep the order of its list.
    results = [dist.get_rank(part), total(rank, part), dist.get_backend(part)]
    if alone != dist.GroupMember.NON_GROUP_MEMBER:
        results.append(total(rank, alone))
    return results + [total(rank)]


needs_splits = needs(2, 15, "groups of the CPU that split")


@needs_splits
def test_groups_are_split(ranks):
    assert ranks(4, split_off) == [[1, 2, "baton", 0, 6], [0, 4, "baton", 6], [0, 2, "baton", 6], [1, 4, "baton", 3, 6]]


def split_and_disagree(rank):
    part = dist.split_group(split_ranks=[[2, 0], [1]])
    if rank == 1:
        return ""
    with pytest.raises(RuntimeError) as raised:
        dist.all_reduce(torch.ones(rank + 1), group=part)
    return str(raised.value)


@needs_splits
def test_a_split_names_the_ranks_of_the_program(ranks):
    results = ranks(3, split_and_disagree)
    for rank in (0, 2):
        assert "rank 0 called allreduce of 3" in results[rank] and "are ranks 2, 0 of the program" in results[rank]


def test_a_package_may_bring_the_process_group_along(tmp_path, monkeypatch):
    from baton.torch import _extension

    made = pathlib.Path(_extension.find_or_build())
    monkeypatch.setattr(_extension, "PREBUILT", tmp_path)
    monkeypatch.setattr(_extension, "build", lambda folder: pytest.fail("compiled again"))
    monkeypatch.setenv("BATON_CACHE_DIR", str(tmp_path / "empty"))
    shutil.copy(made, tmp_path)
    assert _extension.find_or_build() == str(tmp_path / made.name)
