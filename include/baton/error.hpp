// What Baton throws, and the codes its C interface returns.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <baton/error_codes.hpp>
#include <baton/export.hpp>

namespace baton {

/// Every failure has one of these numbers, also as the return value of the C interface.
enum class Code : int {
  ok = 0,
#define BATON_ERROR_ENUMERATOR(number, name, sentence, remedy) name = number,
  BATON_ERROR_TABLE(BATON_ERROR_ENUMERATOR)
#undef BATON_ERROR_ENUMERATOR
};

/// One row of the error table.
struct ErrorInfo {
  Code code;
  std::string_view name;
  std::string_view sentence;
  std::string_view remedy;
};

/// The row of `code`; the row of Code::internal for a number that is not in the table.
[[nodiscard]] BATON_API const ErrorInfo& error_info(Code code) noexcept;

/// All rows, by ascending number.
[[nodiscard]] BATON_API const std::vector<ErrorInfo>& error_table();

/// A failure. what() is the whole report: the message, indented notes, the remedy and the code.
class BATON_API Error : public std::runtime_error {
 public:
  /// `message` is one line with numbers and names; `notes` are further facts, one line each; `remedy` says what to try
  /// where more is known than the code tells. Empty: that of the code.
  Error(Code code, std::string message, std::vector<std::string> notes = {}, std::string_view remedy = {});
  ~Error() override;
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;

  [[nodiscard]] Code code() const noexcept { return code_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }
  [[nodiscard]] const std::string& remedy() const noexcept { return remedy_; }

 private:
  Code code_;
  std::string message_;
  std::vector<std::string> notes_;
  std::string remedy_;
};

}  // namespace baton
