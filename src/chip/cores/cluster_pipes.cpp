#include "chip/cores/cluster_pipes.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace baton::chip {
namespace {

bool is_producer(std::size_t part, PipeSlot::Way way) {
  return (part == kCubePart) == (way == PipeSlot::Way::to_vectors);
}

const char* way_of(PipeSlot::Way way) {
  return way == PipeSlot::Way::to_vectors ? "from the cube core to the vector cores"
                                          : "from the vector cores to the cube core";
}

}  // namespace

std::string ClusterPipes::describe(std::size_t part) const {
  const std::string core = part == kCubePart ? "the cube core" : fmt::format("vector core {}", part - 1);
  return kernels_[part] == nullptr ? core : fmt::format("{} ('{}')", core, kernels_[part]);
}

std::optional<std::size_t> ClusterPipes::missing(std::size_t part, const PipeSlot& slot, const Ring& ring) const {
  const bool produces = is_producer(part, slot.way);
  for (std::size_t other = 0; other < kClusterParts; ++other) {
    if (!takes_part(other) || is_producer(other, slot.way) == produces) continue;
    // A slot may be written when all have read what was in it before, and read when all have written it.
    const std::uint64_t needed =
        produces ? slot.index + 1 - std::min<std::uint64_t>(slot.index + 1, ring.slots) : slot.index + 1;
    if (ring.counts[other] < needed) return other;
  }
  return std::nullopt;
}

std::optional<std::string> ClusterPipes::disagreement(const PipeSlot& slot, Ring& ring) const {
  if (ring.slots == 0) {
    ring.slots = slot.slots;
    ring.slot_bytes = slot.slot_bytes;
    ring.contents.resize(slot.slots);
  }
  if (ring.slots == slot.slots && ring.slot_bytes == slot.slot_bytes) return std::nullopt;
  return fmt::format("pipe {} has {} slots of {} bytes here, {} of {} on another core of its cluster", slot.pipe,
                     slot.slots, slot.slot_bytes, ring.slots, ring.slot_bytes);
}

void ClusterPipes::begin(std::size_t part, const void* buffers) {
  const std::lock_guard lock(mutex_);
  buffers_[part] = buffers;
}

const void* ClusterPipes::buffers_of(std::size_t part) {
  const std::lock_guard lock(mutex_);
  return buffers_[part];
}

ClusterPipes::Answer ClusterPipes::ask(std::size_t part, const PipeSlot& slot) {
  const std::lock_guard lock(mutex_);
  Ring& ring = rings_[{slot.pipe, slot.way}];
  if (auto wrong = disagreement(slot, ring)) return {false, std::move(wrong)};
  const bool produces = is_producer(part, slot.way);
  bool has_other_side = false;
  for (std::size_t other = 0; other < kClusterParts; ++other) {
    has_other_side = has_other_side || (takes_part(other) && is_producer(other, slot.way) != produces);
  }
  if (!has_other_side) {
    return {false,
            fmt::format("pipe {} goes {}, but this task has no kernel on the other side", slot.pipe, way_of(slot.way))};
  }
  if (const auto other = missing(part, slot, ring)) {
    if (!ends_[*other]) return {false, std::nullopt};
    return {false, fmt::format("{} has {} and {} slot {} of pipe {} no more", describe(*other),
                               *ends_[*other] == End::failed ? "failed" : "returned", produces ? "pops" : "pushes",
                               produces ? slot.index - ring.slots : slot.index, slot.pipe)};
  }
  if (produces) return {true, std::nullopt};
  const Content& content = ring.contents[slot.index % ring.slots];
  if (content.element == nullptr || slot.element == nullptr) return {true, std::nullopt};
  if (content.row_elements != slot.row_elements || std::string_view(content.element) != slot.element) {
    return {false,
            fmt::format("slot {} of pipe {} was pushed with rows of {} {}, and is popped with rows of {} {}",
                        slot.index, slot.pipe, content.row_elements, content.element, slot.row_elements, slot.element)};
  }
  return {true, std::nullopt};
}

std::string ClusterPipes::awaited_by(std::size_t part, const PipeSlot& slot) {
  const std::lock_guard lock(mutex_);
  const auto other = missing(part, slot, rings_[{slot.pipe, slot.way}]);
  if (!other) return "nothing";
  const std::uint64_t count = rings_[{slot.pipe, slot.way}].counts[*other];
  const bool produces = is_producer(part, slot.way);
  return fmt::format("{} to {} slot {} of pipe {}; it has {} {} so far", describe(*other), produces ? "pop" : "push",
                     produces ? slot.index - slot.slots : slot.index, slot.pipe, produces ? "popped" : "pushed", count);
}

void ClusterPipes::done(std::size_t part, const PipeSlot& slot) {
  const std::lock_guard lock(mutex_);
  Ring& ring = rings_[{slot.pipe, slot.way}];
  // An empty tile beside another core's says nothing about what is in the slot.
  if (is_producer(part, slot.way) && slot.element != nullptr) {
    ring.contents[slot.index % ring.slots] = {slot.element, slot.row_elements};
  }
  ring.counts[part] = slot.index + 1;
}

std::optional<std::string> ClusterPipes::leave(std::size_t part, End end) {
  const std::lock_guard lock(mutex_);
  ends_[part] = end;
  for (std::size_t other = 0; other < kClusterParts; ++other) {
    if (takes_part(other) && ends_[other] != End::returned) return std::nullopt;  // still running, or failed
  }
  for (const auto& [name, ring] : rings_) {
    for (std::size_t producer = 0; producer < kClusterParts; ++producer) {
      for (std::size_t consumer = 0; consumer < kClusterParts; ++consumer) {
        if (!takes_part(producer) || !takes_part(consumer) || !is_producer(producer, name.second) ||
            is_producer(consumer, name.second) || ring.counts[producer] == ring.counts[consumer]) {
          continue;
        }
        return fmt::format("{} has pushed {} slots of pipe {}, {} has popped {}", describe(producer),
                           ring.counts[producer], name.first, describe(consumer), ring.counts[consumer]);
      }
    }
  }
  return std::nullopt;
}

}  // namespace baton::chip
