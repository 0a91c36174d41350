// What the host throws of what a core of a GPU wrote down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <baton/platform.h>

#include "platform/cuda/gpu.hpp"

namespace baton::cuda {

/// After a run that ended because a core has failed, and of which no core is left: `kernel_of` a task below
/// `task_count`, null if it has none. `failed_task` as in baton_graph_run.
[[noreturn]] void raise_failure(Gpu& gpu, const BatonRunOptions& options, std::size_t task_count,
                                const std::function<const LoadedKernel*(std::size_t)>& kernel_of,
                                std::uint32_t& failed_task);

/// For a GPU that `result` has ended: which kernels it may have been. `kernel_of` as above.
[[noreturn]] void raise_crash(Result result, std::size_t task_count,
                              const std::function<const LoadedKernel*(std::size_t)>& kernel_of);

}  // namespace baton::cuda
