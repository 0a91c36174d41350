// Checks for code that runs outside a test body: in a rank's process, thread or fiber. They throw.
#pragma once

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>

#include <baton/error.hpp>

#include <fmt/format.h>

namespace baton::test {

class CheckFailed : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class A, class B>
void require_equal(const char* place, const char* text, const A& a, const B& b) {
  if (!(a == b)) throw CheckFailed(fmt::format("{}: {}: {} is not {}", place, text, a, b));
}

/// Throws CheckFailed unless `error` has `code` and its report contains every one of `parts`.
inline void require_report(const Error& error, Code code, std::initializer_list<std::string_view> parts) {
  if (error.code() != code) {
    throw CheckFailed(fmt::format("expected the error {}, but got: {}", error_info(code).name, error.what()));
  }
  const std::string_view report = error.what();
  for (const std::string_view part : parts) {
    if (report.find(part) == std::string_view::npos) {
      throw CheckFailed(fmt::format("the report lacks \"{}\": {}", part, report));
    }
  }
}

/// The Error that `action` throws; CheckFailed unless it has `code` and its report contains every one of `parts`.
template <class Action>
Error require_error(Code code, std::initializer_list<std::string_view> parts, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    require_report(error, code, parts);
    return error;
  }
  throw CheckFailed(fmt::format("expected the error {}, but nothing was thrown", error_info(code).name));
}

}  // namespace baton::test

#define BATON_TEST_TEXT_OF(x) #x
#define BATON_TEST_TEXT(x) BATON_TEST_TEXT_OF(x)
#define BATON_TEST_PLACE __FILE__ ":" BATON_TEST_TEXT(__LINE__)

#define REQUIRE(condition)                                                                               \
  do {                                                                                                   \
    if (!(condition)) throw ::baton::test::CheckFailed(BATON_TEST_PLACE ": does not hold: " #condition); \
  } while (false)

#define REQUIRE_EQUAL(a, b) ::baton::test::require_equal(BATON_TEST_PLACE, #a " == " #b, a, b)
