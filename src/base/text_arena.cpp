#include "base/text_arena.hpp"

#include <algorithm>
#include <cstring>

namespace baton {
namespace {

struct EntryHeader {
  std::uint32_t id;
  std::uint32_t bytes;
};
constexpr std::size_t kAlignment = alignof(std::uint64_t);

constexpr std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

bool append_text(TextArenaHeader& header, std::span<std::byte> bytes, TextId id, std::string_view text) noexcept {
  const std::uint64_t used = header.used.load(std::memory_order_relaxed);
  const std::size_t needed = sizeof(EntryHeader) + padded(text.size());
  if (used > bytes.size() || needed > bytes.size() - used) return false;
  const EntryHeader entry{id, static_cast<std::uint32_t>(text.size())};
  std::memcpy(bytes.data() + used, &entry, sizeof entry);
  std::memcpy(bytes.data() + used + sizeof entry, text.data(), text.size());
  // Pairs with the load in read_texts().
  header.used.store(used + needed, std::memory_order_release);
  return true;
}

void read_texts(const TextArenaHeader& header, std::span<const std::byte> bytes, std::map<TextId, std::string>& texts) {
  // Pairs with the store in append_text().
  const std::uint64_t used = std::min<std::uint64_t>(header.used.load(std::memory_order_acquire), bytes.size());
  std::uint64_t at = 0;
  while (used - at >= sizeof(EntryHeader)) {
    EntryHeader entry{};
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    at += sizeof entry;
    if (entry.bytes > used - at) return;
    std::string text(reinterpret_cast<const char*>(bytes.data() + at), entry.bytes);
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
    texts.insert_or_assign(entry.id, std::move(text));
    at = std::min<std::uint64_t>(used, at + padded(entry.bytes));
  }
}

}  // namespace baton
