// How chip programs fail: with a number, words, and the author's file and line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program_fixture.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

using testing::Each;
using testing::HasSubstr;

void fails(const char* entry, int code, std::initializer_list<std::string_view> parts, const char* mark = nullptr,
           GraphBuilding building = GraphBuilding::stream) {
  SCOPED_TRACE(entry);
  ProgramChip on;
  on.add({0, 0, 0, 0});
  testing::internal::CaptureStderr();
  const Error error =
      require_error(Code::orchestration_failed, parts, [&] { on.run(parts_of("errors", entry, building)); });
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_THAT(error.what(), HasSubstr("run failed with code -" + std::to_string(code) + ":"));
  EXPECT_THAT(printed, HasSubstr("orch_error_code=" + std::to_string(code)));
  EXPECT_THAT(printed, HasSubstr("error detail: "));
  EXPECT_THAT(printed, HasSubstr("error hint: "));
  if (mark != nullptr) {
    EXPECT_THAT(error.what(), HasSubstr(place_of("errors", mark)));
  }
  // Nothing ran, and the chip is as good as before.
  EXPECT_THAT(on.values(0), Each(0));
  on.tensors.clear();
  on.add({1, 2});
  on.add({1, 2});
  on.add({0, 0});
  on.run(parts_of("tasks", "aicpu_orchestration_entry"), {0});
  EXPECT_THAT(on.values(2), testing::ElementsAre(2, 4));
}

TEST(ProgramError, WhatTheAuthorReports) {
  fails("reported", 9, {"1 tensors are wrong", "PTO2_ERROR_EXPLICIT_ORCH_FATAL"}, "reported");
  fails("reported", 9, {"1 tensors are wrong"}, "reported", GraphBuilding::captured);
  fails("own_code", 77, {"of my own"});
  fails("asserted", 9, {"orch_args.tensor_count() == 17 does not hold"}, "asserted");
}

TEST(ProgramError, KernelsThatAreNotThere) {
  fails("unknown_kernel", 5, {"no kernel with the number 99; there are 0, 1, 2", "PTO2_ERROR_INVALID_ARGS"},
        "unknown_kernel");
  fails("wrong_core", 5, {"number 2 is for a vector core, and was submitted to a cube core"});
  fails("no_kernel", 5, {"needs a kernel for one of its cores"});
}

TEST(ProgramError, ArgumentsThatDoNotFit) {
  fails("tensor_after_scalar", 5, {"a tensor was added after a scalar"});
  fails("too_many_tensors", 5, {"more tensors than there is room for"});
  fails("too_many_scalars", 5, {"more scalars than there is room for"});
  fails("missing_tensor", 5, {"tensor 5 was asked for; there are 1"});
  fails("missing_scalar", 5, {"scalar 5 was asked for; there are 0"});
  fails("missing_output", 5, {"output 1 was asked for; the task has 1"});
  fails("unknown_memory", 5, {"is not memory of this chip"});
}

TEST(ProgramError, TasksToWaitFor) {
  fails("dependencies_twice", 5, {"set_dependencies: called twice"});
  fails("too_many_dependencies", 5, {"add_dep: more tasks"});
  fails("task_to_come", 5, {"there is no task"});
}

TEST(ProgramError, Blocks) {
  fails("no_blocks", 5, {"0 blocks"});
  fails("too_many_blocks", 5, {"20000 blocks of 2 cores", "32767"});
  fails("too_many_together", 7,
        {"7 blocks are to start together, and there are 6 vector cores", "PTO2_ERROR_REQUIRE_SYNC_START_INVALID"},
        "too_many_together");
}

TEST(ProgramError, Tensors) {
  fails("view_outside", 5, {"view: elements 3 to 5 of dimension 0, which has 4"}, "view_outside");
  fails("reshape_to_more", 5, {"reshape: 4 elements cannot become 5"});
  fails("output_after_its_scope", 5, {"after its death", "errors.cpp:"}, "output_after_its_scope");
  fails("element_of_an_output_after_its_scope", 5, {"after its death"});
  fails("wrong_element", 5, {"100"});
  fails("wrong_index_count", 5, {"2 indices name no element of a tensor of 1 dimensions"});
  fails("predicate_of_a_float", 5, {"one element of an integer type"});
}

TEST(ProgramError, AnElementThatATaskOfACapturedGraphWrites) {
  fails("element_of_an_output", 5, {"nothing runs meanwhile"}, nullptr, GraphBuilding::captured);
}

TEST(ProgramError, Scopes) {
  fails("automatic_in_manual", 5, {"AUTO scope inside of a MANUAL one"}, "automatic_in_manual");
  fails("scope_end_too_many", 5, {"rt_scope_end"});
}

TEST(ProgramError, Graphs) {
  fails("graph_without_tensors", 5, {"takes a tensor at least"}, "graph_without_tensors");
  fails("graph_that_creates", 5, {"argument 1", "is to be created"});
}

TEST(ProgramError, AKernelThatCrashesIsAFailureOfItsTask) {
  ProgramChip on;
  on.add({0});
  require_error(Code::kernel_fault, {"crash", place_of("errors", "crashing_kernel")},
                [&] { on.run(parts_of("errors", "crashing_kernel")); });
}

TEST(ProgramError, FewerArgumentsThanExpected) {
  ProgramChip on;
  on.add({0});
  ChipProgramParts parts = parts_of("tasks", "halves");
  parts.config = "three_arguments";
  require_error(Code::orchestration_failed,
                {"run failed with code -5", "1 tensors and 1 scalars", "expects 3 arguments"},
                [&] { on.run(parts, {4}); });
}

TEST(ProgramError, WhatIsMissingIsNamed) {
  ChipProgramParts parts = parts_of("tasks", "no_such_entry");
  require_error(Code::not_a_kernel, {"no orchestration \"no_such_entry\"", "many_blocks"},
                [&] { ChipProgram program(parts); });
  parts.entry = "halves";
  parts.config = "no_such_config";
  require_error(Code::not_a_kernel, {"no function \"no_such_config\""}, [&] { ChipProgram program(parts); });
  parts.config = "";
  parts.kernels.push_back(parts.kernels.front());
  require_error(Code::invalid_argument, {"two kernels have the number 0"}, [&] { ChipProgram program(parts); });
  parts.kernels.back().name = "no_such_kernel";
  require_error(Code::not_a_kernel, {"no kernel \"no_such_kernel\""}, [&] { ChipProgram program(parts); });
  // A library of kernels is none of orchestrations.
  parts.library = parts.kernels.front().library;
  require_error(Code::not_a_kernel, {"pto_orchestration_api.h"}, [&] { ChipProgram program(parts); });
}

}  // namespace
}  // namespace baton::test
