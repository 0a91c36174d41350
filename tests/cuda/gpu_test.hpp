// A test that needs a GPU; without one it is skipped and says why.
#pragma once

#include <gtest/gtest.h>

#include "gpu_here.hpp"

namespace baton::test {

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    if (missing_gpu()) GTEST_SKIP() << *missing_gpu();
  }
};

}  // namespace baton::test
