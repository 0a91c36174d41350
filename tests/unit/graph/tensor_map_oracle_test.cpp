// TensorMap against the oracle that marks every byte.
#include <gtest/gtest.h>

#include "program_oracle.hpp"
#include "support/scale.hpp"

namespace baton::graph {
namespace {

using test::pick;
using test::Random;

Use random_access(Random& random) {
  switch (pick(random, 0, 3)) {
    case 0: return Use::write;
    case 1: return Use::read_write;
    default: return Use::read;
  }
}

struct Totals {
  std::uint64_t missing = 0;
  std::uint64_t unjustified = 0;
  std::uint64_t found = 0;
};

/// Runs `programs` programs of which `make(random)` gives the generator of tensors.
template <class Make>
Totals run_programs(std::uint64_t first_seed, int programs, int tasks, Make&& make) {
  Totals totals;
  for (std::uint64_t seed = first_seed; seed < first_seed + static_cast<std::uint64_t>(programs); ++seed) {
    Random random(seed);
    TensorMap map;
    test::ProgramOracle oracle(map);
    auto next_tensor = make(random, map, oracle);
    for (int task = 0; task < tasks; ++task) {
      oracle.begin_task();
      for (std::int64_t accesses = pick(random, 1, 3); accesses > 0; --accesses) {
        oracle.access(next_tensor(), random_access(random));
      }
      if (pick(random, 0, 3) == 0) oracle.complete_some(random);
      if (oracle.missing() > 0) {
        ADD_FAILURE() << "seed " << seed << ", task " << oracle.task() << ": " << oracle.missing() << " edges missing";
        return totals;
      }
    }
    totals.missing += oracle.missing();
    totals.unjustified += oracle.unjustified();
    totals.found += oracle.found();
  }
  return totals;
}

void expect_exact(const Totals& totals) {
  EXPECT_EQ(totals.missing, 0U);
  EXPECT_GT(totals.found, 0U);
  EXPECT_LE(totals.unjustified * 1000, totals.found) << totals.unjustified << " of " << totals.found;
}

TEST(TensorMapOracle, ViewsOfViewsInOneBuffer) {
  expect_exact(run_programs(1000, test::scaled(2000), 40, [](Random& random, TensorMap&, test::ProgramOracle&) {
    const Buffer buffer{.address = 40, .bytes = static_cast<std::uint64_t>(pick(random, 16, 500))};
    return [&random, buffer] { return test::random_tensor(random, buffer); };
  }));
}

TEST(TensorMapOracle, ViewsThatComeAgain) {
  expect_exact(run_programs(2000, test::scaled(2000), 100, [](Random& random, TensorMap&, test::ProgramOracle&) {
    const Buffer buffer{.address = 40, .bytes = 400};
    std::vector<Tensor> few;
    for (int i = 0; i < 12; ++i) few.push_back(test::random_tensor(random, buffer));
    return [&random, few] { return few[static_cast<std::size_t>(pick(random, 0, 11))]; };
  }));
}

TEST(TensorMapOracle, TilesOfAMatrix) {
  expect_exact(run_programs(3000, test::scaled(1000), 120, [](Random& random, TensorMap&, test::ProgramOracle&) {
    const Buffer buffer{.address = 40, .bytes = 4096};
    const std::int64_t pitch = pick(random, 0, 1) == 0 ? 64 : pick(random, 40, 80);
    const Tensor matrix = test::matrix_over(buffer, pitch);
    return [&random, matrix, buffer] {
      return pick(random, 0, 19) == 0 ? test::random_tensor(random, buffer) : test::random_tile(random, matrix);
    };
  }));
}

TEST(TensorMapOracle, TilesOfACube) {
  expect_exact(run_programs(4000, test::scaled(500), 120, [](Random& random, TensorMap&, test::ProgramOracle&) {
    const Buffer buffer{.address = 40 + static_cast<std::uint64_t>(pick(random, 0, 1000)), .bytes = 4096};
    const Tensor cube(buffer, DType::uint8, {16, 16, 16});
    const std::int64_t side = pick(random, 1, 5);
    return [&random, cube, side] {
      Tensor tile = cube;
      for (int dim = 0; dim < 3; ++dim) {
        const std::int64_t begin = pick(random, 0, 15);
        tile = tile.slice_dim(dim, begin, std::min<std::int64_t>(begin + side, 16));
      }
      return tile;
    };
  }));
}

TEST(TensorMapOracle, SlicesOfALine) {
  expect_exact(run_programs(5000, test::scaled(1000), 120, [](Random& random, TensorMap&, test::ProgramOracle&) {
    const Buffer buffer{.address = 100, .bytes = 3000};
    const Tensor line(buffer, DType::uint8, {3000});
    return [&random, line] {
      const std::int64_t length = std::int64_t{1} << pick(random, 0, 8);
      const std::int64_t begin = pick(random, 0, 3000 - length);
      return line.slice(begin, begin + length);
    };
  }));
}

TEST(TensorMapOracle, BuffersThatOverlapEachOther) {
  expect_exact(run_programs(6000, test::scaled(1500), 80, [](Random& random, TensorMap&, test::ProgramOracle&) {
    std::vector<Buffer> buffers;
    for (int i = 0; i < 8; ++i) {
      buffers.push_back({.address = static_cast<std::uint64_t>(pick(random, 1000, 2000)),
                         .bytes = static_cast<std::uint64_t>(pick(random, 8, 300)),
                         .space = pick(random, 0, 3) == 0 ? static_cast<MemorySpace>(1) : MemorySpace::host});
    }
    return [&random, buffers] {
      return test::random_tensor(random, buffers[static_cast<std::size_t>(pick(random, 0, 7))]);
    };
  }));
}

TEST(TensorMapOracle, RegisteredMemoryThatComesAndGoes) {
  expect_exact(
      run_programs(7000, test::scaled(1000), 100, [](Random& random, TensorMap& map, test::ProgramOracle& oracle) {
        const Buffer memory{.address = 1000, .bytes = 300};
        const Buffer wider{.address = 900, .bytes = 600};
        AllocationId id = map.add_allocation(memory, "memory");
        return [&random, &map, &oracle, memory, wider, id]() mutable {
          if (pick(random, 0, 19) == 0) {
            map.invalidate(id);
            id = map.add_allocation(memory, "memory");
            oracle.forget_memory(memory);
          }
          return test::random_tensor(random, pick(random, 0, 3) == 0 ? wider : memory);
        };
      }));
}

}  // namespace
}  // namespace baton::graph
