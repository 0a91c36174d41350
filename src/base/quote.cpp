#include "base/quote.hpp"

#include <fmt/format.h>

namespace baton {
namespace {

constexpr std::size_t kLongestQuote = 80;

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (const char c : text) {
    if (c >= ' ' && c <= '~') {
      shown += c;
    } else {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return shown;
}

std::string quote(std::string_view text) {
  const std::string shown = printable(text.substr(0, kLongestQuote));
  return fmt::format("\"{}\"{}", shown, text.size() > kLongestQuote ? "..." : "");
}

}  // namespace baton
