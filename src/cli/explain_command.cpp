#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "base/edit_distance.hpp"
#include "base/fail.hpp"
#include "base/quote.hpp"
#include "base/table.hpp"
#include "cli/command.hpp"

namespace baton::cli {
namespace {

constexpr const char* kExplainExamples = R"(
Every message of Baton's ends with a code, as in [BATON-E031]. Its number alone will do, with or without E, and so does
its name. Without CODE, all errors are listed.

examples:
  baton explain BATON-E031
  baton explain 31
  baton explain wait_timeout)";

int number_of(const ErrorInfo& row) { return static_cast<int>(row.code); }

std::string code_of(const ErrorInfo& row) { return fmt::format("BATON-E{:03}", number_of(row)); }

/// In small letters, without the brackets and the prefix of a message: "[BATON-E031]" is "031".
std::string bare(std::string_view word) {
  std::string text(word);
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (text.starts_with('[')) text.erase(0, 1);
  if (text.ends_with(']')) text.pop_back();
  if (text.starts_with("baton-")) text.erase(0, 6);
  if (text.size() > 1 && text.front() == 'e' && std::isdigit(static_cast<unsigned char>(text[1])) != 0) {
    text.erase(0, 1);
  }
  return text;
}

std::optional<int> as_number(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// How far a row is from what was asked for; beyond this it is no suggestion.
constexpr std::size_t kNear = 5;
std::size_t distance(const ErrorInfo& row, const std::string& text, std::optional<int> number) {
  if (!number) return edit_distance(text, row.name);
  return static_cast<std::size_t>(std::abs(static_cast<long>(*number) - number_of(row)));
}

[[noreturn]] void refuse(const std::string& word, const std::string& text, std::optional<int> number) {
  const auto far = [&](const ErrorInfo& row) { return distance(row, text, number); };
  const ErrorInfo& nearest = *std::ranges::min_element(error_table(), {}, far);
  std::string message = fmt::format("there is no error {}", quote(word));
  if (far(nearest) <= kNear) message += fmt::format("; do you mean {} ({})?", code_of(nearest), nearest.name);
  throw Error(Code::invalid_argument, std::move(message), {}, "`baton explain` lists all errors.");
}

const ErrorInfo& find(const std::string& word) {
  const std::string text = bare(word);
  const auto number = as_number(text);
  for (const ErrorInfo& row : error_table()) {
    if (number ? *number == number_of(row) : text == row.name) return row;
  }
  refuse(word, text, number);
}

/// What docs/reference/errors.md has of it, from the same tables.
std::string page_of(const ErrorInfo& row) {
  std::string page = fmt::format("{} {}\n\n{}\n\ntry: {}\n", code_of(row), row.name, row.sentence, row.remedy);
  bool first = true;
  for (const SituationInfo& known : kSituations) {
    if (known.code != row.code) continue;
    if (first) page += "\nwhere more is known:\n";
    first = false;
    page += fmt::format("  {}\n    try: {}\n", known.when, known.remedy);
  }
  return page;
}

std::string list() {
  std::vector<std::vector<std::string>> rows{{"CODE", "NAME", "MEANING"}};
  for (const ErrorInfo& row : error_table()) {
    rows.push_back({code_of(row), std::string(row.name), std::string(row.sentence)});
  }
  return format_table(rows);
}

}  // namespace

ExplainCommand::ExplainCommand(CLI::App& baton) {
  app_ = baton.add_subcommand("explain", "Say what an error means and what to try, or list all errors.");
  app_->add_option("CODE", code_, "The code at the end of a message, its number, or the name of the error.");
  app_->footer(kExplainExamples);
}

int ExplainCommand::run(const std::vector<std::string>&) {
  fmt::print("{}", code_.empty() ? list() : page_of(find(code_)));
  return 0;
}

}  // namespace baton::cli
