#include "chip/cores/sim/checked_kernel.hpp"

#include "chip/cores/sim/byte_runs.hpp"

namespace baton::chip {
namespace {

CheckedUse use_of(std::uint32_t access) {
  if ((access & BATON_ATOMIC) != 0) return CheckedUse::atomic;
  return (access & BATON_WRITES) != 0 ? CheckedUse::write : CheckedUse::read;
}

/// Slots of one ring follow each other; those that come back are counted apart.
std::uint64_t token_of(const ClusterPipes& pipes, const PipeSlot& slot, CheckedKernel::Side handed_by,
                       std::uint64_t index) {
  const std::uint64_t ring = std::uint64_t{slot.pipe} << 2U | static_cast<std::uint64_t>(slot.way) << 1U |
                             static_cast<std::uint64_t>(handed_by);
  return mix(mix(pipes.token, ring), index);
}

}  // namespace

void CheckedKernel::issue(const BatonIssue& issue) const {
  if (issue.global_count == 0) return;
  const BatonPlace& place = *issue.place;
  const EventSource from{.where = {place.file, place.line}, .activity = activity_, .kernel = kernel_};
  for (std::uint32_t i = 0; i < issue.global_count; ++i) {
    const BatonGlobalRange& range = issue.globals[i];
    for_each_rows(range, [&](std::uintptr_t at, const CheckedRows& rows) {
      memory_.note_touch(reinterpret_cast<const void*>(at), rows, use_of(range.access), place.instruction, from);
    });
  }
}

CarriedNotification CheckedKernel::carried(const EventSource& from) noexcept {
  if (activity_ == 0) return {.from = from};
  CheckedChip& chip = memory_.checked();
  CarriedNotification carried{.from = from, .sent = chip.next_token(), .arrived = chip.next_token()};
  carried.from.activity = CheckedChip::carrier_of(activity_);
  chip.hand(activity_, carried.sent);
  last_sent_ = carried.arrived;
  return carried;
}

void CheckedKernel::acquired(const ClusterPipes& pipes, const PipeSlot& slot, Side side) const noexcept {
  if (side == Side::pops) return take(token_of(pipes, slot, Side::pushes, slot.index));
  if (slot.index >= slot.slots) take(token_of(pipes, slot, Side::pops, slot.index - slot.slots));
}

void CheckedKernel::released(const ClusterPipes& pipes, const PipeSlot& slot, Side side) const noexcept {
  hand(token_of(pipes, slot, side, slot.index));
}

}  // namespace baton::chip
