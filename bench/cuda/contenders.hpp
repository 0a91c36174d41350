// What takes part in the measurements on a GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <baton/task_profile.hpp>

#include "cuda/shapes.hpp"

namespace bench::cuda {

/// Runs something once and returns when it is complete on the GPU.
using Run = std::function<void()>;

/// A graph of empty tasks: captured by Baton, as a CUDA Graph, or launched into streams with events between them.
[[nodiscard]] Run captured(const Shape& shape, baton::ProfileMode profile);
[[nodiscard]] Run cuda_graph(const Shape& shape);
[[nodiscard]] Run streams(const Shape& shape);

/// The same with tasks that run while others are submitted, and edges that are inferred from their tensors: a chain,
/// steps of a stencil, or `length` tasks of 128 chains.
[[nodiscard]] Run streamed(const std::string& pattern, std::size_t length);
/// One task after the other, each submitted when the one before has ended.
[[nodiscard]] Run submit_and_wait(std::size_t tasks);

enum class Checks : std::uint8_t { on, off };
/// out = a + b of `bytes` each: as a graph with a task for each tile, or as one task with a block for each core.
/// `share`: cores of one multiprocessor.
[[nodiscard]] Run add_tiles(std::int64_t bytes, Checks checks, int share);
[[nodiscard]] Run add_blocks(std::int64_t bytes, Checks checks);
/// The same as a kernel of CUDA; and a copy of `bytes` that lie on the GPU.
[[nodiscard]] Run cuda_add(std::int64_t bytes);
[[nodiscard]] Run cuda_copy(std::int64_t bytes);

/// `kernel` of tests/cuda/row_kernels.cpp, from `bytes` to as many: one task with a block for each core.
[[nodiscard]] Run rows(const std::string& kernel, std::int64_t bytes, int share);

/// This many layers of a decoder, "captured" or "streamed": submitted task by task.
[[nodiscard]] Run decoder_layers(const std::string& method, std::size_t layers);

/// The product of two matrices of `side` rows and columns of bfloat16: tile instructions, and cuBLAS.
[[nodiscard]] Run matmul(std::int64_t side, Checks checks);
[[nodiscard]] Run cublas_matmul(std::int64_t side);

}  // namespace bench::cuda
