#include "base/shared_library.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace baton {
namespace {

using ::testing::HasSubstr;

template <class Action>
std::string message_of(Code code, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(SharedLibrary, Trap13MissingOptionalFunctionFailsOnlyWhenItIsCalled) {
  const SharedLibrary old(BATON_TEST_OLD_LIBRARY, Code::unsupported);
  EXPECT_EQ(old.required<int(int)>("basic")(1), 2);

  const auto newer = old.optional<int(int)>("newer");
  EXPECT_FALSE(newer);
  const std::string message = message_of(Code::unsupported, [&] { newer(1); });
  EXPECT_THAT(message, HasSubstr("has no function newer"));
  EXPECT_THAT(message, HasSubstr(BATON_TEST_OLD_LIBRARY));
}

TEST(SharedLibrary, OptionalFunctionThatIsThereIsCalled) {
  const SharedLibrary library(BATON_TEST_NEW_LIBRARY, Code::unsupported);
  const auto newer = library.optional<int(int)>("newer");
  ASSERT_TRUE(newer);
  EXPECT_EQ(newer(21), 42);
}

TEST(SharedLibrary, MissingRequiredFunctionIsNamed) {
  const SharedLibrary old(BATON_TEST_OLD_LIBRARY, Code::wrong_abi);
  EXPECT_THAT(message_of(Code::wrong_abi, [&] { static_cast<void>(old.required<int(int)>("newer")); }),
              HasSubstr("has no function newer"));
}

TEST(SharedLibrary, WhatIsNoLibrarySaysSo) {
  const auto text = std::filesystem::path(::testing::TempDir()) / "no_library.so";
  std::ofstream(text) << "no library";
  EXPECT_THAT(message_of(Code::not_a_kernel, [&] { SharedLibrary(text.string(), Code::not_a_kernel); }),
              HasSubstr("no_library.so cannot be loaded"));
  std::filesystem::remove(text);
  EXPECT_THAT(message_of(Code::not_a_kernel, [&] { SharedLibrary(text.string(), Code::not_a_kernel); }),
              HasSubstr("No such file"));
}

TEST(OptionalFunction, OfNoLibrarySaysSo) {
  const OptionalFunction<void()> nothing;
  EXPECT_THAT(message_of(Code::unsupported, [&] { nothing(); }), HasSubstr("no library is loaded"));
}

}  // namespace
}  // namespace baton
