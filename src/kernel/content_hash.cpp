#include "kernel/content_hash.hpp"

#include <charconv>

#include <fmt/format.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace baton::kernel {

std::string ContentHash::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

std::optional<ContentHash> ContentHash::from_hex(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  ContentHash hash;
  const auto read = [](std::string_view digits, std::uint64_t& value) {
    const char* const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value, 16);
    return error == std::errc() && stop == end;
  };
  if (!read(text.substr(0, 16), hash.high) || !read(text.substr(16), hash.low)) return std::nullopt;
  return hash;
}

ContentHash hash_of(std::string_view content) {
  const XXH128_hash_t hash = XXH3_128bits(content.data(), content.size());
  return {.high = hash.high64, .low = hash.low64};
}

void SequenceHash::add(std::string_view text) {
  bytes_ += fmt::format("{}:", text.size());
  bytes_ += text;
}

void SequenceHash::add(const std::vector<std::string>& texts) {
  bytes_ += fmt::format("[{}]", texts.size());
  for (const std::string& text : texts) add(std::string_view(text));
}

void SequenceHash::add(ContentHash hash) { add(hash.hex()); }

}  // namespace baton::kernel
