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

}  // namespace
}  // namespace baton::test
