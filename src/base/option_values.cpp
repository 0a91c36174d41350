#include "base/option_values.hpp"

#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "base/digits.hpp"
#include "base/edit_distance.hpp"
#include "base/fail.hpp"
#include "base/quote.hpp"

namespace baton {
namespace {

[[noreturn]] void refuse(std::string_view source, std::string_view text, std::string_view form,
                         std::string_view reason) {
  throw Error(Code::bad_option, fmt::format("{}={}: {}", source, quote(text), reason),
              {fmt::format("accepted: {}", form)});
}

std::string_view take_digits(std::string_view& text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

std::optional<std::int64_t> unit_nanoseconds(std::string_view unit) noexcept {
  if (unit.empty() || unit == "s") return 1'000'000'000;
  if (unit == "ms") return 1'000'000;
  if (unit == "m") return 60'000'000'000;
  if (unit == "h") return 3'600'000'000'000;
  return std::nullopt;
}

std::optional<int> unit_shift(std::string_view unit) noexcept {
  if (unit.empty()) return 0;
  if (unit == "KiB") return 10;
  if (unit == "MiB") return 20;
  if (unit == "GiB") return 30;
  if (unit == "TiB") return 40;
  return std::nullopt;
}

// whole * unit, or nothing when that does not fit.
std::optional<std::int64_t> scaled(std::string_view whole, std::int64_t unit) noexcept {
  std::int64_t count = 0;
  if (std::from_chars(whole.data(), whole.data() + whole.size(), count).ec != std::errc()) return std::nullopt;
  std::int64_t product = 0;
  if (__builtin_mul_overflow(count, unit, &product)) return std::nullopt;
  return product;
}

// The digits after the point as nanoseconds, rounded down. Decimal from the last digit to the first, so that 1.1s is
// exactly 1100 ms; rounding down at each step rounds the whole down.
std::int64_t scaled_fraction(std::string_view fraction, std::int64_t unit) noexcept {
  std::int64_t nanoseconds = 0;
  for (auto digit = fraction.rbegin(); digit != fraction.rend(); ++digit) {
    nanoseconds = ((*digit - '0') * unit + nanoseconds) / 10;
  }
  return nanoseconds;
}

}  // namespace

std::chrono::nanoseconds parse_duration(std::string_view source, std::string_view text) {
  const auto no = [&](std::string_view reason) { refuse(source, text, kDurationForm, reason); };
  std::string_view rest = text;
  if (rest.empty()) no("is empty");
  if (rest.front() == '-') no("a duration cannot be negative");
  const std::string_view whole = take_digits(rest);
  if (whole.empty()) no("does not start with a number");
  std::string_view fraction;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
    if (fraction.empty()) no("no digits follow the point");
  }
  const auto unit = unit_nanoseconds(rest);
  if (!unit) no(fmt::format("{} is not a unit", quote(rest)));
  const auto base = scaled(whole, *unit);
  std::int64_t total = 0;
  if (!base || __builtin_add_overflow(*base, scaled_fraction(fraction, *unit), &total)) no("is too long");
  if (total == 0) no("a duration must be longer than zero");
  return std::chrono::nanoseconds(total);
}

std::uint64_t parse_bytes(std::string_view source, std::string_view text) {
  const auto no = [&](std::string_view reason) { refuse(source, text, kBytesForm, reason); };
  std::string_view rest = text;
  if (rest.empty()) no("is empty");
  const std::string_view digits = take_digits(rest);
  if (digits.empty()) no("does not start with a number");
  const auto shift = unit_shift(rest);
  if (!shift) no(fmt::format("{} is not a unit", quote(rest)));
  const auto total = scaled(digits, std::int64_t{1} << *shift);
  if (!total) no("is too large");
  if (*total == 0) no("a size must be more than zero");
  return static_cast<std::uint64_t>(*total);
}

int parse_integer(std::string_view source, std::string_view text, int minimum, std::string_view form) {
  if (text.empty()) refuse(source, text, form, "is empty");
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end) refuse(source, text, form, "is not a decimal number");
  if (error == std::errc::result_out_of_range) {
    refuse(source, text, form, fmt::format("is outside {} to {}", minimum, std::numeric_limits<int>::max()));
  }
  if (value < minimum) refuse(source, text, form, fmt::format("is below {}", minimum));
  return value;
}

std::uint64_t parse_seed(std::string_view source, std::string_view text, std::string_view form) {
  if (text.empty()) refuse(source, text, form, "is empty");
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range) refuse(source, text, form, "has more than 64 bits");
  if (error != std::errc() || stop != end) refuse(source, text, form, "is not a decimal number");
  return value;
}

PipeOrder parse_pipe_order(std::string_view source, std::string_view text) {
  if (text == "program") return PipeOrder::program;
  if (text == "strict") return PipeOrder::strict;
  refuse(source, text, kPipeOrderForm, text.empty() ? "is empty" : "is not an order of pipes");
}

InPlace parse_in_place(std::string_view source, std::string_view text) {
  if (text == "auto") return InPlace::automatic;
  if (text == "never") return InPlace::never;
  if (text == "always") return InPlace::always;
  refuse(source, text, kInPlaceForm, text.empty() ? "is empty" : "says nothing of which tasks");
}

LogLevel parse_log_level(std::string_view source, std::string_view text) {
  using enum LogLevel;
  constexpr std::pair<std::string_view, LogLevel> kNames[] = {{"trace", trace}, {"debug", debug}, {"info", info},
                                                              {"warn", warn},   {"error", error}, {"off", off}};
  for (const auto& [name, level] : kNames) {
    if (text == name) return level;
  }
  refuse(source, text, kLogLevelForm, text.empty() ? "is empty" : "is not a level of the log");
}

namespace {

/// One of two words, or a file with a dot or a slash in its name. `word` is the one that people mistype.
std::string parse_word_or_file(std::string_view source, std::string_view text, std::string_view form,
                               std::string_view word) {
  if (text.empty()) refuse(source, text, form, "is empty");
  const bool is_file = text.find_first_of("./") != std::string_view::npos;
  if (!is_file && text != "off" && text != word) {
    const bool is_near = edit_distance(text, word) <= word.size() / 3;
    refuse(
        source, text, form,
        fmt::format("is neither a word it knows nor a file{}", is_near ? fmt::format("; do you mean {}?", word) : ""));
  }
  return std::string(text);
}

}  // namespace

std::string parse_profile(std::string_view source, std::string_view text) {
  return parse_word_or_file(source, text, kProfileForm, "summary");
}

std::string parse_trace(std::string_view source, std::string_view text) {
  return parse_word_or_file(source, text, kTraceForm, "last");
}

bool parse_check(std::string_view source, std::string_view text) {
  if (text == "on") return true;
  if (text == "off") return false;
  refuse(source, text, kCheckForm, text.empty() ? "is empty" : "is neither of them");
}

std::string parse_name(std::string_view source, std::string_view text, std::string_view form) {
  if (text.empty()) refuse(source, text, form, "is empty");
  return std::string(text);
}

}  // namespace baton
