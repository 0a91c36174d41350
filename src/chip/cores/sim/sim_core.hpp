// One simulated core: what runs a kernel, and the state behind the table of functions that its instructions call.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <baton/options.hpp>
#include <pto/target/core.hpp>

#include "chip/cores/core.hpp"
#include "chip/cores/event_log.hpp"
#include "chip/cores/global_memory.hpp"
#include "chip/cores/profile.hpp"
#include "chip/cores/seed.hpp"
#include "chip/cores/sim/buffers.hpp"
#include "chip/cores/sim/checked_kernel.hpp"
#include "chip/cores/sim/condition_slab.hpp"
#include "chip/cores/sim/dma_engine.hpp"
#include "chip/cores/sim/far_tensors.hpp"
#include "chip/cores/sim/fault_guard.hpp"
#include "chip/cores/sim/known_extents.hpp"
#include "chip/cores/sim/late_notifier.hpp"
#include "chip/cores/sim/order_checker.hpp"
#include "chip/cores/sim/pipe_flags.hpp"
#include "chip/cores/sim/printed_text.hpp"
#include "chip/cores/sim/running_kernel.hpp"
#include "chip/cores/sim/submitted_copies.hpp"

namespace baton::chip {

/// What the cores of a chip share, and how they behave.
struct CoreSurroundings {
  GlobalMemory& memory;
  DmaEngine& dma;
  /// Both or none: with a seed, others get a turn between a kernel's instructions, and notifications arrive late.
  std::optional<std::uint64_t> seed;
  LateNotifier* notifier;
  PipeOrder order;
  EventLog* events;
  /// How long a kernel may run; 0: as long as it likes. For messages: the watch that has set it interrupts it.
  std::chrono::nanoseconds kernel_timeout;
};

/// Used by one fiber (or thread) at a time.
class SimCore final : public BatonCore, public Core {
 public:
  SimCore(const CorePosition& position, const Profile& profile, const CoreSurroundings& around);

  [[nodiscard]] const CorePosition& position() const noexcept override { return position_; }

  void run(KernelCall& call) override;
  [[nodiscard]] std::string where() override;

  [[nodiscard]] RunningKernel& running() noexcept { return running_; }

 private:
  friend struct CoreFunctions;
  friend GuardedKernel current_guarded_kernel() noexcept;
  friend std::string describe_running_kernel(const void* actor);

  void execute(KernelCall& call);
  /// What instructions tell of themselves while this kernel runs.
  void set_watches() noexcept {
    watches = checker_ || chance_ || checked_ ? std::uint32_t{BATON_WATCH_ISSUE} : 0U;
    if (around_.memory.has_far_memory()) watches |= BATON_WATCH_FAR;
  }
  /// After the kernel returned: what it left open is an error, what it registered are the call's conditions.
  void finish(KernelCall& call);
  /// Waits for what is still under way and belongs to nobody once the call has finished.
  void drain(KernelCall& call);
  /// The kernel has run for too long.
  [[noreturn]] void fail_late(const std::string& where) const;
  [[noreturn]] void fail(std::int32_t code, const BatonPlace* place, const std::string& text,
                         std::vector<std::string> notes = {}) const;
  /// If `wrong` says what, ends the kernel with it.
  void judge(const BatonPlace* place, const std::optional<std::string>& wrong) const {
    if (wrong) fail(BATON_KERNEL_PIPE_ORDER, place, *wrong);
  }
  /// Which part of its cluster this core is.
  [[nodiscard]] std::size_t part() const noexcept {
    return position_.type == CoreType::cube ? kCubePart : 1 + static_cast<std::size_t>(position_.sub_block);
  }
  /// Tells the cluster's other cores that the kernel has ended. What was pushed and never popped is an error.
  void leave_cluster(KernelCall& call);
  /// Wakes cores that wait for this one.
  void ring() const;
  /// With a seed: sometimes.
  void let_others_run();
  void note(std::string_view what) const {
    if (around_.events != nullptr) add_event(what);
  }
  void add_event(std::string_view what) const;
  /// In front of what the kernel prints: "[rank 0, vector core 1.0, add] ".
  [[nodiscard]] std::string origin() const;

  CorePosition position_;
  CoreSurroundings around_;
  CoreBuffers storage_;
  PipeFlags flags_;
  std::unique_ptr<OrderChecker> checker_;  // null unless order is strict
  std::optional<Chance> chance_;
  CheckedKernel checked_;
  SubmittedCopies copies_;
  KnownExtents extents_;
  FarTensors far_;
  ConditionSlab slab_;
  PrintedText printed_;
  LastWords last_words_{};
  FaultGuard* guard_ = nullptr;
  RunningKernel running_;
  const KernelCall* call_ = nullptr;
  LocalContext local_{};
  GlobalContext global_{};
};

/// Of a core (base/actor.hpp): "kernel 'ring' (task 7) on vector core 3.1"; empty if it runs none.
[[nodiscard]] std::string describe_running_kernel(const void* actor);

}  // namespace baton::chip
