// What the instructions of all kernels share, compiled once and linked to each of them.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "kernel/build.hpp"

namespace baton::kernel {

/// The object that a kernel links instead of compiling what is in it (pto/instructions/bodies.hpp): found in the cache,
/// or made there if the cache is in use, which is worth the time. Nothing: the kernel compiles all of it itself.
[[nodiscard]] std::optional<std::string> bodies_for(const CompileRequest& request, const Recipe& recipe,
                                                    const std::string& include_root, const Cache& cache,
                                                    std::chrono::nanoseconds timeout);

}  // namespace baton::kernel
