// Collectives in graphs of chips that run no code of libbaton: their kernels are compiled when they are first used.
#include <gtest/gtest.h>

#include <numeric>

#include <baton/chip.hpp>
#include <baton/graph_collectives.hpp>
#include <baton/inproc.hpp>

#include "collectives/graph/device_kernels.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

constexpr int kRanks = 3;

template <class T>
std::vector<T> contents_of(Chip& chip, const Tensor& tensor) {
  std::vector<T> values(static_cast<std::size_t>(tensor.element_count()));
  chip.copy_out<T>(tensor, values);
  return values;
}

/// One of each kind of kernel, several blocks, and pieces: the room is smaller than the data.
void one_of_each_kind(Domain me) {
  constexpr std::int64_t kCount = 1000;
  Chip chip(me, {.clusters = 1, .threads = 1});
  const CollectiveRoom room(chip, me, {.bytes = std::size_t{4} << 10U, .blocks = 2, .compiled = true});
  REQUIRE(room.device_platform() == chip.platform());
  const int next = (me.rank() + 1) % kRanks;
  const int before = (me.rank() + kRanks - 1) % kRanks;
  const Tensor x = chip.alloc<float>({kCount});
  const Tensor sum = chip.alloc<float>({kCount});
  const Tensor got = chip.alloc<float>({kCount});
  const Tensor parts = chip.alloc<std::int32_t>({kRanks});
  const Tensor turned = chip.alloc<std::int32_t>({kRanks});
  const Tensor ones = chip.alloc<std::int32_t>({kRanks});
  std::vector<float> mine(kCount);
  std::iota(mine.begin(), mine.end(), 100.0F * static_cast<float>(me.rank()));
  chip.copy_in<float>(x, mine);
  chip.copy_in<std::int32_t>(parts, std::vector<std::int32_t>{10 * me.rank(), 10 * me.rank() + 1, 10 * me.rank() + 2});
  chip.copy_in<std::int32_t>(ones, std::vector<std::int32_t>(kRanks, 1));
  chip.run([&](Graph& graph) {
    allreduce(graph, room, x, sum, ReduceOp::sum, {.algorithm = Algorithm::one_phase});
    send_recv(graph, room, x, next, got, before);
    const TaskId met = barrier(graph, room);
    all_to_all_v(graph, room, parts, ones, turned, ones, {.after = {met}});
  });
  const std::vector<float> sums = contents_of<float>(chip, sum);
  const std::vector<float> came = contents_of<float>(chip, got);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    REQUIRE(sums[i] == 300.0F + 3.0F * static_cast<float>(i));
    REQUIRE(came[i] == 100.0F * static_cast<float>(before) + static_cast<float>(i));
  }
  for (int from = 0; from < kRanks; ++from) {
    REQUIRE(contents_of<std::int32_t>(chip, turned)[static_cast<std::size_t>(from)] == 10 * from + me.rank());
  }
}

TEST(CompiledRoom, HasEveryKindOfKernel) { run_ranks(kRanks, one_of_each_kind); }

TEST(CompiledRoom, IsTheRuleWhereCodeOfTheHostDoesNotRun) {
  for (const char* platform : {"a2a3sim", "a5sim", "/somewhere/libbaton_mine.so"}) {
    EXPECT_TRUE(collectives::has_host_kernels(platform)) << platform;
  }
  for (const char* platform : {"cuda", "a2a3", "a5"}) EXPECT_FALSE(collectives::has_host_kernels(platform)) << platform;
}

/// A chip has kernels of many files, of which no two have one name.
TEST(CompiledRoom, KernelsForDifferentThingsHaveDifferentNames) {
  using collectives::DeviceTask;
  using collectives::Operation;
  const auto name = [](const DeviceTask& task) { return collectives::source_of(task).name; };
  const DeviceTask sum{.operation = Operation::allreduce, .algorithm = Algorithm::mesh, .element = Element::float32};
  DeviceTask other = sum;
  other.element = Element::int32;
  EXPECT_NE(name(sum), name(other));
  other = sum;
  other.algorithm = Algorithm::one_phase;
  EXPECT_NE(name(sum), name(other));
  // What is only moved is known by its size.
  const DeviceTask floats{.operation = Operation::allgather, .element = Element::float32};
  const DeviceTask integers{.operation = Operation::allgather, .element = Element::int32};
  EXPECT_EQ(name(floats), name(integers));
}

}  // namespace
}  // namespace baton::test
