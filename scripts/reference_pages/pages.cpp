#include "reference_pages/pages.hpp"

#include <fmt/format.h>

#include <baton/error.hpp>

#include "base/option_table.hpp"
#include "base/remedies.hpp"

namespace baton {
namespace {

constexpr std::string_view kNotice =
    "<!-- Written by scripts/generate_reference. Change the table, not this page. -->\n";

/// A cell of a table; a bar would end it.
std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

/// A word in code type, or nothing for no word.
std::string code(std::string_view word) { return word.empty() ? "" : fmt::format("`{}`", word); }

}  // namespace

std::string error_page() {
  std::string page = fmt::format(
      "# Errors\n\n{}\n"
      "Every failure of Baton has a number. The C++ interface throws `baton::Error`, whose `code()` is one of\n"
      "`baton::Code`; the C interface returns the same number. The message ends with the code, as in "
      "`[BATON-E031]`.\n\n"
      "| code | name | meaning |\n|---|---|---|\n",
      kNotice);
  for (const ErrorInfo& row : error_table()) {
    page += fmt::format("| [E{0:03}](#e{0:03}) | `{1}` | {2} |\n", static_cast<int>(row.code), row.name,
                        cell(row.sentence));
  }
  for (const ErrorInfo& row : error_table()) {
    page += fmt::format("\n<a id=\"e{0:03}\"></a>\n\n## E{0:03} {1}\n\n{2}\n\n**Try:** {3}\n",
                        static_cast<int>(row.code), row.name, row.sentence, row.remedy);
    bool first = true;
    for (const SituationInfo& known : kSituations) {
      if (known.code != row.code) continue;
      if (first) page += "\n| situation | try |\n|---|---|\n";
      first = false;
      page += fmt::format("| {} | {} |\n", cell(known.when), cell(known.remedy));
    }
  }
  return page;
}

std::string options_page() {
  std::string page = fmt::format(
      "# Options\n\n{}\n"
      "Baton reads these environment variables once, at first use. A value that cannot be read is an error\n"
      "([E{:03}](errors.md#e{:03})); a `BATON_` name that is not listed here gives a warning. In C++ they are the "
      "fields of\n"
      "`baton::Options`.\n\n"
      "| variable | default | meaning |\n|---|---|---|\n",
      kNotice, static_cast<int>(Code::bad_option), static_cast<int>(Code::bad_option));
  for (const OptionInfo& row : option_table()) {
    page += fmt::format("| `{}` | {} | {} Accepted: {}. |\n", row.name, code(row.default_value), cell(row.sentence),
                        cell(row.form));
  }
  return page;
}

}  // namespace baton
