// Edges: who waits for whom.
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>

#include "kernels.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"
#include "tensors.hpp"

namespace baton::test {
namespace {

// The kernels give their thread away between reading and writing: without an edge the order is lost.
TEST(Trap11Edges, WritersWaitForReadersAndForWriters) {
  Chip chip({.clusters = 4});
  const Tensor a = chip.alloc<std::int64_t>({4}, "a");
  const Tensor b = chip.alloc<std::int64_t>({4}, "b");
  for (int round = 0; round < scaled(200); ++round) {
    chip.copy_in<std::int64_t>(a, std::vector<std::int64_t>{1, 1, 1, 1});
    chip.run([&](Graph& g) {
      g.submit(renew, a, b, 0);  // b = 4
      g.submit(renew, b, a, 0);  // write after read: a = 16
      g.submit(renew, b, a, 1);  // write after write: a = 17
      g.submit(renew, a, b, 0);  // read after write: b = 68
    });
    ASSERT_THAT(values_of<std::int64_t>(chip, a), testing::Each(17));
    ASSERT_THAT(values_of<std::int64_t>(chip, b), testing::Each(68));
  }
}

TEST(Edges, OverlappingViewsAreOrderedAndOthersAreNot) {
  Chip chip({.clusters = 4});
  const Tensor all = chip.alloc<std::int64_t>({8});
  const Tensor one = chip.alloc<std::int64_t>({1});
  chip.run([&](Graph& g) {
    g.submit(renew, one, all.slice(0, 8, 2), 1);
    g.submit(renew, one, all.slice(1, 8, 2), 2);
    g.submit(mix, all, one, all.slice(2, 4), 0);  // all: 4 * 1 + 4 * 2 = 12
  });
  EXPECT_THAT(values_of<std::int64_t>(chip, all), testing::ElementsAre(1, 2, 1 * 31 + 12, 2 * 31 + 12, 1, 2, 1, 2));
}

TEST(Edges, ManualScopesHaveOnlyTheEdgesThatTheAuthorNames) {
  Chip chip({.clusters = 2});
  const Tensor list = chip.alloc<std::int64_t>({128});
  chip.run([&](Graph& g) {
    const auto scope = g.manual_scope();
    TaskId last = 0;
    for (std::int64_t i = 0; i < 100; ++i) {
      TaskOptions options;
      if (last != 0) options.after.push_back(last);
      last = g.submit(options, append, list, i);
    }
    require_error(Code::invalid_argument, {"there is no task 12345"},
                  [&] { g.submit({.after = {12345}}, append, list, 0); });
  });
  const auto out = values_of<std::int64_t>(chip, list);
  ASSERT_EQ(out[0], 100);
  for (std::size_t i = 0; i < 100; ++i) ASSERT_EQ(out[i + 1], static_cast<std::int64_t>(i));
}

TEST(Edges, EmptyTasksJoinOthers) {
  Chip chip({.clusters = 2});
  const Tensor list = chip.alloc<std::int64_t>({16});
  chip.run([&](Graph& g) {
    const TaskId first = g.submit(append, list, 1);
    const TaskId joined = g.submit_empty({}, {.after = {first}});
    g.wait(joined);
    EXPECT_EQ(values_of<std::int64_t>(chip, list)[0], 1);
  });
}

TEST(Edges, AllKindsOfTensorsOfOneAllocationAreRecognised) {
  std::vector<std::int64_t> memory(16, 1);
  Chip chip({.clusters = 2});
  const Tensor whole = chip.add(std::span(memory));
  // A tensor of its own over the second half: another pointer into the same allocation.
  const Tensor half = Tensor::over(std::span(memory).subspan(8));
  const Tensor sum = chip.alloc<std::int64_t>({1});
  chip.run([&](Graph& g) {
    g.submit(renew, sum, half, 3);
    g.submit(renew, whole, sum, 0);
  });
  EXPECT_EQ(values_of<std::int64_t>(chip, sum)[0], 8 * 1 + 8 * 3);
}

}  // namespace
}  // namespace baton::test
