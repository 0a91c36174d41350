// Instructions that a core refuses.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "test_core.hpp"

/// The statement fails with the code, and with a text that contains TEXT, at a line of its source.
#define EXPECT_REFUSED(STATEMENT, CODE, TEXT)                \
  try {                                                      \
    STATEMENT;                                               \
    ADD_FAILURE() << "nothing happened";                     \
  } catch (const baton::test::KernelFailure& failure) {      \
    EXPECT_EQ(failure.code, CODE);                           \
    EXPECT_THAT(failure.what(), ::testing::HasSubstr(TEXT)); \
    EXPECT_GT(failure.line, 0u);                             \
  }
