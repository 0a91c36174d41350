// Signals, TPUT, TGET, asynchronous copies.
#include <thread>

#include <gtest/gtest.h>
#include <pto/comm/pto_comm_inst.hpp>
#include <pto/pto-inst.hpp>

#include "test_core.hpp"
#include "tile_values.hpp"

namespace {

using namespace baton::test;
using namespace pto;

TEST(Signals, NotifyAndCompare) {
  const TestCore core;
  int32_t word = 0;
  comm::Signal signal(&word);
  comm::TNOTIFY(signal, 5, comm::NotifyOp::AtomicAdd);
  comm::TNOTIFY(signal, -7, comm::NotifyOp::AtomicAdd);
  EXPECT_EQ(word, -2);
  comm::TNOTIFY(signal, 9, comm::NotifyOp::Set);
  EXPECT_EQ(word, 9);
  using comm::WaitCmp;
  for (const int32_t value : {8, 9, 10}) {
    EXPECT_EQ(comm::TTEST(signal, value, WaitCmp::EQ), 9 == value);
    EXPECT_EQ(comm::TTEST(signal, value, WaitCmp::NE), 9 != value);
    EXPECT_EQ(comm::TTEST(signal, value, WaitCmp::GT), 9 > value);
    EXPECT_EQ(comm::TTEST(signal, value, WaitCmp::GE), 9 >= value);
    EXPECT_EQ(comm::TTEST(signal, value, WaitCmp::LT), 9 < value);
    EXPECT_EQ(comm::TTEST(signal, value, WaitCmp::LE), 9 <= value);
  }
  comm::TWAIT(signal, 9, WaitCmp::EQ);
}

TEST(Signals, ManyAtOnce) {
  const TestCore core;
  int32_t words[12] = {};
  comm::Signal2D<3, 2> signals(words, 4);
  comm::TNOTIFY(signals, 2, comm::NotifyOp::Set);
  EXPECT_EQ(std::vector<int32_t>(words, words + 12), (std::vector<int32_t>{2, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0}));
  EXPECT_TRUE(comm::TTEST(signals, 2, comm::WaitCmp::GE));
  comm::TWAIT(signals, 2, comm::WaitCmp::GE);
  words[9] = 1;
  EXPECT_FALSE(comm::TTEST(signals, 2, comm::WaitCmp::GE));
  EXPECT_THROW(comm::TWAIT(signals, 2, comm::WaitCmp::GE), KernelFailure);
  comm::Signal2D<1, 4> packed(words);
  EXPECT_EQ(packed.GetStride(3), 4);
}

TEST(Signals, WaitBlocksUntilAllOfThemHold) {
  SignalBoard board;
  int32_t words[2] = {};
  std::thread other([&] {
    const TestCore core(&board);
    for (int i = 0; i < 2; ++i) {
      comm::Signal signal(words + i);
      comm::TNOTIFY(signal, 1, comm::NotifyOp::AtomicAdd);
    }
  });
  const TestCore core(&board);
  comm::Signal2D<1, 2> both(words);
  comm::TWAIT(both, 1, comm::WaitCmp::GE);
  EXPECT_EQ(words[0] + words[1], 2);
  other.join();
}

TEST(Remote, AddressesOfPeers) {
  const TestCore core;
  float windows[3][16] = {};
  CommContext context = {};
  context.rankId = 1;
  context.rankNum = 3;
  context.winSize = sizeof windows[0];
  for (int i = 0; i < 3; ++i) context.windowsIn[i] = reinterpret_cast<std::uintptr_t>(windows[i]);
  EXPECT_EQ(comm::CommRemotePtr(&context, windows[1] + 5, 2), windows[2] + 5);
  EXPECT_EQ(comm::CommRemotePtr(&context, windows[1] + 5, 1), windows[1] + 5);
  EXPECT_THROW(comm::CommRemotePtr(&context, windows[1], 3), KernelFailure);
  EXPECT_THROW(comm::CommRemotePtr(&context, windows[1], -1), KernelFailure);
  EXPECT_THROW(comm::CommRemotePtr(&context, windows[2], 0), KernelFailure);
}

template <typename TileData, typename Dst, typename Src>
void expect_put(TileData tile, Dst dst, Src src) {
  const TestCore core;
  TASSIGN(tile, 0);
  Values values(3);
  std::vector<float> from(2000), to(2000, -1.0f);
  for (auto& value : from) value = values.next_moderate<float>();
  TASSIGN(src, from.data());
  TASSIGN(dst, to.data());
  std::vector<float> wanted = to;
  for (int64_t i0 = 0; i0 < src.GetShape(0); ++i0)
    for (int64_t i1 = 0; i1 < src.GetShape(1); ++i1)
      for (int64_t i2 = 0; i2 < src.GetShape(2); ++i2)
        for (int64_t i3 = 0; i3 < src.GetShape(3); ++i3)
          for (int64_t i4 = 0; i4 < src.GetShape(4); ++i4) {
            const int64_t index[5] = {i0, i1, i2, i3, i4};
            int64_t s = 0, d = 0;
            for (int k = 0; k < 5; ++k) s += index[k] * src.GetStride(k), d += index[k] * dst.GetStride(k);
            wanted[static_cast<std::size_t>(d)] = from[static_cast<std::size_t>(s)];
          }
  comm::TPUT(dst, src, tile);
  EXPECT_EQ(to, wanted);
  std::fill(to.begin(), to.end(), -1.0f);
  comm::TGET(dst, src, tile);
  EXPECT_EQ(to, wanted);
  TileData pong = tile;
  TASSIGN(pong, 0x8000);
  std::fill(to.begin(), to.end(), -1.0f);
  comm::TPUT(dst, src, tile, pong);
  EXPECT_EQ(to, wanted);
  std::fill(to.begin(), to.end(), -1.0f);
  comm::TGET(dst, src, tile, pong);
  EXPECT_EQ(to, wanted);
}

TEST(Put, CutsWhatIsLargerThanTheTile) {
  using Any = GlobalTensor<float, Shape<>, Stride<>>;
  using Fixed = Tile<TileType::Vec, float, 4, 8>;
  const auto tensor = [](Shape<> shape, Stride<> stride) { return Any(nullptr, shape, stride); };
  expect_put(Fixed(), tensor({1, 1, 1, 4, 8}, {1, 1, 1, 10, 1}), tensor({1, 1, 1, 4, 8}, {1, 1, 1, 9, 1}));
  expect_put(Fixed(), tensor({1, 1, 1, 1, 1}, {1, 1, 1, 30, 1}), tensor({1, 1, 1, 8, 24}, {1, 1, 1, 24, 1}));
  expect_put(Fixed(), tensor({}, {700, 300, 100, 20, 1}), tensor({2, 2, 2, 4, 16}, {600, 280, 90, 17, 1}));
  expect_put(Fixed(), tensor({}, {1, 1, 100, 20, 1}), tensor({1, 1, 2, 2, 8}, {1, 1, 90, 17, 1}));  // fits as a whole
  expect_put(VecTile<float, 4, 8>(4, 8), tensor({}, {1, 1, 300, 20, 1}), tensor({1, 1, 2, 7, 19}, {1, 1, 290, 19, 1}));
  expect_put(VecTile<float, 4, 8>(3, 5), tensor({}, {1, 1, 1, 1, 1}), tensor({1, 1, 1, 1, 3}, {1, 1, 1, 1, 1}));
  // One run of elements on both sides, or on one.
  expect_put(Fixed(), tensor({}, {384, 384, 192, 24, 1}), tensor({1, 2, 2, 8, 24}, {768, 384, 192, 24, 1}));
  expect_put(Fixed(), tensor({}, {400, 400, 200, 25, 1}), tensor({1, 2, 2, 8, 24}, {768, 384, 192, 24, 1}));
  using DnTensor = GlobalTensor<float, Shape<>, Stride<>, Layout::DN>;
  using Columns = Tile<TileType::Vec, float, 8, 4, BLayout::ColMajor>;
  expect_put(Columns(), DnTensor(nullptr, {}, {1, 1, 1, 1, 40}),
             DnTensor(nullptr, {1, 1, 1, 16, 12}, {1, 1, 1, 1, 20}));
  expect_put(Columns(), DnTensor(nullptr, {}, {1, 1, 1, 1, 16}),
             DnTensor(nullptr, {1, 1, 1, 16, 12}, {1, 1, 1, 1, 16}));
}

TEST(Put, LeavesNothingInTheTileThatAKernelMayUse) {
  const TestCore core;
  float from[32], to[32];
  std::fill_n(from, 32, 1.0F);
  GlobalTensor<float, Shape<1, 1, 1, 4, 8>, Stride<1, 1, 1, 8, 1>> src(from), dst(to);
  Tile<TileType::Vec, float, 4, 8> tile;
  TASSIGN(tile, 0);
  TEXPANDS(tile, 2.0F);
  comm::TPUT(dst, src, tile);
  EXPECT_EQ(to[31], 1.0F);
  EXPECT_NE(tile.data()[0], 1.0F);
  EXPECT_NE(tile.data()[0], 2.0F);
}

TEST(Put, MovesALineToWhereItOverlaps) {
  const TestCore core;
  float values[16];
  for (int i = 0; i < 16; ++i) values[i] = static_cast<float>(i);
  GlobalTensor<float, Shape<1, 1, 1, 1, 8>, Stride<1, 1, 1, 1, 1>> src(values), dst(values + 3);
  Tile<TileType::Vec, float, 1, 8> tile;
  TASSIGN(tile, 0);
  comm::TPUT(dst, src, tile);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(values[3 + i], static_cast<float>(i));
}

TEST(Put, StaticSizesMustDivide) {
  const TestCore core;
  float from[64], to[64];
  GlobalTensor<float, Shape<1, 1, 1, 4, 9>, Stride<1, 1, 1, 9, 1>> src(from), dst(to);
  Tile<TileType::Vec, float, 4, 8> tile;
  TASSIGN(tile, 0);
  EXPECT_THROW(comm::TPUT(dst, src, tile), KernelFailure);
  Tile<TileType::Vec, float, 3, 16, BLayout::RowMajor, 3, 9> rows;
  TASSIGN(rows, 0);
  EXPECT_THROW(comm::TPUT(dst, src, rows), KernelFailure);
}

TEST(Put, AddsAtomically) {
  std::vector<int32_t> sums(64, 1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&sums] {
      const TestCore core;
      std::vector<int32_t> ones(64, 1);
      GlobalTensor<int32_t, Shape<1, 1, 1, 2, 32>, Stride<1, 1, 1, 32, 1>> src(ones.data()), dst(sums.data());
      Tile<TileType::Vec, int32_t, 1, 32> tile;
      TASSIGN(tile, 0);
      for (int k = 0; k < 20; ++k) {
        comm::TPUT<AtomicType::AtomicAdd>(dst, src, tile);
        comm::TPUT(dst, src, tile, AtomicType::AtomicAdd);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const int32_t sum : sums) EXPECT_EQ(sum, 161);
}

TEST(Put, RunsOnBothPipesOfMemory) {
  TestCore core;
  core.watch();
  float from[32] = {}, to[32];
  GlobalTensor<float, Shape<1, 1, 1, 4, 8>, Stride<1, 1, 1, 8, 1>> src(from), dst(to);
  Tile<TileType::Vec, float, 4, 8> tile;
  TASSIGN(tile, 0);
  comm::TPUT(dst, src, tile);
  ASSERT_EQ(core.issued().size(), 1u);
  EXPECT_EQ(core.issued()[0].pipes, (1u << PIPE_MTE2) | (1u << PIPE_MTE3));
  EXPECT_EQ(core.issued()[0].tiles[0].access, BATON_READS | BATON_WRITES);
  ASSERT_EQ(core.issued()[0].globals.size(), 2u);
  EXPECT_EQ(core.issued()[0].globals[0].access, BATON_READS);
  EXPECT_EQ(core.issued()[0].globals[1].access, BATON_WRITES);
}

class Async : public ::testing::Test {
 protected:
  Async() { TASSIGN(scratch, 0); }

  using Line = GlobalTensor<float, Shape<1, 1, 1, 1, 16>, Stride<16, 16, 16, 16, 1>>;
  TestCore core;
  Tile<TileType::Vec, uint8_t, 1, 256> scratch;
  uint8_t workspace[64] = {};
  float from[16] = {1, 2, 3};
  float to[16] = {};
  Line src{from};
  Line dst{to};
  comm::AsyncSession session;
};

TEST_F(Async, SessionsNeedAWorkspace) {
  session = {};
  EXPECT_FALSE(session.valid);
  EXPECT_FALSE(comm::BuildAsyncSession(scratch, nullptr, session));
  EXPECT_FALSE(comm::BuildAsyncSession(scratch, workspace, session, 8));
  EXPECT_FALSE(session.valid);
  EXPECT_FALSE(comm::BuildAsyncSession<comm::DmaEngine::RDMA>(scratch, workspace, session));
  const comm::sdma::SdmaBaseConfig config{comm::sdma::kDefaultSdmaBlockBytes, 0, 1};
  EXPECT_TRUE(comm::BuildAsyncSession(scratch, workspace, session, 0, config, 3));
  session = {};
  EXPECT_TRUE(comm::BuildAsyncSession(scratch, workspace, session, 7));
  EXPECT_TRUE(session.valid);
  EXPECT_EQ(session.engine, comm::DmaEngine::SDMA);
}

TEST_F(Async, CopiesHappenLater) {
  ASSERT_TRUE(comm::BuildAsyncSession(scratch, workspace, session));
  const comm::AsyncEvent put = comm::TPUT_ASYNC(dst, src, session);
  EXPECT_TRUE(put.valid());
  EXPECT_EQ(to[0], 0.0f);
  EXPECT_THROW(core.finish(), KernelFailure);
  EXPECT_TRUE(put.Wait(session));
  EXPECT_EQ(to[2], 3.0f);
  EXPECT_EQ(*reinterpret_cast<const uint64_t*>(put.handle), 1u);
  to[2] = 0;
  const comm::AsyncEvent get = comm::TGET_ASYNC(dst, src, session);
  EXPECT_FALSE(get.Test(session));
  EXPECT_TRUE(get.Test(session));
  EXPECT_EQ(to[2], 3.0f);
  core.finish();
  EXPECT_FALSE(comm::AsyncEvent().valid());
  EXPECT_FALSE(comm::AsyncEvent().Wait(session));
}

TEST_F(Async, AnAttachedSignalFollowsTheBytes) {
  ASSERT_TRUE(comm::BuildAsyncSession(scratch, workspace, session));
  int32_t word = 0;
  comm::Signal signal(&word);
  const comm::AsyncEvent put = comm::TPUT_ASYNC(dst, src, session, signal, 3, comm::NotifyOp::AtomicAdd);
  EXPECT_EQ(word, 0);
  EXPECT_TRUE(put.Wait(session));
  EXPECT_EQ(word, 3);
  EXPECT_EQ(to[0], 1.0f);
}

TEST_F(Async, OnlyLinesOnBuiltSessions) {
  EXPECT_THROW(comm::TPUT_ASYNC(dst, src, session), KernelFailure);
  ASSERT_TRUE(comm::BuildAsyncSession(scratch, workspace, session));
  GlobalTensor<float, Shape<1, 1, 1, 2, 8>, Stride<1, 1, 1, 8, 1>> rows(to);
  EXPECT_THROW(comm::TPUT_ASYNC(rows, src, session), KernelFailure);
  GlobalTensor<float, Shape<1, 1, 1, 1, 8>, Stride<1, 1, 1, 1, 2>> strided(to);
  EXPECT_THROW(comm::TPUT_ASYNC(strided, strided, session), KernelFailure);
  GlobalTensor<float, Shape<1, 1, 1, 1, 8>, Stride<1, 1, 1, 1, 1>> shorter(to);
  EXPECT_THROW(comm::TPUT_ASYNC(shorter, src, session), KernelFailure);
  EXPECT_THROW(comm::TPUT_ASYNC<comm::DmaEngine::RDMA>(dst, src, session), KernelFailure);
  EXPECT_EQ(core.open_copies(), 0u);
}

TEST_F(Async, SixtyFourMayBeOpen) {
  ASSERT_TRUE(comm::BuildAsyncSession(scratch, workspace, session));
  comm::AsyncEvent last;
  for (int i = 0; i < 64; ++i) last = comm::TPUT_ASYNC(dst, src, session);
  EXPECT_THROW(comm::TPUT_ASYNC(dst, src, session), KernelFailure);
  EXPECT_TRUE(last.Wait(session));
  EXPECT_EQ(core.open_copies(), 0u) << "completion implies all earlier ones";
  core.finish();
}

}  // namespace
