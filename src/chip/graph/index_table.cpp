#include "chip/graph/index_table.hpp"

#include <utility>

namespace baton::graph {

void IndexTable::insert(std::uint32_t hash, std::uint32_t value) {
  if (4 * (count_ + 1) > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].value != kNone) at = (at + 1) & mask;
  slots_[at] = {hash, value};
  ++count_;
}

std::size_t IndexTable::position(std::uint32_t hash, std::uint32_t value) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].value != value) at = (at + 1) & mask;
  return at;
}

void IndexTable::replace(std::uint32_t hash, std::uint32_t value, std::uint32_t by) {
  slots_[position(hash, value)].value = by;
}

void IndexTable::erase(std::uint32_t hash, std::uint32_t value) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = position(hash, value);
  // What follows without a gap moves into the hole if its search begins at or before it.
  for (std::size_t at = (hole + 1) & mask; slots_[at].value != kNone; at = (at + 1) & mask) {
    const std::size_t home = slots_[at].hash & mask;
    if (((at - home) & mask) >= ((at - hole) & mask)) {
      slots_[hole] = slots_[at];
      hole = at;
    }
  }
  slots_[hole].value = kNone;
  --count_;
}

void IndexTable::grow() {
  std::vector<Slot> old(2 * slots_.size());
  std::swap(old, slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.value == kNone) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].value != kNone) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace baton::graph
