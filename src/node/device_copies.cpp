#include "node/device_copies.hpp"

#include <cstring>
#include <span>

#include "chip/graph/view.hpp"

namespace baton::node {
namespace {

/// Bytes that are compared at once.
constexpr std::size_t kPiece = 64;

void write_changes(std::byte* to, std::span<const std::uint8_t> before, std::span<const std::uint8_t> after) {
  for (std::size_t piece = 0; piece < after.size(); piece += kPiece) {
    const std::size_t count = std::min(kPiece, after.size() - piece);
    if (std::memcmp(before.data() + piece, after.data() + piece, count) == 0) continue;
    for (std::size_t i = piece; i < piece + count; ++i) {
      if (before[i] != after[i]) to[i] = std::byte{after[i]};
    }
  }
}

}  // namespace

std::uint64_t DeviceCopies::address_of(std::uint64_t id, const MappedBuffer& buffer) {
  Copy& copy = copies_[id];
  if (copy.host == nullptr) {
    copy.on_chip = chip_.alloc(DType::uint8, {static_cast<std::int64_t>(buffer.bytes)}, buffer.name);
    copy.host = buffer.address;
  }
  return copy.on_chip.address();
}

void DeviceCopies::forget(std::uint64_t id) {
  const auto found = copies_.find(id);
  if (found == copies_.end()) return;
  if (found->second.host != nullptr) chip_.free(found->second.on_chip);
  copies_.erase(found);
}

void DeviceCopies::use(std::uint64_t id, const Tensor& tensor, Use use) {
  Copy& copy = copies_.at(id);
  const graph::View view = graph::view_of(tensor);
  const std::uint64_t base = copy.on_chip.address();
  used_.push_back({.copy = &copy,
                   .begin = static_cast<std::int64_t>(view.start - base),
                   .end = static_cast<std::int64_t>(view.end() - base),
                   .use = use});
}

void DeviceCopies::bring() {
  for (Used& used : used_) {
    const auto* from = reinterpret_cast<const std::uint8_t*>(used.copy->host) + used.begin;
    // Kept as it was: another chip may write beside it meanwhile.
    used.before.assign(from, from + (used.end - used.begin));
    chip_.copy_in<std::uint8_t>(used.copy->on_chip.slice(used.begin, used.end), used.before);
  }
}

void DeviceCopies::take_back() {
  std::vector<std::uint8_t> after;
  for (const Used& used : used_) {
    if (used.use == Use::read) continue;
    after.resize(used.before.size());
    chip_.copy_out<std::uint8_t>(used.copy->on_chip.slice(used.begin, used.end), after);
    write_changes(used.copy->host + used.begin, used.before, after);
  }
  used_.clear();
}

}  // namespace baton::node
