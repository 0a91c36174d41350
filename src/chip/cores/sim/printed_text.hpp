// What a kernel prints: whole lines, each behind where it comes from.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace baton::chip {

/// Of one core. Lines appear when they end; nothing of another core comes between those of one call.
class PrintedText {
 public:
  enum class Stream : std::uint8_t { output, error };

  /// `origin` stands in front of each line: "[rank 0, vector core 1.0, add] ".
  void add(Stream stream, std::string_view text, std::string_view origin);

  /// The kernel has ended: shows what has no end of line yet, with one.
  void finish(std::string_view origin);

  [[nodiscard]] bool empty() const noexcept { return pending_[0].empty() && pending_[1].empty(); }

 private:
  std::array<std::string, 2> pending_;  // by Stream: the last line, as far as it has come
};

}  // namespace baton::chip
