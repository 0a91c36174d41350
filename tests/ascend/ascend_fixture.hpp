// Chips of platforms a2a3 and a5 on the stand-in; what breaks a rule of it, or is left behind, fails the test.
#pragma once

#include <functional>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/error.hpp>
#include <baton/kernel_source.hpp>

#include "standin/control.hpp"

namespace baton::test {

/// The library of the platform: a2a3 or a5. From the folder ASCEND_TEST_FOLDER where that is set, for counted lines.
std::string ascend_platform(const std::string& name);
/// A kernel of tests/ascend/kernels.cpp.
const Kernel& ascend_kernel(const std::string& platform, BatonCoreType core, const std::string& name);
/// The library that it is in.
const std::string& ascend_library(const std::string& platform, BatonCoreType core);

Error error_of(const std::function<void()>& call);

class Ascend : public testing::Test {
 protected:
  void SetUp() override { standin::reset(); }
  void TearDown() override {
    EXPECT_THAT(standin::violations(), testing::IsEmpty());
    EXPECT_THAT(standin::alive(), testing::IsEmpty());
  }
};

}  // namespace baton::test
