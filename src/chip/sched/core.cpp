#include "chip/sched/core.hpp"

#include <fmt/format.h>

namespace baton::chip {

std::string describe(const CorePlace& place) {
  if (place.cluster == CorePlace::kSubmitter) return "the submitting thread";
  if (place.type == CoreType::cube) return fmt::format("cube core {}", place.cluster);
  return fmt::format("vector core {}.{}", place.cluster, place.sub_block);
}

}  // namespace baton::chip
