// What a chip would not forgive is an error here, with the instruction's name and place.
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pto/pto-inst.hpp>

#include "common/platform_config.h"
#include "pipe_sync.h"
#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;
using ::testing::HasSubstr;

/// Runs `kernel` and gives what it reported.
KernelFailure failure_of(const std::function<void()>& kernel) {
  try {
    kernel();
  } catch (const KernelFailure& failure) {
    return failure;
  }
  const BatonPlace place{"nothing", "", 0, 0};
  return KernelFailure(BatonFailure{0, 0, &place, "no failure"});
}

#define EXPECT_FAILURE(STATEMENT, CODE, INSTRUCTION, TEXT)        \
  {                                                               \
    const std::uint32_t line = __LINE__;                          \
    const KernelFailure failure = failure_of([&] { STATEMENT; }); \
    EXPECT_EQ(failure.code, CODE);                                \
    EXPECT_EQ(failure.instruction, INSTRUCTION);                  \
    EXPECT_THAT(failure.what(), HasSubstr(TEXT));                 \
    EXPECT_THAT(failure.file, HasSubstr("errors_test.cpp"));      \
    EXPECT_EQ(failure.line, line);                                \
  }

using Vec = Tile<TileType::Vec, float, 4, 8>;
using Open = VecTile<float, 4, 8>;
using Global = GlobalTensor<float, Shape<>, Stride<>>;

TEST(Errors, AnUnassignedTile) {
  const TestCore core;
  Vec a, b, c;
  TASSIGN(a, 0);
  TASSIGN(b, 0);
  EXPECT_FAILURE(TADD(a, b, c), BATON_KERNEL_INVALID_ARGUMENT, "TADD", "src1 has no place");
  EXPECT_FAILURE(TADDS(c, a, 1.0f), BATON_KERNEL_INVALID_ARGUMENT, "TADDS", "dst has no place");
  float data[32];
  Global tensor(data, {1, 1, 1, 4, 8}, {1, 1, 1, 8, 1});
  EXPECT_FAILURE(TLOAD(c, tensor), BATON_KERNEL_INVALID_ARGUMENT, "TLOAD", "dst has no place");
}

TEST(Errors, AnUnsetValidSize) {
  const TestCore core;
  Open tile;
  TASSIGN(tile, 0);
  EXPECT_FAILURE(TEXPANDS(tile, 1.0f), BATON_KERNEL_INVALID_ARGUMENT, "TEXPANDS", "not set");
  tile.RowMaskInternal = 5;
  tile.ColMaskInternal = 8;
  EXPECT_FAILURE(TEXPANDS(tile, 1.0f), BATON_KERNEL_INVALID_ARGUMENT, "TEXPANDS", "5 x 8");
  EXPECT_FAILURE(Open(5, 8), BATON_KERNEL_INVALID_ARGUMENT, "Tile", "0 to 4, got 5");
}

TEST(Errors, CapacityAndAlignment) {
  const TestCore core;
  Tile<TileType::Vec, float, 16, 1024> large;
  EXPECT_FAILURE(TASSIGN(large, 0x20020), BATON_KERNEL_OUT_OF_RANGE, "TASSIGN", "196608");
  EXPECT_FAILURE(TASSIGN(large, -32), BATON_KERNEL_OUT_OF_RANGE, "TASSIGN", "-32");
  EXPECT_FAILURE(TASSIGN(large, 16), BATON_KERNEL_MISALIGNED, "TASSIGN", "16");
  EXPECT_FAILURE(TASSIGN(large, std::uint64_t{1} << 40), BATON_KERNEL_OUT_OF_RANGE, "TASSIGN", "Vec");
  TileLeft<half, 128, 256> left;
  EXPECT_FAILURE(TASSIGN(left, 32), BATON_KERNEL_OUT_OF_RANGE, "TASSIGN", "Left");
  Tile<TileType::Scaling, uint8_t, 1, 32> scaling;  // a core without that buffer
  EXPECT_FAILURE(TASSIGN(scaling, 0), BATON_KERNEL_OUT_OF_RANGE, "TASSIGN", "Scaling");
}

TEST(Errors, AnotherVersionOfTheCore) {
  TestCore core;
  core.version = 99;
  Vec tile;
  EXPECT_FAILURE(TASSIGN(tile, 0), BATON_KERNEL_UNSUPPORTED, "TASSIGN", "99");
}

