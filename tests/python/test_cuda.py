"""Chips of platform cuda from Python: kernels, graphs, errors, and memory that PyTorch and CuPy share with them."""

import gc
import os
import pathlib

import numpy as np
import pytest

os.environ.setdefault("BATON_WAIT_TIMEOUT", "2s")  # before anybody asks for the options of this process
import baton
from conftest import HERE

try:
    baton.Chip("cuda").close()
except baton.Error as error:
    pytest.skip(f"there is no GPU to test on: {error.message}", allow_module_level=True)

SOURCE = pathlib.Path(os.environ.get("CUDA_TEST_KERNELS", HERE.parent / "cuda" / "kernels.cpp"))
TILE = 4096


@pytest.fixture(scope="module")
def kernels():
    return baton.kernels(SOURCE, platform="cuda")


@pytest.fixture(scope="module")
def gpu():
    with baton.Chip("cuda") as made:
        yield made


def numbers(count, seed=0):
    return np.random.default_rng(seed).standard_normal(count, dtype="f4")


def test_a_kernel_on_memory_of_the_gpu(gpu, kernels):
    a, b = numbers(TILE, 1), numbers(TILE, 2)
    x, y, z = gpu.tensor(a), gpu.tensor(b), gpu.alloc(TILE)
    gpu.run(kernels["add"], x, y, z)
    assert np.array_equal(gpu.copy_out(z), a + b)
    assert x.__dlpack_device__() == (2, 0)


def test_the_same_kernel_on_both_platforms(gpu, kernels):
    """One library has the code of both."""
    a, b, c = numbers(1000, 3), numbers(1000, 4), np.zeros(1000, dtype="f4")
    with baton.Chip() as simulated:
        simulated.run(kernels["add"], a, b, c)
    z = gpu.alloc(1000)
    gpu.run(kernels["add"], gpu.tensor(a), gpu.tensor(b), z)
    assert np.array_equal(gpu.copy_out(z), c)


def test_graphs_find_their_edges_and_outputs(gpu, kernels):
    a = numbers(TILE, 5)
    x, y = gpu.tensor(a), gpu.alloc(TILE)

    def orchestration(g):
        twice = g.output([TILE])
        g.submit(kernels["add"], x, x, twice)
        g.submit(kernels["add"], twice, x, y)

    gpu.run(orchestration)
    assert np.array_equal(gpu.copy_out(y), (a + a) + a)


def test_captured_graphs_run_again_with_other_memory_and_scalars(gpu, kernels):
    cells, other = gpu.alloc(64, "int32"), gpu.alloc(64, "int32")
    tasks = []

    def orchestration(g):
        for i in range(64):
            tasks.append(g.submit(kernels["count_up"], cells[i:i + 1], i))

    graph = gpu.capture(orchestration)
    for _ in range(10):
        gpu.run(graph)
    gpu.run(graph, instead=[(cells, other)])
    assert np.array_equal(gpu.copy_out(cells), 10 * np.arange(64))
    assert np.array_equal(gpu.copy_out(other), np.arange(64))
    graph.set_scalar(tasks[3], 0, 100)
    gpu.run(graph)
    assert gpu.copy_out(cells)[3] == 130


def test_an_orchestration_looks_at_what_tasks_wrote(gpu, kernels):
    counter, seen = gpu.alloc(1, "int32"), []

    def orchestration(g):
        for _ in range(3):
            g.submit(kernels["count_up"], counter, 5)
            seen.append(g.get(counter, 0))
        g.set(counter, 0, value=100)
        g.submit(kernels["count_up"], counter, 1)

    gpu.run(orchestration)
    assert seen == [5, 10, 15] and gpu.copy_out(counter)[0] == 101


def test_a_failed_check_names_kernel_instruction_line_and_submission(gpu, kernels):
    x, counter = gpu.alloc(TILE), gpu.alloc(1, "int32")
    for _ in range(2):
        with pytest.raises(baton.Error) as raised:
            gpu.run(kernels["too_much"], x)
        assert raised.value.code == baton.Code.out_of_range
        said = str(raised.value)
        assert "kernel 'too_much' on core" in said and "kernels.cpp:" in said and "test_cuda.py:" in said
        assert raised.value.kernel == "too_much"
    gpu.run(kernels["count_up"], counter, 1)
    assert gpu.copy_out(counter)[0] == 1


def test_a_wait_that_nobody_ends_ends_at_its_deadline(gpu, kernels):
    with pytest.raises(baton.Error, match=r"has 0, needs 7") as raised:
        gpu.run(kernels["lonely"], gpu.alloc(1, "int32"))
    assert raised.value.code == baton.Code.wait_timeout


def test_arrays_of_the_host_are_refused_with_a_remedy(gpu, kernels):
    x = np.zeros(TILE, dtype="f4")
    with pytest.raises(baton.Error, match="memory of the host"):
        gpu.run(kernels["add"], x, x, gpu.alloc(TILE))
    with pytest.raises(BufferError, match="copy_out"):
        memoryview(gpu.alloc(4))


