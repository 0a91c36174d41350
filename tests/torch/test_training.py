"""Training with Baton gives the losses that it gives with Gloo, step by step."""

import pytest
import torch
import torch.distributed as dist
import torch.distributed.device_mesh
import torch.distributed.fsdp
import torch.distributed.optim
import torch.distributed.tensor.parallel  # all of them here: ranks are forked, and need not import them each
from torch import nn

STEPS = 5


def transformer():
    torch.manual_seed(1)
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)


def losses_of(model, rank, optimizer=None):
    torch.manual_seed(100 + rank)
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=0.01)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(torch.randn(4, 6, 16)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def ddp(rank):
    return losses_of(nn.parallel.DistributedDataParallel(transformer(), bucket_cap_mb=0.01), rank)


def ddp_with_unused_parameters(rank):
    class Sometimes(nn.Module):
        def __init__(self):
            super().__init__()
            self.body, self.extra, self.calls = transformer(), nn.Linear(16, 16), 0

        def forward(self, x):
            self.calls += 1
            return self.extra(self.body(x)) if self.calls % 2 == 0 else self.body(x)

    model = Sometimes()
    return losses_of(nn.parallel.DistributedDataParallel(model, find_unused_parameters=True), rank)


def ddp_with_buffers(rank):
    torch.manual_seed(1)
    model = nn.Sequential(nn.Flatten(), nn.Linear(96, 32), nn.BatchNorm1d(32), nn.Linear(32, 4))
    return losses_of(nn.parallel.DistributedDataParallel(model), rank)


def zero_redundancy(rank):
    from torch.distributed.optim import ZeroRedundancyOptimizer
    model = nn.parallel.DistributedDataParallel(transformer())
    return losses_of(model, rank, ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=0.01))


def fsdp(rank):
    from torch.distributed.fsdp import FullyShardedDataParallel
    return losses_of(FullyShardedDataParallel(transformer(), device_id=torch.device("cpu")), rank)


def fully_shard(rank):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard as shard
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    model = transformer()
    for layer in model.layers:
        shard(layer, mesh=mesh)
    return losses_of(shard(model, mesh=mesh), rank)


def tensor_parallel(rank):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 16))
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    # All ranks have the same input.
    return losses_of(model, 0, torch.optim.SGD(model.parameters(), lr=0.1))


@pytest.mark.parametrize("body, size", [(ddp, 2), (ddp, 4), (ddp_with_unused_parameters, 2), (ddp_with_buffers, 3),
                                        (zero_redundancy, 2), (fsdp, 2), (fully_shard, 2), (fully_shard, 4),
                                        (tensor_parallel, 2), (tensor_parallel, 4)])
def test_losses_are_those_of_gloo(ranks, body, size):
    try:
        expected = ranks(size, body, backend="gloo")
    except AssertionError as error:
        pytest.skip(f"Gloo does not do it either: {str(error).splitlines()[-1]}")
    found = ranks(size, body)
    # Sums of more than two ranks may be made in another order.
    for ours, gloos in zip(found, expected):
        assert ours == pytest.approx(gloos, rel=0 if size == 2 else 1e-5, abs=0), body.__name__
