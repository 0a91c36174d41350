// Whole kernels, written as their authors write them (kernels/), each compiled by itself under a name of its own.
#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

#include "platform_comm/comm_context.h"
#include "tensor.h"
#include "test_core.hpp"
#include "tile_values.hpp"

extern "C" {
void vector_add_entry(int64_t* args);
void allreduce_onephase_entry(int64_t* args);
void local_linear_entry(int64_t* args);
void route_tokens_entry(int64_t* args);
void assemble_entry(int64_t* args);
void topk_entry(int64_t* args);
void scores_entry(int64_t* args);
}

namespace {

using namespace baton::test;

template <typename Element>
ChipTensor tensor_of(std::vector<Element>& data) {
  ChipTensor tensor = {};
  tensor.buffer = {reinterpret_cast<std::uintptr_t>(data.data()), data.size() * sizeof(Element)};
  tensor.ndims = 1;
  tensor.shapes[0] = static_cast<uint32_t>(data.size());
  tensor.strides[0] = 1;
  return tensor;
}

int64_t argument(const void* pointer) { return static_cast<int64_t>(reinterpret_cast<std::uintptr_t>(pointer)); }

TEST(Kernels, VectorAdd) {
  std::vector<float> a(128 * 128), b(a.size()), out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i);
    b[i] = 0.5f * static_cast<float>(i);
  }
  const ChipTensor tensors[] = {tensor_of(a), tensor_of(b), tensor_of(out)};
  int64_t args[50] = {argument(&tensors[0]), argument(&tensors[1]), argument(&tensors[2])};
  TestCore core;
  vector_add_entry(args);
  core.finish();
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], a[i] + b[i]);
}

TEST(Kernels, TopK) {
  constexpr int kValid = 500;
  std::vector<float> scores(512), values(64);
  std::vector<int32_t> places(64);
  Values random(11);
  for (float& score : scores) score = static_cast<float>(random.below(300)) - 400.0f;  // many are equal, all below 0
  const ChipTensor tensors[] = {tensor_of(scores), tensor_of(values), tensor_of(places)};
  int64_t args[50] = {argument(&tensors[0]), argument(&tensors[1]), argument(&tensors[2]), kValid};
  TestCore core;
  topk_entry(args);
  core.finish();
  std::vector<int32_t> order(kValid);
  for (int32_t i = 0; i < kValid; ++i) order[static_cast<std::size_t>(i)] = i;
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  for (std::size_t i = 0; i < places.size(); ++i) {
    ASSERT_EQ(places[i], order[i]) << i;
    ASSERT_EQ(values[i], scores[static_cast<std::size_t>(order[i])]) << i;
  }
}

TEST(Kernels, ScoresOfTransposedKeys) {
  Values random(12);
  std::vector<bfloat16_t> q(24 * 128), k(64 * 128);
  for (auto& value : q) value = bfloat16_t(static_cast<float>(random.below(9)) - 4.0f);
  for (auto& value : k) value = bfloat16_t(static_cast<float>(random.below(9)) - 4.0f);
  std::vector<float> scores(24 * 64, 1000.0f);
  const ChipTensor tensors[] = {tensor_of(q), tensor_of(k), tensor_of(scores)};
  int64_t args[50] = {argument(&tensors[0]), argument(&tensors[1]), argument(&tensors[2])};
  TestCore core;
  scores_entry(args);
  core.finish();
  for (std::size_t r = 0; r < 24; ++r) {
    for (std::size_t c = 0; c < 64; ++c) {
      double sum = 1000;
      for (std::size_t i = 0; i < 128; ++i) {
        sum += static_cast<double>(static_cast<float>(q[r * 128 + i])) * static_cast<float>(k[c * 128 + i]);
      }
      ASSERT_EQ(scores[r * 64 + c], sum) << r << ", " << c;
    }
  }
}

