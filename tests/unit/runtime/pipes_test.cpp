// Pipes between the cube core of a cluster and its vector cores. A program of its own: strict about the order of pipes,
// and it waits for less long than others.
#include <chrono>
#include <cstdlib>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <baton/chip.hpp>

#include "pipe_kernels.hpp"
#include "support/require.hpp"

namespace {

using namespace pipe_kernels;
using Both = TPipe<0, Direction::DIR_BOTH, kChunkBytes, 2, 2, false>;
using Down = TPipe<1, Direction::DIR_C2V, kChunkBytes, 2, 2, true>;

}  // namespace

// x, unit matrix, ring, out; count. There and back: out = 2 x + the number of the vector core.
extern "C" void pipes_test_cube(int64_t* args) {
  Product product(floats(args[1]));
  Both pipe(floats(args[2]), 0x0, 0x40000);
  MatOf16 back;
  for (int64_t n = 0; n < args[4]; ++n) {
    product.load(floats(args[0]) + n * 16 * 64);
    TPUSH<Both, Acc, kUpDown>(pipe, product.acc);
    TPOP<Both, MatOf16, kWhole>(pipe, back);
    EXPECT_EQ(pipe.cons.getTileId(), n + 1);
    product.take(back);
    Chunk out(floats(args[3]) + n * 16 * 64);
    TSTORE(out, product.acc);
    pipe_barrier(PIPE_ALL);
  }
}
extern "C" void pipes_test_vector(int64_t* args) {
  Both pipe(floats(args[2]), 0x0, 0x40000);
  VecHalf tile;
  for (int64_t n = 0; n < args[4]; ++n) {
    TPOP<Both, VecHalf, kUpDown>(pipe, tile);
    pipe_barrier(PIPE_ALL);
    TMULS(tile, tile, 2.0f);
    TADDS(tile, tile, static_cast<float>(get_sub_block_id(args)));
    pipe_barrier(PIPE_ALL);
    TPUSH<Both, VecHalf, kUpDown>(pipe, tile);
    TFREE<Both, kUpDown>(pipe);
    pipe_barrier(PIPE_ALL);
  }
}

// One way; args[5] says how the vector cores take part.
enum Way : int64_t { whole, sides, shifted, local, as_tensor, wrong_cols, pops_less, never_pops, fails };

extern "C" void pipes_test_push(int64_t* args) {
  Product product(floats(args[1]));
  const bool is_local = args[5] == Way::local;
  Down pipe(is_local ? nullptr : floats(args[2]), 0x8000, 0x0);
  for (int64_t n = 0; n < args[4]; ++n) {
    product.load(floats(args[0]) + n * 16 * 64);
    if (args[5] == Way::as_tensor) {
      Chunk slot;
      TALLOC<Down, Chunk, kWhole>(pipe, slot);
      TSTORE(slot, product.acc);
      pipe_barrier(PIPE_ALL);
      TPUSH<Down, Chunk, kWhole>(pipe, slot);
    } else if (args[5] == Way::sides) {
      TPUSH<Down, Acc, kLeftRight>(pipe, product.acc);
    } else if (is_local || args[5] == Way::shifted) {
      TPUSH<Down, Acc, kUpDown>(pipe, product.acc);
    } else {
      TPUSH<Down, Acc, kWhole>(pipe, product.acc);
    }
  }
}

