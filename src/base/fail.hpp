// Throwing baton::Error with a formatted message.
#pragma once

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "base/remedies.hpp"

namespace baton {

template <class... Args>
[[noreturn]] void fail(Code code, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(code, fmt::format(format, std::forward<Args>(args)...));
}

/// With the code and the remedy of a situation.
[[nodiscard]] inline Error error_in(Situation situation, std::string message, std::vector<std::string> notes = {}) {
  const SituationInfo& info = info_of(situation);
  return Error(info.code, std::move(message), std::move(notes), info.remedy);
}

template <class... Args>
[[noreturn]] void fail(Situation situation, fmt::format_string<Args...> format, Args&&... args) {
  throw error_in(situation, fmt::format(format, std::forward<Args>(args)...));
}

/// For a refused system call: `what` names the call and its object, `error_number` is its errno.
[[noreturn]] void fail_system(std::string what, int error_number = errno);

}  // namespace baton
