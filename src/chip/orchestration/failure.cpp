#include "chip/orchestration/failure.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <orchestration/report.hpp>

namespace baton::orchestration {
namespace {

struct Number {
  std::int32_t code;
  const char* name;
  const char* hint;
};

constexpr Number kNumbers[] = {
    {PTO2_ERROR_INVALID_ARGS, "PTO2_ERROR_INVALID_ARGS", "Correct the call at the place that the report names."},
    {PTO2_ERROR_REQUIRE_SYNC_START_INVALID, "PTO2_ERROR_REQUIRE_SYNC_START_INVALID",
     "Use at most as many blocks as there are cores, or do without sync start."},
    {PTO2_ERROR_TENSOR_WAIT_TIMEOUT, "PTO2_ERROR_TENSOR_WAIT_TIMEOUT",
     "Look at the tasks that write the tensor; BATON_WAIT_TIMEOUT gives them more time."},
    {PTO2_ERROR_EXPLICIT_ORCH_FATAL, "PTO2_ERROR_EXPLICIT_ORCH_FATAL", "The orchestration reported it: look there."},
    {PTO2_ERROR_SCHEDULER_TIMEOUT, "PTO2_ERROR_SCHEDULER_TIMEOUT",
     "Look at the kernels that wait; BATON_WAIT_TIMEOUT gives them more time."},
};

const Number& named(std::int32_t code) {
  static constexpr Number kOther = {0, "a code of its own", "The orchestration reported it: look there."};
  for (const Number& number : kNumbers) {
    if (number.code == code) return number;
  }
  return kOther;
}

}  // namespace

Error failure(std::int32_t code, const std::string& detail, const std::string& place) {
  const Number& number = named(code);
  std::vector<std::string> notes;
  if (!place.empty()) notes.push_back("at " + place);
  notes.push_back(fmt::format("orch_error_code={} ({})", code, number.name));
  return {Code::orchestration_failed, fmt::format("run failed with code {}: {}", -std::int64_t{code}, detail),
          std::move(notes), number.hint};
}

std::int32_t number_of(Code code) noexcept {
  switch (code) {
    case Code::invalid_argument:
    case Code::out_of_range:
    case Code::released:
    case Code::misaligned: return PTO2_ERROR_INVALID_ARGS;
    case Code::wait_timeout: return PTO2_ERROR_TENSOR_WAIT_TIMEOUT;
    default: return 0;
  }
}

void print(const Error& failure) {
  std::string text = fmt::format("baton: {}\n", failure.message());
  for (const std::string& note : failure.notes()) text += fmt::format("  {}\n", note);
  const std::size_t detail = failure.message().find(": ");
  text += fmt::format("  error detail: {}\n  error hint: {}\n", failure.message().substr(detail + 2), failure.remedy());
  std::fputs(text.c_str(), stderr);
}

}  // namespace baton::orchestration