TEST(Errors, ValidSizesThatDiffer) {
  const TestCore core;
  Open a(4, 8), b(4, 7);
  Tile<TileType::Vec, float, 4, 8, BLayout::RowMajor, 3, 1> column;
  TASSIGN(a, 0);
  TASSIGN(b, 128);
  TASSIGN(column, 256);
  Vec tmp;
  TASSIGN(tmp, 512);
  EXPECT_FAILURE(TADD(a, a, b), BATON_KERNEL_INVALID_ARGUMENT, "TADD", "dst 4 x 8, src1 4 x 7");
  EXPECT_FAILURE(TMOV(a, b), BATON_KERNEL_INVALID_ARGUMENT, "TMOV", "4 x 7");
  EXPECT_FAILURE(TROWSUM(column, a, tmp), BATON_KERNEL_INVALID_ARGUMENT, "TROWSUM", "is 3");
  EXPECT_FAILURE(TROWEXPANDADD(a, a, column), BATON_KERNEL_INVALID_ARGUMENT, "TROWEXPANDADD", "is 3");
  EXPECT_FAILURE(TCOLSUM(b, a), BATON_KERNEL_INVALID_ARGUMENT, "TCOLSUM", "is 7");
  EXPECT_FAILURE(TTRANS(a, b, tmp), BATON_KERNEL_OUT_OF_RANGE, "TTRANS", "7 x 4 elements do not fit into dst");
  VecTile<float, 8, 8> c(8, 4);
  TASSIGN(c, 2048);
  EXPECT_FAILURE(TTRANS(c, b, tmp), BATON_KERNEL_INVALID_ARGUMENT, "TTRANS", "32 elements, but 112 are needed");
}

TEST(Errors, ShapesThatDoNotMatchTheTile) {
  const TestCore core;
  float data[64];
  Vec tile;
  TASSIGN(tile, 0);
  Global short_rows(data, {1, 1, 1, 4, 7}, {1, 1, 1, 8, 1});
  EXPECT_FAILURE(TLOAD(tile, short_rows), BATON_KERNEL_INVALID_ARGUMENT, "TLOAD", "4 x 7");
  Global many(data, {1, 1, 2, 4, 8}, {1, 1, 1, 8, 1});
  EXPECT_FAILURE(TSTORE(many, tile), BATON_KERNEL_INVALID_ARGUMENT, "TSTORE", "8 x 8");
  Global empty(data, {1, 1, 1, 0, 8}, {1, 1, 1, 8, 1});
  EXPECT_FAILURE(TLOAD(tile, empty), BATON_KERNEL_INVALID_ARGUMENT, "TLOAD", "extent 0");
  Global strided(data, {1, 1, 1, 4, 8}, {1, 1, 1, 16, 2});
  EXPECT_FAILURE(TLOAD(tile, strided), BATON_KERNEL_INVALID_ARGUMENT, "TLOAD", "stride of dimension 4 is 2");
  Global null(nullptr, {1, 1, 1, 4, 8}, {1, 1, 1, 8, 1});
  EXPECT_FAILURE(TLOAD(tile, null), BATON_KERNEL_INVALID_ARGUMENT, "TLOAD", "null");
}

TEST(Errors, ScratchThatOverlaps) {
  const TestCore core;
  Vec src, tmp;
  Tile<TileType::Vec, float, 4, 8, BLayout::RowMajor, 4, 1> dst;
  TASSIGN(src, 0);
  TASSIGN(dst, 128);
  TASSIGN(tmp, 64);
  EXPECT_FAILURE(TROWSUM(dst, src, tmp), BATON_KERNEL_INVALID_ARGUMENT, "TROWSUM", "tmp and dst overlap");
  TASSIGN(dst, 1024);
  EXPECT_FAILURE(TROWMAX(dst, src, tmp), BATON_KERNEL_INVALID_ARGUMENT, "TROWMAX", "tmp and src overlap");
  Vec nowhere;
  EXPECT_FAILURE(TROWSUM(dst, src, nowhere), BATON_KERNEL_INVALID_ARGUMENT, "TROWSUM", "tmp has no place");
}

