// Tasks that are complete later than their kernels return: what depends on them waits, and every such wait ends.
#include <optional>

#include <baton/chip_program.hpp>

#include "ascend_fixture.hpp"

namespace baton::test {
namespace {

using testing::HasSubstr;

class AscendDeferred : public Ascend {
 protected:
  void SetUp() override {
    Ascend::SetUp();
    chip_.emplace(ChipOptions{.platform = ascend_platform("a2a3"), .output_heap_bytes = std::uint64_t{1} << 20U});
    counter_ = chip_->alloc<std::int64_t>({1}, "counter");
    seen_ = chip_->alloc<std::int64_t>({1}, "seen");
  }
  void TearDown() override {
    chip_.reset();
    Ascend::TearDown();
  }
  static const Kernel& append() { return ascend_kernel("a2a3", BATON_CORE_CUBE, "append"); }
  static const Kernel& deferring(const char* name) {
    static const KernelFile file = KernelFile::compile({.source = ASCEND_TEST_DEFERRING, .platform = "a2a3"});
    static std::map<std::string, LoadedKernel> loaded;
    auto found = loaded.find(name);
    if (found == loaded.end()) found = loaded.emplace(name, file.kernel(name)).first;
    return found->second.get();
  }
  static std::int64_t address(const Tensor& cell) { return static_cast<std::int64_t>(cell.address()); }

  /// One that registers `counter >= 5`, `times` times.
  TaskId submit_wait(Graph& graph, std::int64_t times = 1, const TaskOptions& options = {}) const {
    return graph.submit(deferring(options.completion_queue ? "await_counter_in_queue_kernel" : "await_counter_kernel"),
                        {address(counter_), std::int64_t{5}, times}, options);
  }
  /// Depends on `task`, and does something only if the counter has 5 by then.
  void submit_witness(Graph& graph, TaskId task) const {
    const Predicate is_five{.element = counter_, .comparison = WaitCmp::eq, .value = 5};
    graph.submit(append(), {{Access::inout, seen_}, std::int64_t{7}}, {.after = {task}, .only_if = is_five});
  }
  /// Of which the others learn by the counter alone.
  void submit_five(Graph& graph) const { graph.submit(append(), {{Access::no_dependency, counter_}, std::int64_t{5}}); }
  std::int64_t seen() {
    std::int64_t value = 0;
    chip_->copy_out<std::int64_t>(seen_, {&value, 1});
    return value;
  }
  /// Of a run of this one task.
  Error error_of_task(const char* kernel, std::initializer_list<Argument> arguments, const TaskOptions& options = {}) {
    return error_of([&] { chip_->run([&](Graph& graph) { graph.submit(deferring(kernel), arguments, options); }); });
  }

  std::optional<Chip> chip_;
  Tensor counter_;
  Tensor seen_;
};

TEST_F(AscendDeferred, WhatDependsOnATaskWaitsForTheConditionsOfItsKernel) {
  chip_->run([&](Graph& graph) {
    submit_witness(graph, submit_wait(graph));
    submit_five(graph);  // behind both, and what they wait for
  });
  EXPECT_EQ(seen(), 7);
}

TEST_F(AscendDeferred, OfEachBlock) {
  chip_->run([&](Graph& graph) {
    submit_witness(graph, submit_wait(graph, 64, {.blocks = 5}));
    submit_five(graph);
  });
  EXPECT_EQ(seen(), 7);
}

TEST_F(AscendDeferred, OfTheOlderFormToo) {
  chip_->run([&](Graph& graph) {
    submit_witness(graph, submit_wait(graph, 64, {.blocks = 2, .completion_queue = true}));
    submit_five(graph);
  });
  EXPECT_EQ(seen(), 7);
}

TEST_F(AscendDeferred, EachRunOfACapturedGraphHasItsOwn) {
  constexpr std::int64_t kSome = 40;  // less than there is room for, more than half of it
  CapturedGraph graph = chip_->capture([&](Graph& captured) { static_cast<void>(submit_wait(captured, kSome)); });
  chip_->run([&](Graph& first) { submit_five(first); });
  for (int run = 0; run < 3; ++run) chip_->run(graph);
}

TEST_F(AscendDeferred, AConditionThatNobodyMeetsIsAnErrorAtTheDeadline) {
  const Error error = error_of([&] { chip_->run([&](Graph& graph) { submit_witness(graph, submit_wait(graph)); }); });
  EXPECT_EQ(error.code(), Code::wait_timeout) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("kernel 'await_counter_kernel' has returned, and its task has waited"));
  EXPECT_THAT(error.what(), HasSubstr("a counter that has 0 and needs 5 (counter+0)"));
  EXPECT_THAT(error.what(), HasSubstr("1 task did not run: append"));
}

TEST_F(AscendDeferred, WhatMakesNoSenseFailsTheTask) {
  const Error senseless = error_of_task("senseless_kernel", {});
  EXPECT_EQ(senseless.code(), Code::invalid_argument) << senseless.what();
  EXPECT_THAT(senseless.what(), HasSubstr("kernel 'senseless_kernel'"));

  const Error nowhere = error_of_task("await_counter_kernel", {std::int64_t{64}, std::int64_t{1}, std::int64_t{1}});
  EXPECT_EQ(nowhere.code(), Code::out_of_range) << nowhere.what();
  const Error crooked =
      error_of_task("await_counter_kernel", {address(counter_) + 2, std::int64_t{1}, std::int64_t{1}});
  EXPECT_EQ(crooked.code(), Code::misaligned) << crooked.what();
}

TEST_F(AscendDeferred, MoreThanThereIsRoomForAreAnError) {
  for (const bool queue : {false, true}) {
    const Error error =
        error_of([&] { chip_->run([&](Graph& graph) { submit_wait(graph, 65, {.completion_queue = queue}); }); });
    EXPECT_EQ(error.code(), Code::too_many_conditions) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("more than the 64 completion conditions"));
  }
}

TEST_F(AscendDeferred, AnAsynchronousCopyIsAnErrorThatNamesWhatIsMissing) {
  const Error error = error_of_task("get_kernel", {{Access::in, counter_}, {Access::out, seen_}});
  EXPECT_EQ(error.code(), Code::invalid_argument) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("kernel 'get_kernel'"));
  EXPECT_THAT(error.what(),
              HasSubstr("an asynchronous copy, for which platform a2a3 has no DMA engine: let the kernel copy "
                        "itself, with TGET or TPUT"));
  EXPECT_THAT(error.what(), HasSubstr("deferred_test.cpp"));
}

TEST_F(AscendDeferred, AnOrchestrationThatAsksForAnEngineIsToldSo) {
  const KernelFile file =
      KernelFile::compile({.source = ASCEND_TEST_ORCHESTRATION, .form = SourceForm::orchestrations});
  const ChipProgram program({.library = file.path(), .entry = "notification_in_queue"});
  const Tensor tensors[] = {counter_, seen_};
  const Error error = error_of([&] { program.run(*chip_, ChipArgs(tensors, {})); });
  EXPECT_EQ(error.code(), Code::unsupported) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("chips of this platform have no DMA engine for asynchronous copies: let kernels "
                                      "copy, with TGET or TPUT"));
}

}  // namespace
}  // namespace baton::test
