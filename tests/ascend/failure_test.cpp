// What goes wrong on a chip: when it is told, with whose number and text, and whether the chip goes on.
#include <chrono>

#include "ascend_fixture.hpp"

namespace baton::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr int kVectorException = 507035;
constexpr int kDriver = 507899;

class AscendFailure : public Ascend {
 protected:
  static const Kernel& vector(const char* name) { return ascend_kernel("a2a3", BATON_CORE_VECTOR, name); }
  static const Kernel& cube(const char* name) { return ascend_kernel("a2a3", BATON_CORE_CUBE, name); }
  static ChipOptions options(std::chrono::nanoseconds limit = std::chrono::seconds(20)) {
    return {.platform = ascend_platform("a2a3"), .output_heap_bytes = std::uint64_t{1} << 20U, .kernel_timeout = limit};
  }
  static void append(Graph& graph, const Kernel& kernel, const Tensor& cell, std::int64_t digit) {
    graph.submit(kernel, {{Access::inout, cell}, digit});
  }
  /// It works: two tasks on both kinds of cores.
  static void expect_works(Chip& chip) {
    const Tensor cell = chip.alloc<std::int64_t>({1}, "probe");
    chip.run([&](Graph& graph) {
      append(graph, vector("append"), cell, 4);
      append(graph, cube("append"), cell, 2);
    });
    std::int64_t result = 0;
    chip.copy_out<std::int64_t>(cell, {&result, 1});
    EXPECT_EQ(result, 42);
    chip.free(cell);
  }
};

TEST_F(AscendFailure, OfAKernelIsToldWithNumberTextTaskAndWhatDidNotRunAndTheChipGoesOn) {
  Chip chip(options());
  const Tensor word = chip.alloc<std::int32_t>({1}, "word");
  const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
  for (int round = 0; round < 2; ++round) {
    const Error error = error_of([&] {
      chip.run([&](Graph& graph) {
        append(graph, cube("append"), cell, 1);
        const TaskId failing = graph.submit(vector("stray"), {{Access::inout, word}});
        graph.submit(vector("append"), {{Access::inout, cell}, std::int64_t{2}}, {.after = {failing}});
      });
    });
    EXPECT_EQ(error.code(), Code::kernel_fault) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("kernel 'stray'"));
    EXPECT_THAT(error.what(), HasSubstr("507035 (exception of a vector core): "));
    EXPECT_THAT(error.what(), HasSubstr("1 task did not run: append"));
    expect_works(chip);
  }
}

TEST_F(AscendFailure, BelongsToTheTaskThatFailedWhicheverStreamIsAskedFirst) {
  Chip chip(options());
  const Tensor first = chip.alloc<std::int64_t>({1}, "cell");
  for (int failing = 1; failing <= 8; ++failing) {
    standin::reset_counts();
    standin::fail_kernel(failing, failing % 2 == 0 ? 507015 : kVectorException);
    const Error error = error_of([&] {
      chip.run([&](Graph& graph) {
        // A chain through both streams: its kernels run in this order.
        for (int i = 0; i < 4; ++i) {
          append(graph, vector("append"), first, 1);
          append(graph, cube("append"), first, 2);
        }
      });
    });
    EXPECT_EQ(error.code(), Code::kernel_fault) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("task " + std::to_string(failing)));
    EXPECT_THAT(error.what(), HasSubstr(failing % 2 == 0 ? "507015" : "507035"));
    expect_works(chip);
  }
}

TEST_F(AscendFailure, ThatStaysEndsTheUseOfTheChipAndAnotherCanBeOpened) {
  {
    Chip chip(options());
    const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
    standin::fail_kernel(1, kDriver);
    const Error error = error_of([&] { chip.run([&](Graph& graph) { append(graph, vector("append"), cell, 1); }); });
    EXPECT_THAT(error.what(), HasSubstr("507899 (the driver)"));
    EXPECT_THAT(error.what(), HasSubstr("kernel 'append'"));
    for (int i = 0; i < 2; ++i) {
      const Error later = error_of([&] { chip.run([&](Graph& graph) { append(graph, vector("append"), cell, 1); }); });
      EXPECT_EQ(later.code(), Code::released) << later.what();
      EXPECT_THAT(later.what(), HasSubstr("cannot be used any more"));
      EXPECT_THAT(later.what(), HasSubstr("507899"));
    }
  }
  Chip next(options());
  expect_works(next);
}

TEST_F(AscendFailure, ThatStaysAmongSeveralTasksDoesNotBlameAnyOfThem) {
  Chip chip(options());
  const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
  standin::fail_kernel(2, kDriver);
  const Error error = error_of([&] {
    chip.run([&](Graph& graph) {
      for (int i = 0; i < 3; ++i) append(graph, vector("append"), cell, 1);
    });
  });
  EXPECT_THAT(error.what(), HasSubstr("it is not known which task failed"));
  EXPECT_THAT(error.what(), Not(HasSubstr("kernel 'append'")));
}

#if !defined(BATON_SANITIZE_THREAD)  // simulated cores do not interrupt kernels there
TEST_F(AscendFailure, AKernelThatDoesNotEndIsEndedByTheChipAtItsLimit) {
  Chip chip(options(std::chrono::milliseconds(200)));
  const Tensor word = chip.alloc<std::int32_t>({1}, "word");
  const Error error = error_of([&] {
    chip.run([&](Graph& graph) { graph.submit(vector("endless"), {{Access::inout, word}}); });
  });
  EXPECT_EQ(error.code(), Code::kernel_timeout) << error.what();
  EXPECT_THAT(error.what(), HasSubstr("507034 (time limit of a vector core)"));
  expect_works(chip);
}
#endif

TEST_F(AscendFailure, AChipThatDoesNotEvenDoThatIsGivenUp) {
  {
    Chip chip(options(std::chrono::milliseconds(50)));
    const Tensor cell = chip.alloc<std::int64_t>({1}, "cell");
    standin::hold_kernel(2);
    const Error error = error_of([&] {
      chip.run([&](Graph& graph) {
        for (int i = 0; i < 3; ++i) append(graph, i == 1 ? cube("append") : vector("append"), cell, 1);
      });
    });
    EXPECT_EQ(error.code(), Code::kernel_timeout) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("does not end: 507046"));
    EXPECT_THAT(error.what(), HasSubstr("task 2"));
    EXPECT_EQ(error_of([&] { static_cast<void>(chip.alloc<float>({1})); }).code(), Code::released);
  }
  Chip next(options());
  expect_works(next);
}

TEST_F(AscendFailure, WhereStreamsCannotBeMadeAnewTheChipIsLost) {
  Chip chip(options());
  const Tensor word = chip.alloc<std::int32_t>({1}, "word");
  standin::fail_call("aclrtCreateStream", 1, 207008);
  const auto run = [&] { chip.run([&](Graph& graph) { graph.submit(vector("stray"), {{Access::inout, word}}); }); };
  EXPECT_EQ(error_of(run).code(), Code::kernel_fault);
  EXPECT_EQ(error_of(run).code(), Code::released);
}

TEST_F(AscendFailure, ManyChipsAreOpenedAndClosedInAnyOrder) {
  auto first = std::make_unique<Chip>(options());
  ChipOptions other = options();
  other.device = 5;
  Chip second(other);
  auto third = std::make_unique<Chip>(options());
  expect_works(*first);
  expect_works(second);
  first.reset();
  expect_works(*third);
  third.reset();
  expect_works(second);
}

}  // namespace
}  // namespace baton::test
