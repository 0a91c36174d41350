// Two pipes of one direction each: plain, and named _GM, whose slots on the consumer's side are half a slot of global
// memory apart. On both generations.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <baton/chip.hpp>

#include "pipe_kernels.hpp"

namespace {

using namespace pipe_kernels;
constexpr uint32_t kToVectorsAt = 0x4000;
constexpr uint32_t kToCubeAt = 0x40000;

struct Plain {
  using ToVectors = TPipe<0, Direction::DIR_C2V, kChunkBytes, 4, 2>;
  using ToCube = TPipe<1, Direction::DIR_V2C, kChunkBytes, 2, 2>;
  static constexpr int64_t kApart = kChunkBytes;
};
struct InGlobalMemory {
  using ToVectors = TPipe<0, Direction::DIR_C2V_GM, kChunkBytes, 4, 2>;
  using ToCube = TPipe<1, Direction::DIR_V2C_GM, kChunkBytes, 2, 2>;
  static constexpr int64_t kApart = kChunkBytes / 2;
};

/// Bytes from the first slot of this core to the one that the tile got.
template <typename TileData>
int64_t bytes_behind(const TileData& tile, const TileData& first) {
  return (tile.data() - first.data()) * int64_t{sizeof(typename TileData::DType)};
}

// x, unit matrix, two rings, out; count. out = 2 x + the number of the vector core.
template <typename Pipes>
void cube_part(int64_t* args) {
  using ToVectors = typename Pipes::ToVectors;
  using ToCube = typename Pipes::ToCube;
  Product product(floats(args[1]));
  ToVectors there(floats(args[2]), kToVectorsAt, kToCubeAt);
  ToCube back(floats(args[3]), kToVectorsAt, kToCubeAt);
  MatOf16 tile, first;
  TASSIGN(first, kToCubeAt);
  for (int64_t n = 0; n < args[5]; ++n) {
    product.load(floats(args[0]) + n * 16 * 64);
    TPUSH<ToVectors, Acc, kUpDown>(there, product.acc);
    TPOP<ToCube, MatOf16, kWhole>(back, tile);
    EXPECT_EQ(bytes_behind(tile, first), n % 2 * Pipes::kApart);
    product.take(tile);
    Chunk out(floats(args[4]) + n * 16 * 64);
    TSTORE(out, product.acc);
    pipe_barrier(PIPE_ALL);
  }
}

template <typename Pipes>
void vector_part(int64_t* args) {
  using ToVectors = typename Pipes::ToVectors;
  using ToCube = typename Pipes::ToCube;
  ToVectors there(floats(args[2]), kToVectorsAt, kToCubeAt);
  ToCube back(floats(args[3]), kToVectorsAt, kToCubeAt);
  VecHalf tile, first;
  TASSIGN(first, kToVectorsAt);
  for (int64_t n = 0; n < args[5]; ++n) {
    TPOP<ToVectors, VecHalf, kUpDown>(there, tile);
    EXPECT_EQ(bytes_behind(tile, first), n % 2 * Pipes::kApart);
    pipe_barrier(PIPE_ALL);
    TMULS(tile, tile, 2.0f);
    TADDS(tile, tile, static_cast<float>(get_sub_block_id(args)));
    pipe_barrier(PIPE_ALL);
    TPUSH<ToCube, VecHalf, kUpDown>(back, tile);
    TFREE<ToVectors, kUpDown>(there);
    pipe_barrier(PIPE_ALL);
  }
}

}  // namespace

namespace baton::test {
namespace {

class OneWayPipes : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(On, OneWayPipes, ::testing::Values("a2a3sim", "a5sim"),
                         [](const auto& platform) { return std::string(platform.param); });

template <typename Pipes>
void expect_there_and_back(const char* platform) {
  constexpr Kernel kCube = {"there_and_back", cube_part<Pipes>, nullptr, BATON_CORE_CUBE, 0};
  constexpr Kernel kVector = {"double", vector_part<Pipes>, nullptr, BATON_CORE_VECTOR, 0};
  constexpr std::int64_t kChunks = 9;  // more than slots
  Chip chip({.platform = platform, .clusters = 1});
  const Tensor x = chip.alloc<float>({kChunks * 16 * 64}, "x");
  const Tensor units = chip.alloc<float>({64 * 64}, "units");
  const Tensor there = chip.alloc<float>({4 * 16 * 64}, "there");
  const Tensor back = chip.alloc<float>({2 * 16 * 64}, "back");
  const Tensor y = chip.alloc<float>({kChunks * 16 * 64}, "y");
  std::vector<float> unit(64 * 64), in(kChunks * 16 * 64), out(in.size());
  for (std::size_t i = 0; i < 64; ++i) unit[i * 65] = 1.0F;
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 1000);
  chip.copy_in<float>(units, unit);
  chip.copy_in<float>(x, in);
  chip.run([&](Graph& g) {
    g.submit(ClusterTask{.cube = &kCube, .vector = {&kVector, &kVector}}, {{Access::in, x},
                                                                           {Access::in, units},
                                                                           {Access::inout, there},
                                                                           {Access::inout, back},
                                                                           {Access::out, y},
                                                                           kChunks});
  });
  chip.copy_out<float>(y, std::span(out));
  for (std::size_t i = 0; i < in.size(); ++i) {
    ASSERT_EQ(out[i], 2 * in[i] + static_cast<float>(i / 64 % 16 >= 8 ? 1 : 0)) << i;
  }
}

TEST_P(OneWayPipes, ThereAndBack) { expect_there_and_back<Plain>(GetParam()); }
TEST_P(OneWayPipes, ThereAndBackInHalfSlots) { expect_there_and_back<InGlobalMemory>(GetParam()); }

}  // namespace
}  // namespace baton::test
