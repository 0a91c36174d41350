// The submitter's own core.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "base/fiber.hpp"
#include "chip/sched/core_thread.hpp"
#include "chip/sched/kernel_lengths.hpp"

namespace baton::chip {

/// It runs short tasks while they are submitted. A kernel that waits must not keep the submitter, who may be about to
/// submit what it waits for: so it runs on a fiber, and a thread of the chip takes that over.
struct OwnCore {
  OwnCore(Core& core, std::function<void()> body)
      : seat(core), number(static_cast<std::int16_t>(core.position().number)), run(std::move(body)) {}

  /// Pairs with the end of what a thread of the chip took over.
  [[nodiscard]] bool is_free() const noexcept { return !away.load(std::memory_order_acquire); }

  /// What it runs is in the call of its seat.
  Seat seat;
  std::int16_t number;  // of the core
  /// For descriptors of tensors among the arguments.
  static constexpr std::size_t kTensorBytes = 128;
  alignas(64) std::array<std::byte, kKernelArguments * kTensorBytes> tensors;
  /// What its fiber does: one kernel.
  std::function<void()> run;
  std::optional<GuestFiber> fiber;  // once there is something to run
  ThreadNotes notes;
  Place where{};              // of the task, while tasks are profiled
  std::uint64_t kernels = 0;  // run so far
  /// The kernel that was begun last waits.
  bool waits = false;
  /// The task that a thread of the chip has to complete; null while the submitter does it.
  Task* left_behind = nullptr;
  /// Set by the submitter, cleared by the thread that has taken over.
  std::atomic<bool> away{false};
  /// Tasks that began here and did not simply end. Added to those of the threads of the chip.
  std::atomic<std::uint64_t> completed{0};
  std::atomic<std::uint64_t> left_window{0};
};

}  // namespace baton::chip