extern "C" void pipes_test_pop(int64_t* args) {
  const bool is_local = args[5] == Way::local;
  const int vector = get_sub_block_id(args);
  Down pipe(is_local ? nullptr : floats(args[2]), 0x8000, 0x0);
  const int64_t count = args[5] == Way::pops_less && vector == 1 ? 1 : args[4];
  if (args[5] == Way::never_pops) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    while (std::chrono::steady_clock::now() < until) dcci(args, SINGLE_CACHE_LINE);
    return;
  }
  for (int64_t n = 0; n < count; ++n) {
    float* to = floats(args[3]) + n * 16 * 64;
    if (args[5] == Way::fails && n == 1 && vector == 0) set_vector_mask(0, 0);
    if (args[5] == Way::wrong_cols) {
      Tile<TileType::Vec, float, 16, 32> narrow;
      TPOP<Down, decltype(narrow), kWhole>(pipe, narrow);
    } else if (args[5] == Way::sides) {
      VecSide tile;
      TPOP<Down, VecSide, kLeftRight>(pipe, tile);
      GlobalTensor<float, Shape<1, 1, 1, 16, 32>, Stride<1, 1, 1, 64, 1>> out(to + vector * 32);
      pipe_barrier(PIPE_ALL);
      TSTORE(out, tile);
    } else if (args[5] == Way::shifted || is_local) {
      VecHalf tile;
      if (!is_local) pipe.cons.setEntryOffset((1 - vector) * 8 * 64 * 4);  // each takes the other's rows
      TPOP<Down, VecHalf, kUpDown>(pipe, tile);
      GlobalTensor<float, Shape<1, 1, 1, 8, 64>, Stride<1, 1, 1, 64, 1>> out(to +
                                                                             (is_local ? vector : 1 - vector) * 8 * 64);
      pipe_barrier(PIPE_ALL);
      TSTORE(out, tile);
      pipe_barrier(PIPE_ALL);
      TFREE<Down, kUpDown>(pipe);
    } else if (args[5] == Way::as_tensor) {
      Chunk slot;
      TPOP<Down, Chunk, kWhole>(pipe, slot);
      Tile<TileType::Vec, float, 16, 64> tile;
      TASSIGN(tile, 0);
      TLOAD(tile, slot);
      pipe_barrier(PIPE_ALL);
      Chunk out(to);
      if (vector == 0) TSTORE(out, tile);
      pipe_barrier(PIPE_ALL);
      TFREE<Down, Chunk, kWhole>(pipe, slot);
    } else {
      VecOpen tile(vector == 0 ? 16 : 0, vector == 0 ? 64 : 0);
      TPOP<Down, VecOpen, kWhole>(pipe, tile);
      Chunk out(to);
      pipe_barrier(PIPE_ALL);
      if (vector == 0) TSTORE(out, tile);
    }
    pipe_barrier(PIPE_ALL);
  }
}

namespace baton::test {
namespace {

// Before anybody asks for the options.
const int kShortPatience = ::setenv("BATON_WAIT_TIMEOUT", "300ms", 1);
const int kStrict = ::setenv("BATON_PIPES", "strict", 1);

constexpr Kernel kCube = {"there_and_back", pipes_test_cube, nullptr, BATON_CORE_CUBE, 0};
constexpr Kernel kVector = {"double", pipes_test_vector, nullptr, BATON_CORE_VECTOR, 0};
constexpr Kernel kPush = {"push", pipes_test_push, nullptr, BATON_CORE_CUBE, 0};
constexpr Kernel kPop = {"pop", pipes_test_pop, nullptr, BATON_CORE_VECTOR, 0};

class Pipes : public ::testing::Test {
 protected:
  static constexpr int kChunks = 7;  // more than slots

  Pipes() : Pipes(std::nullopt) {}
  explicit Pipes(std::optional<std::uint64_t> seed) : chip({.clusters = 2, .seed = seed}) {
    std::vector<float> unit(64 * 64);
    for (std::size_t i = 0; i < 64; ++i) unit[i * 65] = 1.0F;
    chip.copy_in<float>(units, unit);
    in.resize(kChunks * 16 * 64);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 1000);
    chip.copy_in<float>(x, in);
  }

  std::vector<float> run(const Kernel& cube, const Kernel& vector, int chunks, Way way) {
    chip.run([&](Graph& g) {
      g.submit(ClusterTask{.cube = &cube, .vector = {&vector, &vector}}, {{Access::in, x},
                                                                          {Access::in, units},
                                                                          {Access::inout, ring},
                                                                          {Access::out, y},
                                                                          chunks,
                                                                          static_cast<std::int64_t>(way)});
    });
    std::vector<float> out(in.size());
    chip.copy_out<float>(y, out);
    return out;
  }
  void expect_passed_on(Way way) {
    const std::vector<float> out = run(kPush, kPop, kChunks, way);
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], in[i]) << i;
  }

  Chip chip;
  std::vector<float> in;
  Tensor x = chip.alloc<float>({kChunks * 16 * 64}, "x");
  Tensor units = chip.alloc<float>({64 * 64}, "units");
  Tensor ring = chip.alloc<float>({4 * 16 * 64}, "ring");
  Tensor y = chip.alloc<float>({kChunks * 16 * 64}, "y");
};