TEST(Kernels, AllreduceOverThreads) {
  constexpr int kRanks = 4;
  constexpr std::size_t kCount = 256;
  std::vector<std::vector<float>> windows(kRanks, std::vector<float>(kCount + 64, 0.0f));
  std::vector<std::vector<float>> outputs(kRanks, std::vector<float>(kCount));
  SignalBoard board;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) {
    threads.emplace_back([&, rank] {
      auto& window = windows[static_cast<std::size_t>(rank)];
      auto& output = outputs[static_cast<std::size_t>(rank)];
      CommContext context = {};
      context.rankId = static_cast<uint32_t>(rank);
      context.rankNum = kRanks;
      context.winSize = window.size() * sizeof(float);
      TestCore core(&board);
      for (std::size_t i = 0; i < kRanks; ++i) {
        context.windowsIn[i] = reinterpret_cast<std::uintptr_t>(windows[i].data());
        core.allow("window", windows[i].data(), context.winSize);
      }
      std::vector<float> input(kCount);
      for (std::size_t i = 0; i < kCount; ++i) input[i] = static_cast<float>(i) + 100.0f * static_cast<float>(rank);
      core.allow("input", input.data(), kCount * sizeof(float));
      core.allow("output", output.data(), kCount * sizeof(float));
      const ChipTensor tensors[] = {tensor_of(input), tensor_of(output), tensor_of(window)};
      int64_t args[50] = {argument(&tensors[0]), argument(&tensors[1]), argument(&tensors[2]), kRanks,
                          argument(&context)};
      allreduce_onephase_entry(args);
      core.finish();
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& output : outputs) {
    for (std::size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(output[i], static_cast<float>(kRanks * i) + 100.0f * kRanks * (kRanks - 1) / 2);
    }
  }
}

TEST(Kernels, LocalLinear) {
  constexpr std::size_t kSide = 64;
  std::vector<float> x(kSide * kSide), w(x.size()), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<float>(i) / 32;
    w[i] = (static_cast<float>(i) + 0.5f) / 48;
  }
  const ChipTensor tensors[] = {tensor_of(x), tensor_of(w), tensor_of(y)};
  int64_t args[50] = {argument(&tensors[0]), argument(&tensors[1]), argument(&tensors[2])};
  TestCore core;
  local_linear_entry(args);
  core.finish();
  for (std::size_t r = 0; r < kSide; ++r) {
    for (std::size_t c = 0; c < kSide; ++c) {
      double sum = 0;
      for (std::size_t k = 0; k < kSide; ++k) sum += static_cast<double>(x[r * kSide + k]) * w[k * kSide + c];
      ASSERT_NEAR(y[r * kSide + c], sum, sum * 1e-5);
    }
  }
}

TEST(Kernels, RouteTokens) {
  std::vector<int32_t> table(64), counts(16, -1);
  std::vector<bfloat16_t> rows(8 * 64), inbox(rows.size());
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = static_cast<int32_t>(i * i % 7);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i) / 3;
  const auto before = rows;
  const ChipTensor tensors[] = {tensor_of(table), tensor_of(counts), tensor_of(rows), tensor_of(inbox)};
  int64_t args[50] = {argument(&tensors[0]), argument(&tensors[1]), argument(&tensors[2]), argument(&tensors[3]),
                      static_cast<int64_t>(to_u64(1.25f))};
  TestCore core;
  route_tokens_entry(args);
  core.finish();
  for (std::size_t r = 0; r < 8; ++r) {
    int32_t sum = 0;
    for (std::size_t c = 0; c < 8; ++c) sum += table[r * 8 + c];
    EXPECT_EQ(counts[r], sum);
  }
  EXPECT_EQ(counts[8], counts[0] + 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bfloat16_t wanted(static_cast<float>(before[i]) * 1.25f);
    ASSERT_EQ(rows[i].bits, wanted.bits);
    ASSERT_EQ(inbox[i].bits, wanted.bits);
  }
}

TEST(Kernels, AssembleWithoutTileHeaders) {
  std::vector<float> window = {1, 2, 3, 4}, out(4);
  CommContext context = {};
  context.rankNum = 1;
  context.windowsIn[0] = reinterpret_cast<std::uintptr_t>(window.data());
  const ChipTensor tensor = tensor_of(out);
  int64_t args[50] = {argument(&tensor), argument(&context)};
  const TestCore core;
  assemble_entry(args);
  EXPECT_EQ(out, window);
}

}  // namespace
