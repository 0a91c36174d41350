"""Attention over keys and values that lie in pages: inputs, and what they give.

Parameters: batch, num_heads, kv_head_num, head_dim, block_size, context_len (or context_lens, one for each of the
batch), max_model_len, and dtype of query and caches (bfloat16 unless given).
"""

from __future__ import annotations

import ctypes
from typing import Any

_OTHER_NAMES = {"kv_head_num": ("num_kv_heads",), "num_heads": ("head_num", "q_head_num"), "batch": ("batch_size",),
                "max_model_len": ("max_context_len",)}


def _parameter(params: dict, name: str, *default: Any) -> Any:
    for one in (name, *_OTHER_NAMES.get(name, ())):
        if one in params:
            return params[one]
    if default:
        return default[0]
    raise KeyError(f"paged attention needs the parameter {name!r}; it has {', '.join(params)}")


def _context_lens(params: dict) -> list[int]:
    batch = _parameter(params, "batch")
    given = params.get("context_lens", params.get("context_lens_list"))
    lens = list(given) if given is not None else [_parameter(params, "context_len")] * batch
    if len(lens) != batch:
        raise ValueError(f"{len(lens)} context lengths for a batch of {batch}")
    return lens


def generate_inputs(params: dict) -> list[tuple[str, Any]]:
    """(name, value) of the arguments, in order. Pages of a sequence are not contiguous."""
    import torch
    batch, heads = _parameter(params, "batch"), _parameter(params, "num_heads")
    kv_heads, head_dim = _parameter(params, "kv_head_num"), _parameter(params, "head_dim")
    block_size, lens = _parameter(params, "block_size"), _context_lens(params)
    dtype = getattr(torch, str(params.get("dtype", "bfloat16")).rpartition(".")[2])
    pages = -(-_parameter(params, "max_model_len", max(lens)) // block_size)
    used = -(-max(lens) // block_size)
    torch.manual_seed(params.get("seed", 0))
    blocks = batch * used
    table = torch.zeros(batch, pages, dtype=torch.int32)
    table[:, :used] = torch.randperm(blocks, dtype=torch.int32).reshape(batch, used)
    cache = (blocks, block_size, kv_heads, head_dim)
    return [("query", (torch.rand(batch, heads, head_dim) - 0.5).to(dtype)),
            ("key_cache", (torch.rand(*cache) - 0.5).to(dtype)),
            ("value_cache", (torch.rand(*cache) * 2 - 1).to(dtype)),
            ("block_table", table), ("context_lens", torch.tensor(lens, dtype=torch.int32)),
            ("out", torch.zeros(batch, heads, head_dim, dtype=torch.float32)), ("scale", ctypes.c_float(1.0))]


def compute_golden(tensors: dict[str, Any], params: dict) -> None:
    """Writes tensors["out"]."""
    import torch
    block_size, kv_heads = _parameter(params, "block_size"), _parameter(params, "kv_head_num")
    scale = tensors.get("scale", 1.0)
    scale = getattr(scale, "value", scale)
    query, out = tensors["query"].float(), tensors["out"]
    batch = _parameter(params, "batch")
    heads, head_dim = _parameter(params, "num_heads"), _parameter(params, "head_dim")
    query = query.reshape(batch, kv_heads, heads // kv_heads, head_dim)
    results = torch.zeros(batch, heads, head_dim)
    for i, length in enumerate(tensors["context_lens"].tolist()):
        table = tensors["block_table"][i, : -(-length // block_size)].long()
        keys, values = (tensors[name][table].float().reshape(-1, kv_heads, head_dim)[:length].transpose(0, 1)
                        for name in ("key_cache", "value_cache"))
        weights = torch.softmax(torch.matmul(query[i], keys.transpose(1, 2)) * scale, dim=-1)
        results[i] = torch.matmul(weights, values).reshape(heads, head_dim)
    out.copy_(results.reshape(out.shape))