TEST(Errors, MemoryThatIsNoTensorOrWindow) {
  TestCore core;
  std::vector<float> window(64);
  core.allow("window of rank 3", window.data(), 32 * sizeof(float));
  Vec tile;
  TASSIGN(tile, 0);
  Global inside(window.data(), {1, 1, 1, 4, 8}, {1, 1, 1, 8, 1});
  TLOAD(tile, inside);
  Global reaching(window.data() + 1, {1, 1, 1, 4, 8}, {1, 1, 1, 8, 1});
  EXPECT_FAILURE(TLOAD(tile, reaching), BATON_KERNEL_OUT_OF_RANGE, "TLOAD", "window of rank 3");
  EXPECT_FAILURE(TSTORE(reaching, tile), BATON_KERNEL_OUT_OF_RANGE, "TSTORE", "128 bytes");
  Global wide(window.data(), {1, 1, 1, 4, 8}, {1, 1, 1, 9, 1});
  EXPECT_FAILURE(TLOAD(tile, wide), BATON_KERNEL_OUT_OF_RANGE, "TLOAD", "140 bytes");
  EXPECT_FAILURE(comm::TPUT(wide, inside, tile), BATON_KERNEL_OUT_OF_RANGE, "TPUT", "dst");
  auto* signals = reinterpret_cast<int32_t*>(window.data());
  comm::Signal outside(signals + 32);
  EXPECT_FAILURE(comm::TNOTIFY(outside, 1, comm::NotifyOp::Set), BATON_KERNEL_OUT_OF_RANGE, "TNOTIFY", "signal");
  EXPECT_FAILURE(comm::TWAIT(outside, 0, comm::WaitCmp::GE), BATON_KERNEL_OUT_OF_RANGE, "TWAIT", "signal");
  comm::Signal crooked(reinterpret_cast<int32_t*>(reinterpret_cast<char*>(signals) + 2));
  EXPECT_FAILURE(comm::TNOTIFY(crooked, 1, comm::NotifyOp::Set), BATON_KERNEL_MISALIGNED, "TNOTIFY", "multiple of 4");
}

TEST(Errors, AWaitThatDoesNotHold) {
  const TestCore core;
  int32_t word = 3;
  comm::Signal signal(&word);
  EXPECT_FAILURE(comm::TWAIT(signal, 4, comm::WaitCmp::GE), BATON_KERNEL_WAIT_TIMEOUT, "TWAIT", "");
}

TEST(Errors, Flags) {
  TestCore core;
  EXPECT_FAILURE(wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0), BATON_KERNEL_PIPE_ORDER, "wait_flag", "");
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  EXPECT_FAILURE(set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0), BATON_KERNEL_PIPE_ORDER, "set_flag", "");
  EXPECT_FAILURE(wait_flag(PIPE_MTE3, PIPE_V, EVENT_ID0), BATON_KERNEL_PIPE_ORDER, "wait_flag", "");
  EXPECT_FAILURE(set_flag(PIPE_V, PIPE_S, 8), BATON_KERNEL_INVALID_ARGUMENT, "set_flag", "0 to 7, got 8");
  EXPECT_FAILURE(set_flag(PIPE_V, PIPE_ALL, 0), BATON_KERNEL_INVALID_ARGUMENT, "set_flag", "one pipe to another");
  EXPECT_EQ(failure_of([&] { core.finish(); }).code, BATON_KERNEL_LEFT_OPEN);
  wait_flag(PIPE_MTE2, PIPE_V, 0);
  pipe_sync();
  pipe_barrier(PIPE_ALL);
  core.finish();
}

TEST(Errors, AMaskThatLeavesLanesOut) {
  const TestCore core;
  set_mask_norm();
  set_vector_mask(UINT64_MAX, UINT64_MAX);
  EXPECT_FAILURE(set_vector_mask(0, 1), BATON_KERNEL_UNSUPPORTED, "set_vector_mask", "(-1, -1)");
  const int64_t begin = get_sys_cnt();
  EXPECT_LE(begin, get_sys_cnt());
  EXPECT_GT(begin, 0);
  static_assert(PLATFORM_PROF_SYS_CNT_FREQ == 50000000);
}

TEST(Errors, Products) {
  const TestCore core;
  TileLeft<float, 16, 16, DYNAMIC, DYNAMIC> left(16, 15);
  TileRight<float, 16, 16, DYNAMIC, DYNAMIC> right(16, 16);
  TileAcc<float, 16, 16, DYNAMIC, DYNAMIC> acc(16, 16);
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TASSIGN(acc, 0);
  right.SetValidRow(14);
  EXPECT_FAILURE(TMATMUL(acc, left, right), BATON_KERNEL_INVALID_ARGUMENT, "TMATMUL", "only 14 valid rows");
  right.SetValidRow(15);
  TileAcc<float, 16, 32, 16, 16> wide;
  TileRight<float, 16, 32> much;
  TASSIGN(wide, 128 * 1024 - 1024);
  TASSIGN(much, 0);
  TMATMUL(wide, left, right);
  EXPECT_FAILURE(TMATMUL(wide, left, much), BATON_KERNEL_OUT_OF_RANGE, "TMATMUL", "16 x 32 elements do not fit");
  EXPECT_FAILURE(TMATMUL_ACC(acc, left, much), BATON_KERNEL_OUT_OF_RANGE, "TMATMUL_ACC", "which is 16 x 16");
}

TEST(Errors, AnInstructionWithEventsStillHasItsName) {
  struct MyEvent {
    void Wait() {}
  };
  const TestCore core;
  Vec a;
  MyEvent event;
  EXPECT_EQ(failure_of([&] { TADD(a, a, a, event); }).instruction, "TADD");
}

}  // namespace
