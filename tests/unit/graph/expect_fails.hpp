// Expecting a baton::Error with a code and parts of its report.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include <baton/error.hpp>

namespace baton::test {

template <class Action>
void expect_fails(Code code, std::initializer_list<std::string_view> parts, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    for (const std::string_view part : parts) {
      EXPECT_NE(std::string_view(error.what()).find(part), std::string_view::npos)
          << "\"" << part << "\" is not in: " << error.what();
    }
    return;
  }
  ADD_FAILURE() << "no baton::Error was thrown";
}

}  // namespace baton::test
