#include "wire/control.hpp"

namespace baton::wire {

const char* control_defect(const void* memory, std::size_t bytes) noexcept {
  if (memory == nullptr || bytes < sizeof(ControlHeader)) return "too small for a control segment";
  const auto& header = *static_cast<const ControlHeader*>(memory);
  if (header.magic != kControlMagic) return "no control segment";
  if (header.version != kControlVersion) return "made by another version of Baton";
  if (header.rank_count == 0 || header.rank_count > kMaxRanks) return "an impossible number of ranks";
  if (header.event_areas != 0 && header.event_areas != header.rank_count) return "an impossible number of event areas";
  if (header.bytes != control_bytes(header.rank_count, header.event_areas) || header.bytes > bytes) return "cut short";
  return nullptr;
}

}  // namespace baton::wire
