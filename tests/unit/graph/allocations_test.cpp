#include "chip/graph/allocations.hpp"

#include <gtest/gtest.h>

#include "chip/graph/tensor_map.hpp"
#include "expect_fails.hpp"

namespace baton::graph {
namespace {

void touch(TensorMap& map, const Buffer& buffer, TaskId task) {
  map.record(
      view_of(Tensor(buffer, DType::uint8, {static_cast<std::int64_t>(buffer.bytes)})), Use::write, task,
      [](TaskId) { return true; }, [](TaskId) {});
}

TEST(Allocations, MemoryThatTouchesNothingIsItsOwn) {
  TensorMap map;
  touch(map, {.address = 1000, .bytes = 100}, 1);
  touch(map, {.address = 1100, .bytes = 100}, 2);
  touch(map, {.address = 1000, .bytes = 100, .space = static_cast<MemorySpace>(1)}, 3);
  EXPECT_EQ(map.allocation_count(), 3U);
  touch(map, {.address = 1010, .bytes = 20}, 4);
  EXPECT_EQ(map.allocation_count(), 3U);
}

TEST(Allocations, MemoryThatJoinsOthersMakesThemOne) {
  TensorMap map;
  for (TaskId task = 1; task <= 20; ++task) touch(map, {.address = 1000 * task, .bytes = 100}, task);
  EXPECT_EQ(map.allocation_count(), 20U);
  touch(map, {.address = 3050, .bytes = 5000}, 21);
  EXPECT_EQ(map.allocation_count(), 15U);
  int found = 0;
  map.query(
      view_of(Tensor({.address = 3000, .bytes = 6000}, DType::uint8, {6000})), Use::read, [](TaskId) { return true; },
      [&](TaskId) { ++found; });
  EXPECT_EQ(found, 3) << "tasks 3 and 8, and the one that joined their memory and wrote over what lies between";
}

TEST(Allocations, MemoryUsedAgainInOtherPiecesStaysInPieces) {
  TensorMap map;
  for (TaskId task = 1; task <= 10; ++task) touch(map, {.address = 100 * task, .bytes = 100}, task);
  map.forget_before(11);
  for (TaskId task = 11; task <= 20; ++task) touch(map, {.address = 100 * (task - 10) + 50, .bytes = 100}, task);
  EXPECT_EQ(map.allocation_count(), 10U);
}

TEST(Allocations, RegisteredOnesRefuseToOverlap) {
  TensorMap map;
  const AllocationId id = map.add_allocation({.address = 1000, .bytes = 100}, "weights");
  test::expect_fails(Code::invalid_argument, {"\"inputs\"", "50 bytes", "\"weights\"", "100 bytes"},
                     [&] { map.add_allocation({.address = 1050, .bytes = 50}, "inputs"); });
  test::expect_fails(Code::invalid_argument, {"\"weights\""},
                     [&] { map.add_allocation({.address = 950, .bytes = 51}, "inputs"); });
  test::expect_fails(Code::invalid_argument, {"no bytes"},
                     [&] { map.add_allocation({.address = 1, .bytes = 0}, "none"); });
  map.add_allocation({.address = 1100, .bytes = 50}, "behind");
  map.add_allocation({.address = 900, .bytes = 100}, "before");
  map.add_allocation({.address = 1000, .bytes = 100, .space = static_cast<MemorySpace>(1)}, "elsewhere");
  map.invalidate(id);
  test::expect_fails(Code::released, {"not any more"}, [&] { map.invalidate(id); });
  map.add_allocation({.address = 1050, .bytes = 50}, "inputs");
}

TEST(Allocations, InvalidatedMemoryIsForgotten) {
  TensorMap map;
  const Buffer memory{.address = 1000, .bytes = 100};
  const AllocationId id = map.add_allocation(memory, "memory");
  touch(map, memory, 1);
  touch(map, {.address = 1000, .bytes = 300}, 2);
  map.invalidate(id);
  std::vector<TaskId> found;
  map.query(
      view_of(Tensor(memory, DType::uint8, {100})), Use::write, [](TaskId) { return true; },
      [&](TaskId task) { found.push_back(task); });
  EXPECT_EQ(found, std::vector<TaskId>{2}) << "only what also lies outside is remembered";
}

}  // namespace
}  // namespace baton::graph
