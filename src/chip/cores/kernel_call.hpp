// One execution of a kernel on one core.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/event.hpp"
#include "chip/cores/cluster_pipes.hpp"
#include "chip/cores/condition.hpp"

namespace baton::chip {

using KernelEntry = void (*)(std::int64_t* args);

/// Slots of a kernel's argument array: tensors and scalars, then the two contexts.
inline constexpr std::size_t kKernelArguments = 48;
inline constexpr std::size_t kLocalContextSlot = 48;
inline constexpr std::size_t kGlobalContextSlot = 49;
inline constexpr std::size_t kKernelSlots = 50;

/// The caller keeps it alive until it has finished.
struct KernelCall {
  KernelEntry entry = nullptr;
  const char* name = "";                          // for messages; lives as long as the call
  std::array<std::int64_t, kKernelSlots> args{};  // the context slots are filled by the core
  std::int32_t block_index = 0;
  std::int32_t block_count = 1;
  std::uint64_t task = 0;  // for messages; 0: not known

  void take_arguments(std::span<const std::int64_t> arguments) noexcept {
    for (std::size_t i = 0; i < arguments.size(); ++i) args[i] = arguments[i];
  }

  /// How many conditions the kernel may register for the time after it returned; more are an error. 0: none, the kernel
  /// waits itself.
  std::uint32_t condition_capacity = 0;
  /// Where a kernel of the older form finds the address of its completion queue: an index of `args`, filled by the
  /// core. Such a queue has room for PTO2_CQ_MAX_ENTRIES.
  std::optional<std::size_t> completion_queue_slot = std::nullopt;
  /// What it shares with the other cores of its cluster's block; null if it runs alone.
  std::shared_ptr<ClusterPipes> pipes;
  /// For `baton check`; 0: it is not checked.
  Activity activity = 0;
  /// What must still become true. Written before `finished`.
  std::vector<Condition> conditions;

  /// Why it failed; null if it did not. Written before `finished`.
  std::exception_ptr error;
  /// Set by the core's thread with a release, and the chip's doorbell rung after it; the thread that acquires it owns
  /// the call.
  std::atomic<bool> finished{false};
};

}  // namespace baton::chip
