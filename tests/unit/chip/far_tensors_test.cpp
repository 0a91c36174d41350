// What a core moves for instructions on memory of other hosts, on a memory that says of some addresses that they are
// there.
#include "chip/cores/sim/far_tensors.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include <baton/error.hpp>

#include "chip/cores/local_memory.hpp"

namespace baton::chip {
namespace {

/// Counts what is copied.
class CountingMemory final : public LocalMemory {
 public:
  void copy(void* to, const void* from, std::size_t bytes) override {
    copies.push_back(bytes);
    LocalMemory::copy(to, from, bytes);
  }
  void add_far(void* to, Element element, const void* addends, std::size_t bytes) override {
    EXPECT_EQ(element, Element::float32);
    for (std::size_t i = 0; i < bytes / sizeof(float); ++i) {
      static_cast<float*>(to)[i] += static_cast<const float*>(addends)[i];
    }
  }
  std::vector<std::size_t> copies;
};

BatonGlobalRange rows_of(const float* first, std::int64_t rows, std::int64_t cols, std::int64_t pitch,
                         std::uint32_t access) {
  constexpr std::int64_t kBytes = sizeof(float);
  return {first, access, sizeof(float), {1, 1, 1, rows, cols}, {0, 0, 0, pitch * kBytes, kBytes}};
}

std::vector<float> numbers(std::size_t count) {
  std::vector<float> all(count);
  std::iota(all.begin(), all.end(), 1.0F);
  return all;
}

TEST(FarTensors, WhatIsReadKeepsItsDistances) {
  CountingMemory memory;
  FarTensors far(memory);
  const std::vector<float> there = numbers(100);
  const auto* near = static_cast<const float*>(far.begin(rows_of(&there[3], 4, 5, 20, BATON_READS)));
  for (std::size_t row = 0; row < 4; ++row) {
    for (std::size_t col = 0; col < 5; ++col) EXPECT_EQ(near[row * 20 + col], there[3 + row * 20 + col]);
  }
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(near) % 64, reinterpret_cast<std::uintptr_t>(&there[3]) % 64);
  EXPECT_EQ(memory.copies, std::vector<std::size_t>{65 * sizeof(float)}) << "gaps are cheaper than messages";
}

TEST(FarTensors, WideGapsAreNotFetched) {
  CountingMemory memory;
  FarTensors far(memory);
  constexpr std::size_t kPitch = 1 << 16;
  const std::vector<float> there = numbers(3 * kPitch);
  const auto* near = static_cast<const float*>(far.begin(rows_of(there.data(), 3, 2, kPitch, BATON_READS)));
  EXPECT_EQ(near[2 * kPitch + 1], there[2 * kPitch + 1]);
  EXPECT_EQ(memory.copies, std::vector<std::size_t>(3, 2 * sizeof(float)));
}

TEST(FarTensors, ADimensionMayGoBackwards) {
  CountingMemory memory;
  FarTensors far(memory);
  std::vector<float> there = numbers(12);
  const auto* read = static_cast<const float*>(far.begin(rows_of(&there[8], 3, 4, -4, BATON_READS)));
  EXPECT_EQ(read[0], 9.0F);
  EXPECT_EQ(read[-8], 1.0F);
  const BatonGlobalRange written = rows_of(&there[8], 3, 2, -4, BATON_WRITES);
  auto* near = static_cast<float*>(far.begin(written));
  for (int row = 0; row < 3; ++row) near[-4 * row] = near[-4 * row + 1] = static_cast<float>(-row);
  far.end(written, near);
  EXPECT_EQ(there, (std::vector<float>{-2, -2, 3, 4, -1, -1, 7, 8, 0, 0, 11, 12}));
}

TEST(FarTensors, SumsAreMadeThere) {
  CountingMemory memory;
  FarTensors far(memory);
  std::vector<float> there = numbers(6);
  constexpr auto kAdds =
      BATON_WRITES | BATON_ATOMIC | static_cast<std::uint32_t>(Element::float32) << BATON_ELEMENT_SHIFT;
  const BatonGlobalRange range = rows_of(there.data(), 2, 2, 3, kAdds);
  for (int times = 0; times < 2; ++times) {
    auto* near = static_cast<float*>(far.begin(range));
    for (const int i : {0, 1, 3, 4}) near[i] += 10;
    far.end(range, near);
  }
  EXPECT_EQ(there, (std::vector<float>{21, 22, 3, 24, 25, 6}));
  EXPECT_TRUE(memory.copies.empty());
}

TEST(FarTensors, OnlyWhatWasWrittenIsSent) {
  CountingMemory memory;
  FarTensors far(memory);
  std::vector<float> there = numbers(12);
  const BatonGlobalRange range = rows_of(&there[1], 3, 2, 4, BATON_WRITES);
  auto* near = static_cast<float*>(far.begin(range));
  EXPECT_TRUE(memory.copies.empty());
  for (int row = 0; row < 3; ++row) near[4 * row] = near[4 * row + 1] = 0;
  // What is read meanwhile lies elsewhere.
  EXPECT_NE(far.begin(rows_of(&there[1], 3, 2, 4, BATON_READS)), static_cast<void*>(near));
  far.end(range, near);
  EXPECT_EQ(there, (std::vector<float>{1, 0, 0, 4, 5, 0, 0, 8, 9, 0, 0, 12}));
}

}  // namespace
}  // namespace baton::chip
