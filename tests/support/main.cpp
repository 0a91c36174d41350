// main() of test programs that start themselves again as ranks.
#include <gtest/gtest.h>

#include "support/rank_program.hpp"

int main(int argument_count, char** arguments) {
  if (const int code = baton::test::run_as_rank(argument_count, arguments); code >= 0) return code;
  testing::InitGoogleTest(&argument_count, arguments);
  return RUN_ALL_TESTS();
}
