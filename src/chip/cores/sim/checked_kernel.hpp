// Tells `baton check` what the kernel that a core runs touches, and what orders it.
//
// What a kernel does is in the order of its program: the order of pipes within it is what strict pipes judge.
#pragma once

#include <cstdint>

#include <pto/target/core.hpp>

#include "chip/cores/checked_chip.hpp"
#include "chip/cores/cluster_pipes.hpp"
#include "chip/cores/global_memory.hpp"
#include "chip/cores/sim/late_notifier.hpp"

namespace baton::chip {

/// One kernel of one core at a time. Without an activity it does nothing.
class CheckedKernel {
 public:
  explicit CheckedKernel(GlobalMemory& memory) : memory_(memory) {}

  void begin(Activity activity, const char* kernel) noexcept {
    activity_ = activity;
    kernel_ = kernel;
    last_sent_ = 0;
  }
  void end() noexcept { activity_ = 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return activity_ != 0; }
  [[nodiscard]] Activity activity() const noexcept { return activity_; }
  [[nodiscard]] const char* kernel() const noexcept { return kernel_; }

  void issue(const BatonIssue& issue) const;
  void hand(std::uint64_t token) const noexcept { memory_.checked().hand(activity_, token); }
  void take(std::uint64_t token) const noexcept { memory_.checked().take(activity_, token); }

  /// A notification that is sent now and arrives later: who brings it, and what it hands over then.
  [[nodiscard]] CarriedNotification carried(const EventSource& from) noexcept;
  /// The token of the last notification that was sent; 0: none.
  [[nodiscard]] std::uint64_t last_sent() const noexcept { return last_sent_; }

  /// A slot of a pipe of the cluster, from the side of a core that pushes or pops it.
  enum class Side : std::uint8_t { pushes, pops };
  void acquired(const ClusterPipes& pipes, const PipeSlot& slot, Side side) const noexcept;
  void released(const ClusterPipes& pipes, const PipeSlot& slot, Side side) const noexcept;

 private:
  GlobalMemory& memory_;
  Activity activity_ = 0;
  const char* kernel_ = nullptr;
  std::uint64_t last_sent_ = 0;
};

/// What an asynchronous copy of a kernel hands over, and where it stands in its source.
struct CheckedCopy {
  /// 0: it is not checked.
  std::uint64_t submitted = 0;
  const char* instruction = "";
  Place where{};
  const char* kernel = nullptr;
};

}  // namespace baton::chip
