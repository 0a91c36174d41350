// Scattering into global memory, and fetching from it ahead: against plain loops over vectors.
#include <algorithm>

#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "expect_refused.hpp"
#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;

template <typename Element>
class Scatter : public ::testing::Test {};
using Scattered = ::testing::Types<float, half, bfloat16_t, int8_t, int32_t>;
TYPED_TEST_SUITE(Scatter, Scattered);

TYPED_TEST(Scatter, Elements) {
  using E = TypeParam;
  TestCore core;
  core.watch();
  VecTile<E, 4, 32> src(3, 10);
  VecTile<int32_t, 4, 32> idx(3, 10);
  TASSIGN(src, 0);
  TASSIGN(idx, 0x1000);
  Values values(6);
  std::vector<E> memory(20), wanted(20);
  for (auto& value : memory) value = values.next_moderate<E>();
  wanted = memory;
  GlobalTensor<E, Shape<1, 1, 1, 4, 5>, Stride<20, 20, 20, 5, 1>> target(memory.data());
  const auto fill = [&](std::uint32_t range) {
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 10; ++c) {
        element(src, r, c) = values.next_moderate<E>();
        element(idx, r, c) = static_cast<int32_t>(values.below(range)) - static_cast<int32_t>((range - 20) / 2);
      }
    }
  };
  const auto each = [&](auto change) {
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 10; ++c) change(element(idx, r, c), element(src, r, c));
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_TRUE(same_value(memory[i], wanted[i])) << i;
  };
  fill(20);
  MSCATTER<Coalesce::Elem>(target, src, idx);
  each([&](int32_t i, E value) { wanted[at(i)] = value; });
  EXPECT_EQ(core.issued().back().pipes, 1u << PIPE_V | 1u << PIPE_MTE3);
  fill(20);
  MSCATTER<Coalesce::Elem, ScatterAtomicOp::Add>(target, src, idx);
  each([&](int32_t i, E value) { wanted[at(i)] = static_cast<E>(wanted[at(i)] + value); });
  fill(20);
  MSCATTER<Coalesce::Elem, ScatterAtomicOp::Max>(target, src, idx);
  each([&](int32_t i, E value) { wanted[at(i)] = value > wanted[at(i)] ? value : wanted[at(i)]; });
  fill(20);
  MSCATTER<Coalesce::Elem, ScatterAtomicOp::Min>(target, src, idx);
  each([&](int32_t i, E value) { wanted[at(i)] = value < wanted[at(i)] ? value : wanted[at(i)]; });
  fill(60);
  MSCATTER<Coalesce::Elem, ScatterAtomicOp::None, ScatterOOB::Skip>(target, src, idx);
  each([&](int32_t i, E value) {
    if (i >= 0 && i < 20) wanted[at(i)] = value;
  });
  fill(60);
  MSCATTER<Coalesce::Elem, ScatterAtomicOp::None, ScatterOOB::Clamp>(target, src, idx);
  each([&](int32_t i, E value) { wanted[at(std::clamp(i, 0, 19))] = value; });
  fill(60);
  MSCATTER<Coalesce::Elem, ScatterAtomicOp::None, ScatterOOB::Wrap>(target, src, idx);
  each([&](int32_t i, E value) { wanted[at((i + 20) % 20)] = value; });
  fill(20);
  element(idx, 2, 9) = 20;
  EXPECT_REFUSED(MSCATTER<Coalesce::Elem>(target, src, idx), BATON_KERNEL_OUT_OF_RANGE, "index 20");
}

TEST(ScatterRows, ByTheirNumbers) {
  const TestCore core;
  VecTile<float, 4, 8> src(3, 8);
  VecTile<int32_t, 1, 8> idx(1, 3);
  TASSIGN(src, 0);
  TASSIGN(idx, 0x400);
  Values values(6);
  const auto x = values.matrix<float>(3, 8);
  write_valid(src, x);
  write_valid(idx, {{4, 0, 4}});
  std::vector<float> memory(5 * 16, -1.0f);
  GlobalTensor<float, Shape<1, 1, 1, 5, 8>, Stride<1, 1, 1, 16, 1>> target(memory.data());
  MSCATTER<Coalesce::Row>(target, src, idx);
  for (int c = 0; c < 8; ++c) {
    EXPECT_TRUE(same_value(memory[at(4 * 16 + c)], x[2][at(c)])) << "the last one wins";
    EXPECT_TRUE(same_value(memory[at(c)], x[1][at(c)]));
    EXPECT_EQ(memory[at(16 + c)], -1.0f);
  }
}

TEST(Prefetch, IsCompleteWhenItsEventSaysSo) {
  TestCore core;
  float memory[64] = {1, 2};
  uint8_t workspace[64];
  GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> line(memory);
  PrefetchAsyncContext context(workspace);
  const comm::AsyncEvent event = TPREFETCH_ASYNC(line, context);
  EXPECT_TRUE(event.Wait(context.GetSession()));
  EXPECT_EQ(memory[1], 2.0f);
  core.finish();
  PrefetchAsyncContext none(nullptr);
  EXPECT_REFUSED(TPREFETCH_ASYNC(line, none), BATON_KERNEL_INVALID_ARGUMENT, "no session");
}

}  // namespace
