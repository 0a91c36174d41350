// One simulated core: the table of functions that tile instructions call, and the state behind it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <pto/target/core.hpp>

#include "chip/cores/global_memory.hpp"
#include "chip/cores/profile.hpp"
#include "chip/cores/sim/buffers.hpp"
#include "chip/cores/sim/dma_engine.hpp"
#include "chip/cores/sim/fault_guard.hpp"
#include "chip/cores/sim/kernel_call.hpp"
#include "chip/cores/sim/pipe_flags.hpp"

namespace baton::chip {

enum class CoreType : std::uint8_t { cube, vector };

/// Where a core is: its number among all cores of the chip, its cluster, and its place among the cluster's vectors.
struct CorePlace {
  int number;
  int cluster;
  CoreType type;
  int sub_block;  // 0 or 1 for vectors, 0 for cubes
};

[[nodiscard]] std::string describe(const CorePlace& place);

/// Used by one fiber (or thread) at a time.
class SimCore final : public BatonCore {
 public:
  SimCore(const CorePlace& place, const Profile& profile, GlobalMemory& memory, DmaEngine& dma);
  SimCore(const SimCore&) = delete;
  SimCore& operator=(const SimCore&) = delete;

  [[nodiscard]] const CorePlace& place() const noexcept { return place_; }

  /// Runs `call` to its end on the calling fiber. What goes wrong is in call.error, with the kernel's name and this
  /// core's. Does not set call.finished.
  void run(KernelCall& call);

 private:
  friend struct CoreFunctions;
  friend FaultGuard* current_fault_guard() noexcept;

  void execute(KernelCall& call);
  void check_left_open(KernelCall& call);
  [[noreturn]] void fail(std::int32_t code, const BatonPlace* place, const std::string& text) const;

  CorePlace place_;
  GlobalMemory& memory_;
  DmaEngine& dma_;
  CoreBuffers storage_;
  PipeFlags flags_;
  /// What the running kernel submitted, by the address of the record.
  struct SubmittedCopy {
    BatonPlace place;
    bool awaited = false;   // or tested to be complete
    bool deferred = false;  // a completion condition waits for it
  };
  std::map<std::uint64_t, SubmittedCopy> copies_;
  FaultGuard* guard_ = nullptr;
  const KernelCall* call_ = nullptr;
};

}  // namespace baton::chip
