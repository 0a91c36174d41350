#include "collectives/table_file.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "base/text_file.hpp"
#include "collectives/selection.hpp"

namespace baton::collectives {
namespace {

constexpr std::string_view kAny = "any";
constexpr std::string_view kWindows = "windows";
constexpr std::string_view kElsewhere = "elsewhere";

/// The value of a name among the first `count` values.
template <class Value>
std::optional<Value> value_named(std::string_view name, int count) {
  for (int i = 0; i < count; ++i) {
    if (name_of(static_cast<Value>(i)) == name) return static_cast<Value>(i);
  }
  return std::nullopt;
}

template <class Number>
std::optional<Number> number_or_any(std::string_view text, Number any) {
  if (text == kAny) return any;
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

/// Nothing if the words are no row.
std::optional<TunedRule> rule_of(const std::vector<std::string>& words) {
  if (words.size() != 5) return std::nullopt;
  const auto operation = value_named<Operation>(words[0], kOperations);
  const auto ranks = number_or_any<int>(words[1], kAnyRanks);
  const auto bytes = number_or_any<std::size_t>(words[3], kAnyBytes);
  const auto algorithm = value_named<Algorithm>(words[4], kAlgorithms);
  if (!operation || !ranks || !bytes || !algorithm || (words[2] != kWindows && words[2] != kElsewhere)) {
    return std::nullopt;
  }
  if (find_algorithm(*operation, *algorithm) == nullptr) return std::nullopt;
  return TunedRule{*operation, *ranks, words[2] == kWindows ? Location::in_windows : Location::elsewhere, *bytes,
                   *algorithm};
}

}  // namespace

std::vector<TunedRule> parse_table(std::string_view text, std::string_view file) {
  std::vector<TunedRule> rules;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream parts(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; parts >> word;) words.push_back(word);
    if (words.empty()) continue;
    const std::optional<TunedRule> rule = rule_of(words);
    if (!rule) {
      throw Error(Code::bad_option,
                  fmt::format("BATON_COLLECTIVE_TABLE: line {} of {} is \"{}\"; accepted: an operation, ranks, windows "
                              "or elsewhere, bytes, and an algorithm of that operation, as `baton tune` writes them",
                              number, file, line));
    }
    rules.push_back(*rule);
  }
  return rules;
}

std::vector<TunedRule> read_table_file(const std::string& file) {
  const auto text = read_text_file(file);
  if (!text) {
    throw Error(Code::bad_option,
                fmt::format("BATON_COLLECTIVE_TABLE: {} cannot be read: {}", file, ::strerrordesc_np(errno)));
  }
  return parse_table(*text, file);
}

std::string format_table(const std::vector<TunedRule>& rules) {
  const auto text_of = [](auto number, auto any) {
    return number == any ? std::string(kAny) : fmt::format("{}", number);
  };
  std::string text =
      fmt::format("# {:<13} {:>5}  {:<9} {:>12}  {}\n", "operation", "ranks", "place", "bytes", "algorithm");
  for (const TunedRule& rule : rules) {
    text +=
        fmt::format("{:<15} {:>5}  {:<9} {:>12}  {}\n", name_of(rule.operation), text_of(rule.most_ranks, kAnyRanks),
                    rule.location == Location::in_windows ? kWindows : kElsewhere, text_of(rule.most_bytes, kAnyBytes),
                    name_of(rule.algorithm));
  }
  return text;
}

}  // namespace baton::collectives
