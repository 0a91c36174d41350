// Where a running kernel registers completion conditions, and what it registered.
#pragma once

#include <cstdint>
#include <vector>

#include <intrinsic.h>
#include <pto_cq_types.h>

#include "chip/cores/condition.hpp"
#include "chip/cores/global_memory.hpp"
#include "chip/cores/kernel_call.hpp"
#include "chip/cores/sim/submitted_copies.hpp"

namespace baton::chip {

/// One per core; used by the fiber that runs its kernel.
class ConditionSlab {
 public:
  /// Before the kernel: empties the slab, points `context` (and the call's queue slot) to it.
  void open(KernelCall& call, AsyncCtx& context) {
    count_ = 0;
    error_ = 0;
    queue_.count = 0;
    if (call.completion_queue_slot) {
      call.args.at(*call.completion_queue_slot) = reinterpret_cast<std::int64_t>(&queue_);
    }
    if (call.condition_capacity == 0) {
      context = {nullptr, nullptr, nullptr, 0, {UINT64_MAX}};
      return;
    }
    if (entries_.size() < call.condition_capacity) entries_.resize(call.condition_capacity);
    // Any token but all ones says that the task may complete later.
    context = {&count_, &error_, entries_.data(), call.condition_capacity, {0}};
  }

  /// After it returned: whether it registered anything, or tried to.
  [[nodiscard]] bool is_used() const noexcept { return count_ != 0 || error_ != 0 || queue_.count != 0; }

  /// The conditions, in the order in which the kernel registered them. Throws Error for what it did wrong.
  /// `copies` are its own: a condition on one of them holds its record.
  [[nodiscard]] std::vector<Condition> collect(const KernelCall& call, const GlobalMemory& memory,
                                               SubmittedCopies& copies);

 private:
  void collect_entries(const KernelCall& call, std::vector<DeferredCompletionEntry>& into) const;
  void collect_queue(std::vector<DeferredCompletionEntry>& into) const;

  std::vector<DeferredCompletionEntry> entries_;
  std::uint32_t count_ = 0;
  std::int32_t error_ = 0;
  PTO2CompletionQueue queue_{};
};

}  // namespace baton::chip
