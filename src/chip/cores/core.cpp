#include "chip/cores/core.hpp"

#include <fmt/format.h>

namespace baton::chip {

std::string describe(const CorePosition& position) {
  if (position.cluster == CorePosition::kSubmitter) return "the submitting thread";
  if (position.type == CoreType::cube) return fmt::format("cube core {}", position.cluster);
  return fmt::format("vector core {}.{}", position.cluster, position.sub_block);
}

std::string short_name(const CorePosition& position) {
  if (position.cluster == CorePosition::kSubmitter) return "submitter";
  if (position.type == CoreType::cube) return fmt::format("c{}", position.cluster);
  return fmt::format("v{}.{}", position.cluster, position.sub_block);
}

}  // namespace baton::chip
