// How many processors and how much memory this process can count on.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/cgroup.hpp"

namespace baton {

/// How many threads can run at once: Options::processors, or count_processors(). At least 1; found once.
[[nodiscard]] int usable_processors();

/// The processors this process is allowed on, as far as its control group lets it keep them busy. At least 1.
[[nodiscard]] int count_processors(const KernelFiles& files = {});

/// In bytes.
struct MemoryLimits {
  std::uint64_t total;      ///< Of the machine.
  std::uint64_t available;  ///< What the machine can give without swapping.
  std::uint64_t swap_free;
  std::optional<std::uint64_t> cgroup_limit;
  std::uint64_t cgroup_used;  ///< Zero without a limit.

  /// What can still be promised.
  [[nodiscard]] std::uint64_t obtainable() const noexcept;
};

/// Read anew each time.
[[nodiscard]] MemoryLimits memory_limits(const KernelFiles& files = {});

/// What can still be promised: the machine's memory and swap, or what the control group has left, if that is less.
[[nodiscard]] std::uint64_t memory_obtainable();
/// Throws Error (out_of_memory) if `bytes` for `name` are more than that: memory is given out when it is touched, and
/// then it is too late for an error. Asks nobody about less than a megabyte.
void check_obtainable(std::string_view name, std::uint64_t bytes);

}  // namespace baton
