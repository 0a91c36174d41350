// Chip programs that wait for what does not come. A program of its own: it waits for less long than others.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program_fixture.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

using testing::HasSubstr;

// Before anybody asks for the options.
const int kShortPatience = ::setenv("BATON_WAIT_TIMEOUT", "300ms", 1);

TEST(ProgramDeadline, AnElementThatNoTaskWritesInTime) {
  ASSERT_EQ(kShortPatience, 0);
  ProgramChip on;
  on.add_int32({0}, {1});
  testing::internal::CaptureStderr();
  require_error(Code::orchestration_failed,
                {"run failed with code -8", "PTO2_ERROR_TENSOR_WAIT_TIMEOUT",
                 place_of("errors", "element_that_never_comes"), "wait_for_counter"},
                [&] { on.run(parts_of("errors", "element_that_never_comes")); });
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("orch_error_code=8 (PTO2_ERROR_TENSOR_WAIT_TIMEOUT)"));
}

TEST(ProgramDeadline, ATaskThatIsNeverComplete) {
  ProgramChip on;
  on.add_int32({0}, {1});
  require_error(Code::wait_timeout, {"run failed with code -100", place_of("order", "lonely_wait")},
                [&] { on.run(parts_of("order", "lonely_wait")); });
}

}  // namespace
}  // namespace baton::test