def test_a_kernel_without_code_for_the_gpu_says_how_to_get_it(gpu):
    host = baton.kernels(SOURCE)
    with pytest.raises(baton.Error, match="platform cuda"):
        gpu.run(host["count_up"], gpu.alloc(1, "int32"), 1)


def test_memory_is_given_back(gpu):
    for _ in range(100):
        gpu.alloc(1 << 29)  # 2 GiB each: all together would not fit
    gc.collect()
    gpu.free(gpu.alloc(16))


@pytest.fixture(scope="module")
def torch():
    made = pytest.importorskip("torch")
    if not made.cuda.is_available():
        pytest.skip("this PyTorch has no GPU")
    return made


def test_pytorch_sees_tensors_of_the_chip_without_a_copy(gpu, kernels, torch):
    a = numbers(TILE, 6)
    x, z = gpu.tensor(a), gpu.alloc(TILE)
    theirs = torch.from_dlpack(x)
    assert theirs.is_cuda and theirs.data_ptr() == x.address and tuple(theirs.shape) == (TILE,)
    assert np.array_equal(theirs.cpu().numpy(), a)
    for _ in range(50):
        theirs += 1  # not waited for: runs come after what is on the default stream
    gpu.run(kernels["add"], x, x, z)
    expected = a.copy()
    for _ in range(50):
        expected += 1
    assert np.array_equal(gpu.copy_out(z), expected + expected)
    with pytest.raises(baton.Error, match="uses its memory"):
        gpu.free(x)
    del theirs
    gc.collect()
    gpu.free(x)


def test_kernels_work_on_tensors_of_pytorch(gpu, kernels, torch):
    x = torch.arange(2 * TILE, device="cuda", dtype=torch.float32)
    z = torch.zeros(2 * TILE, device="cuda")
    gpu.run(lambda g: [g.submit(kernels["add"], x[:TILE], x[TILE:], z[:TILE]),
                       g.submit(kernels["add"], z[:TILE], x[TILE:], z[TILE:])])  # after the first: views of one storage
    assert torch.equal(z[:TILE], x[:TILE] + x[TILE:]) and torch.equal(z[TILE:], z[:TILE] + x[TILE:])


def test_a_run_waits_for_what_pytorch_does_on_a_stream_of_its_own(gpu, kernels, torch):
    x, z = torch.zeros(TILE, device="cuda"), torch.zeros(TILE, device="cuda")
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        torch.cuda._sleep(200_000_000)  # about a tenth of a second
        x += 1
        gpu.run(kernels["add"], x, x, z)
    assert torch.all(z == 2)


def test_a_captured_graph_runs_on_tensors_of_pytorch(gpu, kernels, torch):
    x, z, other = (torch.full((TILE,), value, device="cuda") for value in (1.0, 0.0, 5.0))
    graph = gpu.capture(lambda g: g.submit(kernels["add"], x, x, z))
    gpu.run(graph)
    gpu.run(graph, instead=[(x, other)])
    assert torch.all(z == 10)


def test_a_captured_graph_runs_after_what_is_on_the_default_stream(gpu, kernels, torch):
    """Nothing is copied for its second run, and nobody asks PyTorch for the memory again."""
    x, z = torch.zeros(TILE, device="cuda"), torch.zeros(TILE, device="cuda")
    graph = gpu.capture(lambda g: g.submit(kernels["add"], x, x, z))
    gpu.run(graph)
    torch.cuda._sleep(200_000_000)  # about a tenth of a second
    x += 1
    gpu.run(graph)
    assert torch.all(z == 2)


def test_memory_of_the_host_of_pytorch_is_refused(gpu, kernels, torch):
    with pytest.raises(baton.Error, match="memory of the host"):
        gpu.run(kernels["add"], torch.zeros(TILE), torch.zeros(TILE), gpu.alloc(TILE))
    with baton.Chip(clusters=1) as simulated, pytest.raises(baton.Error, match="does not reach"):
        simulated.run(kernels["add"], torch.zeros(TILE, device="cuda"), np.zeros(TILE, "f4"), np.zeros(TILE, "f4"))


def test_bfloat16_of_pytorch(gpu, torch):
    x = gpu.tensor(np.array([0x3F80, 0x4000], dtype="u2")).reinterpret("bfloat16")
    theirs = torch.from_dlpack(x)
    assert theirs.dtype == torch.bfloat16 and theirs.tolist() == [1, 2]
    back = baton.view(theirs)
    assert back.dtype == "bfloat16" and back.address == x.address


def test_cupy_both_ways(gpu, kernels):
    cupy = pytest.importorskip("cupy")
    x = cupy.arange(2 * TILE, dtype="f4")
    z = gpu.alloc(TILE)
    gpu.run(kernels["add"], x[:TILE], x[TILE:], z)
    theirs = cupy.from_dlpack(z)
    assert theirs.data.ptr == z.address
    assert bool((theirs == x[:TILE] + x[TILE:]).all())
    theirs *= 2
    gpu.run(kernels["add"], theirs, x[:TILE], z)
    assert np.array_equal(gpu.copy_out(z), 3 * np.arange(TILE, dtype="f4") + 2 * np.arange(TILE, 2 * TILE, dtype="f4"))
