// Catching a baton::Error to look at it.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include <baton/error.hpp>

namespace baton {

/// The Error that `action` throws. A test that expects one fails if there is none.
template <class Action>
std::optional<Error> error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no baton::Error was thrown";
  return std::nullopt;
}

}  // namespace baton
