// Kernels of a rank's chip that have computed for long, written where others can read it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wire/control.hpp"

namespace baton::comm {

/// A kernel that computes.
struct ComputingKernel {
  std::string what;           // "kernel 'spin' (task 7) on vector core 0.1"
  std::string where;          // "at spin.cpp:12 in spin"; empty: not known
  std::int64_t since_ns = 0;  // CLOCK_MONOTONIC

  bool operator==(const ComputingKernel&) const = default;
};

/// Replaces those that were shown before. More than there are records are counted. One thread at a time.
void write_kernels(wire::RankBlock& block, std::span<const ComputingKernel> kernels) noexcept;

/// The bytes may come from anybody.
[[nodiscard]] std::vector<ComputingKernel> read_kernels(const wire::RankBlock& block);

}  // namespace baton::comm
