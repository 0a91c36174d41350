// Outputs of the runtime, and the scopes they live in.
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>

#include "kernels.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

TEST(Outputs, CarryDataFromTaskToTask) {
  Chip chip({.clusters = 2});
  const Tensor x = chip.alloc<float>({32});
  const Tensor y = chip.alloc<float>({32});
  chip.copy_in<float>(x, std::vector<float>(32, 3.0F));
  chip.run([&](Graph& g) {
    const Tensor between = g.output(DType::float32, {32});
    g.submit(twice, x, between);
    g.submit(add_one, between);
    g.submit(twice, between, y);
  });
  std::vector<float> out(32);
  chip.copy_out<float>(y, out);
  EXPECT_THAT(out, testing::Each(14.0F));
}

TEST(Outputs, MayBeManyMoreThanTheHeapHolds) {
  Chip chip({.clusters = 2, .output_heap_bytes = 64 * 1024});
  const Tensor sum = chip.alloc<float>({1024});
  chip.run([&](Graph& g) {
    for (int i = 0; i < 200; ++i) {
      const auto scope = g.scope();
      const Tensor one = g.output(DType::float32, {1024});
      g.submit(twice, sum, one);
      g.submit(add_one, sum);
    }
  });
  std::vector<float> out(1024);
  chip.copy_out<float>(sum, out);
  EXPECT_THAT(out, testing::Each(200.0F));
}

TEST(Outputs, ThatOneScopeCannotHoldAreAnErrorAtOnce) {
  Chip chip({.clusters = 1, .output_heap_bytes = 16 * 1024});
  require_error(Code::out_of_memory, {"BATON_OUTPUT_HEAP", "scope_test.cpp"}, [&] {
    chip.run([&](Graph& g) {
      const auto scope = g.scope();
      for (int i = 0; i < 5; ++i) static_cast<void>(g.output(DType::float32, {1024}));
    });
  });
}

TEST(Trap11Scopes, AnOutputUsedAfterItsScopeIsAnErrorThatNamesTheScope) {
  Chip chip({.clusters = 1});
  const Tensor y = chip.alloc<float>({8});
  require_error(Code::released, {"the scope opened at scope_test.cpp"}, [&] {
    chip.run([&](Graph& g) {
      Tensor gone;
      {
        const auto scope = g.scope();
        gone = g.output(DType::float32, {8});
        g.submit(twice, y, gone);
      }
      g.submit(twice, gone, y);
    });
  });
}

TEST(Outputs, ThatAreKeptLiveOn) {
  Chip chip({.clusters = 1});
  const Tensor y = chip.alloc<float>({8});
  chip.run([&](Graph& g) {
    Tensor kept;
    {
      const auto scope = g.scope();
      kept = g.output(DType::float32, {8});
      g.submit(twice, y, kept);
      g.submit(add_one, kept);
      g.keep(kept);
    }
    g.submit(twice, kept, y);
  });
  std::vector<float> out(8);
  chip.copy_out<float>(y, out);
  EXPECT_THAT(out, testing::Each(2.0F));
}

TEST(Memory, ThatWasFreedIsNotUsedAgainByMistake) {
  Chip chip({.clusters = 1});
  const Tensor x = chip.alloc<float>({8}, "short-lived");
  chip.free(x);
  require_error(Code::released, {"was freed before"}, [&] { chip.free(x); });
  require_error(Code::invalid_argument, {"0 elements"}, [&] { static_cast<void>(chip.alloc<float>({4, 0}, "empty")); });
}

TEST(Memory, WhatWasFreedOrNeverAddedIsRefusedAtSubmission) {
  Chip chip;
  const Tensor gone = chip.alloc<float>({4}, "gone");
  chip.run([&](Graph& g) { g.submit(add_one, gone); });
  chip.free(gone);
  require_error(Code::released, {"not memory of this chip"},
                [&] { chip.run([&](Graph& g) { g.submit(add_one, gone); }); });
  std::vector<float> foreign(4);
  require_error(Code::released, {"never given to it with add()"},
                [&] { chip.run([&](Graph& g) { g.submit(add_one, Tensor::over(std::span(foreign))); }); });
}

// The first argument of the refused task is recorded before the second is refused: what it would have waited for must
// still be waited for by those that come after it.
TEST(Memory, ARefusedSubmissionHidesNoEdge) {
  Chip chip({.clusters = 2, .threads = 1});
  const Tensor list = chip.alloc<std::int64_t>({64});
  const Tensor flag = chip.alloc<std::int32_t>({1});
  std::vector<std::int64_t> foreign(4);
  chip.run([&](Graph& g) {
    const Tensor token = g.submit_notification_wait(reinterpret_cast<std::int32_t*>(flag.address()), 1);
    g.submit({.tokens = {token}}, renew, list.slice(32, 64), list.slice(1, 2), 5);
    const Tensor unknown = Tensor::over(std::span(foreign));
    EXPECT_THROW(g.submit(kNumberBlocks, {{Access::inout, list.slice(0, 4)}, {Access::in, unknown}}), Error);
    g.submit(mix, list.slice(40, 41), list.slice(41, 42), list.slice(1, 2), 1);
    g.submit(notify, flag, 1);
  });
  std::vector<std::int64_t> out(64);
  chip.copy_out<std::int64_t>(list, std::span(out));
  EXPECT_EQ(out[1], 5 * 31 + 1);
}

}  // namespace
}  // namespace baton::test
