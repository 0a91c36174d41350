// What the scheduler needs of a core, whatever executes it.
#pragma once

#include <cstdint>
#include <string>

#include "chip/cores/kernel_call.hpp"

namespace baton::chip {

enum class CoreType : std::uint8_t { cube, vector };

/// Where a core is: its number among all cores of the chip, its cluster, and its position among the cluster's vectors.
struct CorePosition {
  /// The cluster of the core that the submitting thread has for itself: none.
  static constexpr int kSubmitter = -1;

  int number;
  int cluster;
  CoreType type;
  int sub_block;  // 0 or 1 for vectors, 0 for cubes
};

/// "cube core 3", "vector core 3.1", "the submitting thread".
[[nodiscard]] std::string describe(const CorePosition& position);
/// "c3", "v3.1", "submitter".
[[nodiscard]] std::string short_name(const CorePosition& position);

/// Used by one fiber (or thread) at a time.
class Core {
 public:
  Core() = default;
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  virtual ~Core() = default;

  [[nodiscard]] virtual const CorePosition& position() const noexcept = 0;
  /// Runs `call` to its end on the calling fiber. What goes wrong is in call.error, with the kernel's name and this
  /// core's. Does not set call.finished.
  virtual void run(KernelCall& call) = 0;
  /// Any thread: where the kernel that runs is now, "at spin.cpp:12 in spin"; empty if none computes, or nobody knows.
  [[nodiscard]] virtual std::string where() { return {}; }
};

}  // namespace baton::chip
