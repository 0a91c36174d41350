#include <baton/error.hpp>

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace baton {
namespace {

constexpr ErrorInfo kErrors[] = {
#define BATON_ERROR_ROW(number, name, sentence, remedy) {Code::name, #name, sentence, remedy},
    BATON_ERROR_TABLE(BATON_ERROR_ROW)
#undef BATON_ERROR_ROW
};

constexpr const ErrorInfo* find(Code code) noexcept {
  for (const ErrorInfo& row : kErrors) {
    if (row.code == code) return &row;
  }
  return nullptr;
}

constexpr const ErrorInfo& kInternal = *find(Code::internal);
static_assert(std::is_sorted(std::begin(kErrors), std::end(kErrors),
                             [](const ErrorInfo& a, const ErrorInfo& b) { return a.code <= b.code; }),
              "rows of BATON_ERROR_TABLE ascend and no number occurs twice");

std::string_view remedy_or_default(Code code, std::string_view remedy) {
  return remedy.empty() ? error_info(code).remedy : remedy;
}

std::string report(Code code, const std::string& message, const std::vector<std::string>& notes,
                   std::string_view remedy) {
  std::string text = message;
  for (const std::string& note : notes) text += "\n  " + note;
  text += fmt::format("\n  try: {}  [BATON-E{:03}]", remedy_or_default(code, remedy),
                      static_cast<int>(error_info(code).code));
  return text;
}

}  // namespace

const ErrorInfo& error_info(Code code) noexcept {
  const ErrorInfo* row = find(code);
  return row != nullptr ? *row : kInternal;
}

const std::vector<ErrorInfo>& error_table() {
  static const std::vector<ErrorInfo> table(std::begin(kErrors), std::end(kErrors));
  return table;
}

Error::Error(Code code, std::string message, std::vector<std::string> notes, std::string_view remedy)
    : std::runtime_error(report(code, message, notes, remedy)),
      code_(code),
      message_(std::move(message)),
      notes_(std::move(notes)),
      remedy_(remedy_or_default(code, remedy)) {}

// Here and not in the header: one object file holds the class's vtable and type information, so that an
// Error thrown by libbaton is caught as an Error everywhere.
Error::~Error() = default;

}  // namespace baton
