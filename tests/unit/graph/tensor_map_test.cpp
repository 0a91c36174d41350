#include "chip/graph/tensor_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/scale.hpp"

namespace baton::graph {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr Buffer kMemory{.address = 1 << 20, .bytes = 1 << 20};

/// Submits one access per task; all tasks are live until told otherwise.
class Submitter {
 public:
  std::vector<TaskId> submit(const Tensor& tensor, Use access) {
    std::vector<TaskId> found;
    map.record(
        view_of(tensor), access, ++last, [&](TaskId task) { return task >= oldest; },
        [&](TaskId task) { found.push_back(task); });
    std::sort(found.begin(), found.end());
    return found;
  }
  std::vector<TaskId> read(const Tensor& tensor) { return submit(tensor, Use::read); }
  std::vector<TaskId> write(const Tensor& tensor) { return submit(tensor, Use::write); }
  void complete_all_before(TaskId task) {
    oldest = task;
    map.forget_before(task);
  }

  // Keeps few regions, so that tests see them go.
  TensorMap map{16};
  TaskId last = 0;
  TaskId oldest = 1;
};

const Tensor kMatrix(kMemory, DType::float32, {64, 64});

TEST(TensorMap, FindsAllThreeHazards) {
  Submitter s;
  EXPECT_THAT(s.read(kMatrix), IsEmpty());
  EXPECT_THAT(s.read(kMatrix), IsEmpty()) << "readers do not wait for each other";
  EXPECT_THAT(s.write(kMatrix), ElementsAre(1, 2)) << "write after read";
  EXPECT_THAT(s.write(kMatrix), ElementsAre(3)) << "write after write";
  EXPECT_THAT(s.read(kMatrix), ElementsAre(4)) << "read after write";
  EXPECT_THAT(s.submit(kMatrix, Use::read_write), ElementsAre(5)) << "5 waits for 4";
}

TEST(TensorMap, FindsThemBetweenViewsThatOverlap) {
  Submitter s;
  EXPECT_THAT(s.write(kMatrix.slice(0, 8)), IsEmpty());
  EXPECT_THAT(s.write(kMatrix.slice(8, 16)), IsEmpty());
  EXPECT_THAT(s.read(kMatrix.slice_dim(1, 3, 5)), ElementsAre(1, 2));
  EXPECT_THAT(s.read(kMatrix.slice(4, 6).transpose(0, 1)), ElementsAre(1));
  EXPECT_THAT(s.write(kMatrix.slice(0, 6)), ElementsAre(1, 3, 4));
  EXPECT_THAT(s.write(kMatrix.slice_dim(1, 5, 6)), ElementsAre(1, 2, 5)) << "5 has written over what 4 read";
  EXPECT_THAT(s.read(kMatrix.slice_dim(1, 6, 64, 2).slice(20, 64)), IsEmpty());
}

TEST(TensorMap, AnyWayToWriteAViewIsTheSameView) {
  Submitter s;
  EXPECT_THAT(s.write(kMatrix.slice(3, 9)), IsEmpty());
  EXPECT_THAT(s.read(kMatrix.slice(3, 9).transpose(0, 1).reinterpret(DType::int32)), ElementsAre(1));
  EXPECT_EQ(s.map.region_count(), 1U);
}

TEST(TensorMap, ATaskDoesNotWaitForItself) {
  TensorMap map;
  int found = 0;
  for (const Use access : {Use::read, Use::write, Use::read, Use::read_write}) {
    map.record(
        view_of(kMatrix), access, 1, [](TaskId) { return true; }, [&](TaskId) { ++found; });
    map.record(
        view_of(kMatrix.slice(3, 4)), access, 1, [](TaskId) { return true; }, [&](TaskId) { ++found; });
  }
  EXPECT_EQ(found, 0);
}

TEST(TensorMap, CompleteTasksAreNotFound) {
  Submitter s;
  s.write(kMatrix);
  s.read(kMatrix.slice(0, 3));
  s.complete_all_before(2);
  EXPECT_THAT(s.write(kMatrix), ElementsAre(2));
  s.complete_all_before(4);
  EXPECT_THAT(s.read(kMatrix), IsEmpty());
}

TEST(TensorMap, AWriteThatCoversOthersReplacesThem) {
  Submitter s;
  for (std::int64_t row = 0; row < 64; ++row) s.write(kMatrix.index(row));
  EXPECT_EQ(s.write(kMatrix).size(), 64U);
  EXPECT_THAT(s.read(kMatrix.index(5)), ElementsAre(65));
  EXPECT_THAT(s.write(kMatrix), ElementsAre(65, 66)) << "not the rows written before";
}

TEST(TensorMap, QueryRecordsNothing) {
  Submitter s;
  s.write(kMatrix);
  s.read(kMatrix.index(4));
  std::vector<TaskId> found;
  const auto all = [](TaskId) { return true; };
  const auto note = [&](TaskId task) { found.push_back(task); };
  s.map.query(view_of(kMatrix.index(4)), Use::read, all, note);
  EXPECT_THAT(found, ElementsAre(1));
  found.clear();
  s.map.query(view_of(kMatrix.index(4)), Use::write, all, note);
  std::sort(found.begin(), found.end());
  EXPECT_THAT(found, ElementsAre(1, 2));
  EXPECT_THAT(s.read(kMatrix.index(4)), ElementsAre(1));
}

TEST(TensorMap, TokensOrderTasks) {
  Submitter s;
  EXPECT_THAT(s.write(Tensor::token(1)), IsEmpty());
  EXPECT_THAT(s.write(Tensor::token(2)), IsEmpty());
  EXPECT_THAT(s.read(Tensor::token(1)), ElementsAre(1));
}

TEST(TensorMap, ManyReadersCostEachTheSame) {
  TensorMap map;
  const View view = view_of(kMatrix);
  const TaskId readers = static_cast<TaskId>(test::scaled(100000));
  // Asking whether a task is live is the only work that grows with the number of readers.
  std::uint64_t asked = 0;
  std::uint64_t found = 0;
  TaskId live_from = 1;
  const auto live = [&](TaskId task) {
    ++asked;
    return task >= live_from;
  };
  const auto note = [&](TaskId) { ++found; };
  for (TaskId task = 1; task <= readers; ++task) map.record(view, Use::read, task, live, note);
  EXPECT_LE(asked, 3 * readers);
  map.record(view, Use::write, readers + 1, live, note);
  EXPECT_EQ(found, readers);

  // Readers that complete soon after they came leave nothing behind.
  asked = 0;
  for (TaskId task = readers + 2; task <= 3 * readers; ++task) {
    live_from = task - std::min<TaskId>(task - 1, 50);
    map.record(view, Use::read, task, live, note);
  }
  EXPECT_LE(asked, 8 * readers);
  found = 0;
  asked = 0;
  map.record(view, Use::write, 3 * readers + 1, live, note);
  EXPECT_EQ(found, std::min<TaskId>(51, 2 * readers - 1));
  EXPECT_LE(asked, 256U) << "complete readers were kept";
}

TEST(TensorMap, MemoryFollowsTheLiveTasksOverEverNewViews) {
  Submitter s;
  std::size_t most = 0;
  const std::int64_t tasks = test::scaled(1000000);
  for (std::int64_t i = 0; i < tasks; ++i) {
    const Buffer buffer{.address = (1 << 20) + static_cast<std::uint64_t>(i / 4) * 4096, .bytes = 4096};
    const Tensor matrix(buffer, DType::uint8, {64, 64});
    // A row, a block, a column and the whole, which overlap each other; then the next buffer.
    switch (i % 4) {
      case 0: s.write(matrix.index(i / 4 % 64)); break;
      case 1: s.read(matrix.slice(8, 16).slice_dim(1, 8, 16)); break;
      case 2: s.write(matrix.select(1, i / 4 % 64)); break;
      default: s.read(matrix); break;
    }
    if (s.last > 100) s.complete_all_before(s.last - 100);
    most = std::max(most, s.map.region_count());
  }
  EXPECT_LE(most, 400U);
  EXPECT_LE(s.map.allocation_count(), 100U);
}

TEST(TensorMap, MemoryFollowsTheLiveTasksOverEverNewViewsOfOneBuffer) {
  Submitter s;
  const Buffer heap{.address = 1 << 20, .bytes = 1 << 24};
  s.map.add_allocation(heap, "heap");
  const Tensor line(heap, DType::uint8, {1 << 24});
  std::size_t most = 0;
  for (std::int64_t i = test::scaled(300000); i > 0; --i) {
    const std::int64_t begin = (i * 1237) % ((1 << 24) - 4096);
    s.write(line.slice(begin, begin + 1 + i % 4096));
    if (s.last > 200) s.complete_all_before(s.last - 200);
    most = std::max(most, s.map.region_count());
  }
  EXPECT_LE(most, 800U);
}

TEST(TensorMap, NeighboursNobodyUsesAnyMoreDisappear) {
  Submitter s;
  for (std::int64_t row = 0; row < 64; ++row) s.write(kMatrix.index(row));
  s.complete_all_before(65);
  for (int i = 0; i < 10; ++i) s.write(kMatrix);
  EXPECT_EQ(s.map.region_count(), 1U);
}

}  // namespace
}  // namespace baton::graph
