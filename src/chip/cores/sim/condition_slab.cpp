#include "chip/cores/sim/condition_slab.hpp"

#include "base/fail.hpp"

namespace baton::chip {
namespace {

/// A condition of a kernel that has returned: checked, so that testing it later cannot crash.
Condition condition_of(const DeferredCompletionEntry& entry, const GlobalMemory& memory, SubmittedCopies& copies) {
  Condition condition{ConditionKind::counter, reinterpret_cast<const void*>(entry.addr), entry.expected_value,
                      entry.engine};
  // The older form asks for a copy's record as for a counter; either way it is the copy that counts.
  if (const SubmittedCopy* copy = copies.find(entry.addr)) {
    condition.kind = ConditionKind::dma_event;
    condition.expected = 1;
    condition.operation = copy->record;
    copies.take_care(*copy, SubmittedCopy::Care::condition);
    return condition;
  }
  std::size_t bytes = sizeof(std::uint32_t);
  if (entry.completion_type == COMPLETION_TYPE_SDMA_EVENT_RECORD) {
    condition.kind = ConditionKind::dma_event;
    condition.expected = entry.backend_cookie;
    bytes = sizeof(std::uint64_t);
  } else if (entry.completion_type != COMPLETION_TYPE_COUNTER) {
    fail(Code::invalid_argument, "there is no completion condition of type {}", entry.completion_type);
  }
  if (entry.addr % bytes != 0) {
    fail(Code::misaligned,
         "a completion condition on a word of {} bytes at address {:#x}, which is not a multiple of that", bytes,
         entry.addr);
  }
  if (!memory.known(condition.address, bytes)) {
    fail(Code::out_of_range, "a completion condition on a word that is in no tensor and no window ({})",
         memory.describe_nearest(condition.address));
  }
  return condition;
}

}  // namespace

std::vector<Condition> ConditionSlab::collect(const KernelCall& call, const GlobalMemory& memory,
                                              SubmittedCopies& copies) {
  std::vector<DeferredCompletionEntry> registered;
  if (call.condition_capacity != 0) collect_entries(call, registered);
  if (call.completion_queue_slot) collect_queue(registered);
  std::vector<Condition> conditions;
  conditions.reserve(registered.size());
  for (const DeferredCompletionEntry& entry : registered) {
    conditions.push_back(condition_of(entry, memory, copies));
  }
  return conditions;
}

void ConditionSlab::collect_entries(const KernelCall& call, std::vector<DeferredCompletionEntry>& into) const {
  if (error_ == PTO2_ERROR_ASYNC_WAIT_OVERFLOW) {
    fail(Code::too_many_conditions, "it registered more than the {} completion conditions it has room for",
         call.condition_capacity);
  }
  if (error_ != 0 || count_ > call.condition_capacity) {
    fail(Code::invalid_argument,
         "it registered a completion condition that makes no sense (error {}, {} of {} registered): a null address, an "
         "unknown type, a zero cookie, or a request without a session",
         error_, count_, call.condition_capacity);
  }
  into.insert(into.end(), entries_.begin(), entries_.begin() + count_);
}

void ConditionSlab::collect_queue(std::vector<DeferredCompletionEntry>& into) const {
  const std::int32_t count = queue_.count;
  if (count > PTO2_CQ_MAX_ENTRIES) {
    fail(Code::too_many_conditions, "it registered {} completion conditions in a queue with room for {}", count,
         PTO2_CQ_MAX_ENTRIES);
  }
  for (std::int32_t i = 0; i < count; ++i) {
    const PTO2CQEntry& entry = queue_.entries[i];
    into.push_back({entry.addr, 0, entry.expected_value, entry.engine, entry.completion_type, 0});
  }
}

}  // namespace baton::chip
