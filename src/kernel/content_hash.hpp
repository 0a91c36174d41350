// The hash that names what the cache holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton::kernel {

/// 128 bits of content. Equal content, equal hash; two different contents collide by chance only.
struct ContentHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  /// 32 digits.
  [[nodiscard]] std::string hex() const;
  /// Nothing if `text` is not what hex() writes.
  [[nodiscard]] static std::optional<ContentHash> from_hex(std::string_view text);

  friend bool operator==(const ContentHash&, const ContentHash&) = default;
};

[[nodiscard]] ContentHash hash_of(std::string_view content);

/// The hash of a sequence of texts, in which {"ab", "c"} and {"a", "bc"} differ.
class SequenceHash {
 public:
  void add(std::string_view text);
  void add(const std::vector<std::string>& texts);
  void add(ContentHash hash);
  [[nodiscard]] ContentHash finish() const { return hash_of(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace baton::kernel