TEST_F(Pipes, ThereAndBack) {
  ASSERT_EQ(kShortPatience + kStrict, 0);
  for (int round = 0; round < 3; ++round) {
    const std::vector<float> out = run(kCube, kVector, kChunks, Way::whole);
    for (std::size_t i = 0; i < in.size(); ++i) {
      ASSERT_EQ(out[i], 2 * in[i] + static_cast<float>(i / 64 % 16 >= 8 ? 1 : 0)) << i;
    }
  }
}

TEST_F(Pipes, ASecondVectorCoreWithEmptyTiles) { expect_passed_on(Way::whole); }
TEST_F(Pipes, HalvesOfColumns) { expect_passed_on(Way::sides); }
TEST_F(Pipes, AnOffsetInsteadOfTheShift) { expect_passed_on(Way::shifted); }
TEST_F(Pipes, SlotsInTheVectorCoresOwnBuffers) { expect_passed_on(Way::local); }
TEST_F(Pipes, SlotsAsTensors) { expect_passed_on(Way::as_tensor); }

TEST_F(Pipes, UnequalColumnsAreRefused) {
  require_error(Code::invalid_argument, {"TPOP", "pushed with rows of 64 float", "popped with rows of 32 float"},
                [&] { run(kPush, kPop, 1, Way::wrong_cols); });
}

TEST_F(Pipes, WhatIsNeverPoppedIsAnError) {
  require_error(Code::left_open, {"has pushed 2 slots of pipe 1", "vector core 1 ('pop') has popped 1"},
                [&] { run(kPush, kPop, 2, Way::pops_less); });
}

TEST_F(Pipes, APeerThatReturnedPopsNoMore) {
  require_error(Code::invalid_argument, {"TPUSH", "vector core 1 ('pop') has returned and pops slot"},
                [&] { run(kPush, kPop, 4, Way::pops_less); });
}

TEST_F(Pipes, APeerThatFailedIsNamed) {
  require_error(Code::unsupported, {"set_vector_mask"}, [&] { run(kPush, kPop, kChunks, Way::fails); });
  expect_passed_on(Way::whole);  // nothing is left over
}

TEST_F(Pipes, AWaitEndsAtItsDeadline) {
  require_error(Code::wait_timeout, {"TPUSH", "has waited 300 ms for vector core", "to pop slot 0 of pipe 1"},
                [&] { run(kPush, kPop, kChunks, Way::never_pops); });
}

TEST_F(Pipes, AKernelAloneHasNoPeers) {
  require_error(Code::invalid_argument, {"TPUSH", "runs alone"}, [&] {
    chip.run([&](Graph& g) {
      g.submit(kPush, {{Access::in, x}, {Access::in, units}, {Access::inout, ring}, {Access::out, y}, 1, 0});
    });
  });
}

TEST_F(Pipes, ATaskWithoutTheOtherSide) {
  require_error(Code::invalid_argument, {"no kernel on the other side"}, [&] {
    chip.run([&](Graph& g) {
      g.submit(ClusterTask{.cube = &kPush, .vector = {}},
               {{Access::in, x}, {Access::in, units}, {Access::inout, ring}, {Access::out, y}, 1, 0});
    });
  });
}

class SeededPipes : public Pipes, public ::testing::WithParamInterface<std::uint64_t> {
 protected:
  SeededPipes() : Pipes(GetParam()) {}
};
TEST_P(SeededPipes, GiveTheSameNumbers) {
  const std::vector<float> out = run(kCube, kVector, kChunks, Way::whole);
  for (std::size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(out[i], 2 * in[i] + static_cast<float>(i / 64 % 16 >= 8 ? 1 : 0)) << i;
  }
  expect_passed_on(Way::local);
}
INSTANTIATE_TEST_SUITE_P(Seeds, SeededPipes, ::testing::Range<std::uint64_t>(1, 5));

}  // namespace
}  // namespace baton::test
