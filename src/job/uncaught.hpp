// Exceptions that nobody catches: what ended a rank is told to the others.
#pragma once

#include <exception>
#include <memory>
#include <string>

#include "comm/world.hpp"

namespace baton::job {

/// What an exception says of itself, in one line: "std::runtime_error: no such file"; of an Error its message.
class UncaughtException {
 public:
  explicit UncaughtException(const std::exception_ptr& exception);
  [[nodiscard]] comm::FailureReason reason() const noexcept { return {code_, text_}; }

 private:
  Code code_ = Code::ok;
  std::string text_;
};

/// When an exception ends this process, or leave_because() is called, the other ranks of `world` are told why.
void tell_what_ends(const std::shared_ptr<comm::World>& world);

}  // namespace baton::job
