#include <baton/device_list.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

#include "base/digits.hpp"
#include "base/fail.hpp"
#include "base/quote.hpp"

namespace baton {
namespace {

constexpr int kLargestDevice = 1'000'000;
constexpr std::size_t kMostDevices = 65'536;
/// How much of a long list a message shows on each side of the spot.
constexpr std::size_t kContext = 30;

constexpr bool is_space(char c) noexcept { return c == ' ' || c == '\t'; }

/// A piece of the list, by its place in the list.
struct Piece {
  std::size_t begin;
  std::size_t end;
  [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
};

class Parser {
 public:
  explicit Parser(std::string_view list) : list_(list) {}

  std::vector<int> parse() {
    if (trimmed({0, list_.size()}).size() == 0) fail_at({0, list_.size()}, "it is empty");
    std::size_t begin = 0;
    for (;;) {
      const std::size_t end = std::min(list_.find(',', begin), list_.size());
      add_item({begin, end});
      if (end == list_.size()) return std::move(devices_);
      begin = end + 1;
    }
  }

 private:
  void add_item(Piece written) {
    const Piece item = trimmed(written);
    // The comma that ends an empty item belongs to the spot: an empty spot cannot be underlined.
    if (item.size() == 0) fail_at({written.begin, std::min(written.end + 1, list_.size())}, "an item is empty");
    if (list_[item.begin] == '-') fail_at(item, fmt::format("{} is negative", text(item)));
    const std::size_t dash = std::min(text(item).find('-'), item.size()) + item.begin;
    const int first = number({item.begin, dash});
    if (dash == item.end) return add_range(item, first, first);
    if (dash + 1 == item.end) fail_at(item, fmt::format("range {} has no end", text(item)));
    const int last = number({dash + 1, item.end});
    if (last < first) fail_at(item, fmt::format("range {} runs backwards", text(item)));
    add_range(item, first, last);
  }

  int number(Piece piece) const {
    int value = 0;
    for (const char c : list_.substr(piece.begin, piece.size())) {
      if (!is_digit(c))
        fail_at(piece, fmt::format("{} is not a number", quote(list_.substr(piece.begin, piece.size()))));
      value = std::min(value * 10 + (c - '0'), kLargestDevice + 1);
    }
    if (value > kLargestDevice) fail_at(piece, fmt::format("{} is above {}", text(piece), kLargestDevice));
    return value;
  }

  void add_range(Piece item, int first, int last) {
    const auto count = static_cast<std::size_t>(last - first) + 1;
    if (count > kMostDevices - devices_.size()) fail_at(item, fmt::format("more than {} devices", kMostDevices));
    if (const auto twice = first_named(first, last)) fail_at(item, fmt::format("device {} is named twice", *twice));
    named_.emplace(first, last);
    for (int device = first; device <= last; ++device) devices_.push_back(device);
  }

  /// The least device of the range that an earlier range holds.
  [[nodiscard]] std::optional<int> first_named(int first, int last) const {
    const auto after = named_.upper_bound(first);
    if (after != named_.begin() && std::prev(after)->second >= first) return first;
    if (after != named_.end() && after->first <= last) return after->first;
    return std::nullopt;
  }

  [[nodiscard]] Piece trimmed(Piece piece) const noexcept {
    while (piece.size() > 0 && is_space(list_[piece.begin])) ++piece.begin;
    while (piece.size() > 0 && is_space(list_[piece.end - 1])) --piece.end;
    return piece;
  }

  [[nodiscard]] std::string text(Piece piece) const {
    if (piece.size() <= kContext) return printable(list_.substr(piece.begin, piece.size()));
    return printable(list_.substr(piece.begin, kContext)) + "...";
  }

  /// Notes: the list, or what surrounds the spot in a long one, and below it a mark under the spot.
  [[noreturn]] void fail_at(Piece spot, const std::string& reason) const {
    const std::string message = fmt::format("device list {}: {}", quote(list_), reason);
    if (list_.empty()) throw Error(Code::bad_device_list, message);
    const std::size_t begin = spot.begin > kContext ? spot.begin - kContext : 0;
    const std::size_t spot_end = std::min(spot.end, spot.begin + kContext);
    const std::size_t end = std::min(spot_end + kContext, list_.size());
    const std::string before = (begin > 0 ? "..." : "") + printable(list_.substr(begin, spot.begin - begin));
    const std::string marked = printable(list_.substr(spot.begin, spot_end - spot.begin));
    const std::string after = printable(list_.substr(spot_end, end - spot_end)) + (end < list_.size() ? "..." : "");
    const std::string tail(marked.empty() ? 0 : marked.size() - 1, '~');
    throw Error(Code::bad_device_list, message,
                {before + marked + after, std::string(before.size(), ' ') + "^" + tail});
  }

  std::string_view list_;
  std::vector<int> devices_;
  /// The ranges read so far, first to last device. No two overlap.
  std::map<int, int> named_;
};

}  // namespace

std::vector<int> parse_device_list(std::string_view text) { return Parser(text).parse(); }

std::string format_device_list(const std::vector<int>& devices) {
  std::string text;
  for (std::size_t begin = 0; begin < devices.size();) {
    std::size_t end = begin + 1;
    while (end < devices.size() && std::int64_t{devices[end]} - devices[end - 1] == 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(devices[begin]);
    if (end - begin > 1) text += '-' + std::to_string(devices[end - 1]);
    begin = end;
  }
  return text;
}

}  // namespace baton
