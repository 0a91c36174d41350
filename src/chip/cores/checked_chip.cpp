#include "chip/cores/checked_chip.hpp"

#include "base/access_text.hpp"

namespace baton::chip {
namespace {

/// Among those of this process.
std::uint64_t next_chip() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace

CheckedChip::CheckedChip(std::uint32_t rank) noexcept : rank_(rank), first_activity_(next_chip() << kChipShift) {}

void CheckedChip::record(EventKind kind, CheckedBytes bytes, const char* buffer, const char* operation,
                         const EventSource& from) const {
  bytes.owner = rank_;
  EventRecord event{.end = from.activity,
                    .kind = kind,
                    .rank = rank_,
                    .object = events::text_of(buffer),
                    .place = text_of_access(operation, from)};
  pack(bytes, event);
  events::record(event);
}

}  // namespace baton::chip
