// Collectives in graphs of chips that run no code of libbaton: their kernels are compiled when they are first used.
#include <gtest/gtest.h>

#include <numeric>

#include <baton/chip.hpp>
#include <baton/graph_collectives.hpp>
#include <baton/inproc.hpp>

#include "collectives/graph/device_kernels.hpp"
#include "one_of_each_kind.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

constexpr int kRanks = 3;

TEST(CompiledRoom, HasEveryKindOfKernel) {
  run_ranks(kRanks, [](const Domain& me) { one_of_each_kind(me, {.clusters = 1, .threads = 1}); });
}

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
