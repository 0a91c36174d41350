#include "platform/ascend/conditions.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "platform/ascend/generation.hpp"

namespace baton::ascend {
namespace {

template <class Field>
Field* on_chip(std::uint64_t block, std::size_t offset) {
  return reinterpret_cast<Field*>(block + offset);
}

[[noreturn]] void fail(const GraphTask& task, Code code, const std::string& what) {
  throw Error(code, fmt::format("kernel '{}': {}", task.kernel->name, what));
}

/// What one block has registered, in both forms.
std::vector<DeferredCompletionEntry> entries_of(const GraphTask& task, const ConditionBlock& block) {
  const std::int32_t error = block.slab.error_code;
  const std::uint32_t count = block.slab.count;
  const std::int32_t queued = block.queue.count;
  if (error == PTO2_ERROR_ASYNC_WAIT_OVERFLOW || queued > PTO2_CQ_MAX_ENTRIES) {
    fail(task, Code::too_many_conditions,
         fmt::format("it registered more than the {} completion conditions that it has room for",
                     queued > PTO2_CQ_MAX_ENTRIES ? PTO2_CQ_MAX_ENTRIES : +DEFERRED_COMPLETION_CAPACITY));
  }
  if (error != 0 || count > DEFERRED_COMPLETION_CAPACITY || queued < 0) {
    fail(task, Code::invalid_argument,
         fmt::format("it registered a completion condition that makes no sense (error {}): a null address, an unknown "
                     "type, a zero cookie, or an asynchronous copy, for which platform {} has no DMA engine: "
                     "let the kernel copy itself, with TGET or TPUT",
                     error, kGeneration.platform));
  }
  std::vector<DeferredCompletionEntry> entries(block.slab.entries, block.slab.entries + count);
  for (std::int32_t i = 0; i < queued; ++i) {
    const PTO2CQEntry& entry = block.queue.entries[i];
    entries.push_back({entry.addr, 0, entry.expected_value, entry.engine, entry.completion_type, 0});
  }
  return entries;
}

Condition checked(const GraphTask& task, const DeferredCompletionEntry& entry,
                  std::span<const BatonDeviceExtent> extents) {
  Condition condition{entry.addr, sizeof(std::uint32_t), entry.expected_value};
  if (entry.completion_type == COMPLETION_TYPE_SDMA_EVENT_RECORD) {
    condition.bytes = sizeof(std::uint64_t);
    condition.expected = entry.backend_cookie;
  } else if (entry.completion_type != COMPLETION_TYPE_COUNTER) {
    fail(task, Code::invalid_argument,
         fmt::format("there is no completion condition of type {}", entry.completion_type));
  }
  if (entry.addr % condition.bytes != 0) {
    fail(task, Code::misaligned,
         fmt::format("a completion condition on a word of {} bytes at address {:#x}, which is not a multiple of that",
                     condition.bytes, entry.addr));
  }
  const bool known = std::ranges::any_of(extents, [&](const BatonDeviceExtent& extent) {
    return extent.bytes >= condition.bytes && entry.addr >= extent.address &&
           entry.addr - extent.address <= extent.bytes - condition.bytes;
  });
  if (!known) {
    fail(
        task, Code::out_of_range,
        fmt::format("a completion condition on a word that is in no tensor and no window (address {:#x})", entry.addr));
  }
  return condition;
}

}  // namespace

AsyncCtx context_of(std::uint64_t block) noexcept {
  if (block == 0) return {nullptr, nullptr, nullptr, 0, {UINT64_MAX}};
  constexpr std::size_t kSlab = offsetof(ConditionBlock, slab);
  // Any token but all ones says that the task may be complete later.
  return {on_chip<volatile std::uint32_t>(block, kSlab + offsetof(DeferredCompletionSlab, count)),
          on_chip<volatile std::int32_t>(block, kSlab + offsetof(DeferredCompletionSlab, error_code)),
          on_chip<DeferredCompletionEntry>(block, kSlab + offsetof(DeferredCompletionSlab, entries)),
          DEFERRED_COMPLETION_CAPACITY,
          {0}};
}

std::vector<Condition> conditions_of(const Npu& npu, const GraphTask& task,
                                     std::span<const BatonDeviceExtent> extents) {
  std::vector<ConditionBlock> blocks(task.parts());
  npu.copy_out(blocks.data(), task.conditions, blocks.size() * sizeof(ConditionBlock));
  std::vector<Condition> conditions;
  for (const ConditionBlock& block : blocks) {
    for (const DeferredCompletionEntry& entry : entries_of(task, block)) {
      conditions.push_back(checked(task, entry, extents));
    }
  }
  return conditions;
}

std::uint64_t value_of(const Npu& npu, const Condition& condition) {
  std::uint64_t value = 0;  // little-endian, as the chip
  npu.copy_out(&value, condition.address, condition.bytes);
  return value;
}

}  // namespace baton::ascend
