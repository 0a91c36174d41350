// Collectives inside kernels: every operation, algorithm and element, one after the other in the same room.
#include <gtest/gtest.h>

#include <mutex>
#include <random>

#include <baton/chip.hpp>
#include <baton/inproc.hpp>
#include <collectives/member.hpp>

#include "calling_rank.hpp"
#include "cases.hpp"
#include "chip_cases.hpp"
#include "chip_kernels.hpp"
#include "expect_clean.hpp"
#include "seeded.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

constexpr Element kCombined[] = {Element::float32, Element::float16, Element::bfloat16, Element::int16, Element::int32};

/// `calls` random calls in one room; all ranks draw alike.
void random_calls(Domain me, std::uint64_t seed, int calls, std::size_t most, ChipOptions options) {
  std::mt19937_64 random(seed);
  const auto ranks = static_cast<std::size_t>(me.size());
  // From a few elements for each rank to everything at once.
  const std::size_t rooms[] = {ranks * 64, ranks * 1000, ranks * most * 16};
  CallingRank rank(me, (most + 8) * 8 * ranks, rooms[seed % 3], options);
  for (int call = 0; call < calls; ++call) {
    const Case one = draw_chip_case(random, me.size(), most);
    const std::size_t wrong = rank.call(one, call);
    if (wrong != 0) throw CheckFailed(std::to_string(wrong) + " wrong: " + describe(one));
  }
}

TEST(KernelCollectives, OfAllKindsFollowEachOtherInOneRoomForEverySeed) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(12)); ++seed) {
    const int ranks = std::array{2, 3, 4, 5}[seed % 4];
    const std::string failure = run_seeded(ranks, seed, [&](Domain me) {
      random_calls(std::move(me), seed, 25, 1500, {.clusters = 1, .threads = 1, .seed = seed});
    });
    EXPECT_EQ(failure, "") << "seed " << seed;
  }
}

TEST(KernelCollectives, AreRightForEveryNumberOfRanks) {
  for (const int ranks : {1, 2, 3, 4, 6, 7, 8, 16}) {
    run_ranks(ranks, [&](Domain me) {
      random_calls(std::move(me), static_cast<std::uint64_t>(1000 + ranks), scaled(25), 2500,
                   {.clusters = 1, .threads = 1});
    });
  }
}

TEST(KernelCollectives, EachAlgorithmIsRightForEveryElementAndOperation) {
  for (const int ranks : {2, 5}) {
    run_ranks(ranks, [&](Domain me) {
      CallingRank rank(me, std::size_t{5000} * 8 * 5, 3000, {.clusters = 1, .threads = 1});
      int round = 0;
      for (const auto& [operation, algorithm] : chip_algorithms()) {
        for (const Element element : kCombined) {
          for (int op = 0; op < (reduces(operation) ? 5 : 1); ++op) {
            if (op == 4 && element >= Element::int8) continue;
            Case one{.operation = operation, .element = element, .op = static_cast<ReduceOp>(op)};
            one.memory = Memory::windows;
            one.algorithm = algorithm;
            one.root = ++round % me.size();
            one.count = round % 3 == 0 ? 4097 : 130;
            const std::size_t wrong = rank.call(one, round);
            if (wrong != 0) throw CheckFailed(std::to_string(wrong) + " wrong: " + describe(one));
          }
        }
      }
    });
  }
}

// The same function does it on both levels: an algorithm gives the same bits in kernels as between host programs.
TEST(KernelCollectives, GiveTheBitsOfTheHost) {
  for (const Algorithm algorithm : {Algorithm::one_phase, Algorithm::mesh, Algorithm::ring, Algorithm::interleaved_ring,
                                    Algorithm::recursive_halving, Algorithm::tree}) {
    run_ranks(5, [&](Domain me) {
      constexpr std::size_t kCount = 1000;
      auto x = me.window<float>("x", kCount);
      auto y = me.window<float>("y", kCount);
      const auto signal_count = static_cast<std::size_t>(collectives::signals_needed(me.size()));
      auto signals = me.window<std::int32_t>("signals", signal_count + kCount);
      std::mt19937 random(static_cast<unsigned>(me.rank()));
      for (float& element : x)
        element = std::ldexp(static_cast<float>(random() % 1000), static_cast<int>(random() % 40));
      Chip chip(me, {.clusters = 1, .threads = 1});
      chip.run([&](Graph& graph) {
        graph.submit(kCallCollective,
                     {Argument(Access::in, Tensor::over(std::span(x.data(), kCount))),
                      Argument(Access::out, Tensor::over(std::span(y.data(), kCount))),
                      Argument(Access::inout, Tensor::over(std::span(signals.data() + signal_count, kCount))),
                      Argument(Access::inout, Tensor::over(std::span(signals.data(), signal_count))),
                      Argument(Access::in, Tensor::over(std::span(signals.data(), 1))), signals.context(),
                      Operation::allreduce, Element::float32, ReduceOp::sum, 0, algorithm, kCount});
      });
      std::vector<float> host(x.begin(), x.end());
      allreduce(me, host, ReduceOp::sum, {.algorithm = algorithm});
      REQUIRE(std::memcmp(host.data(), y.data(), kCount * sizeof(float)) == 0);
    });
  }
}

/// Rounds of all_to_all_v with blocks of all sizes, in a room that is large enough for most of them, or none.
void uneven_rounds(Domain me, std::size_t room_bytes, const ChipOptions& options) {
  const auto signal_count = static_cast<std::size_t>(collectives::signals_needed(me.size()));
  auto window = me.raw_window("room", signal_count * 4 + room_bytes);
  std::byte* start = window.local();
  const Tensor signals = Tensor::over(std::span(reinterpret_cast<std::int32_t*>(start), signal_count));
  const Tensor room = Tensor::over(std::span(start + signal_count * 4, room_bytes));
  Chip chip(me, options);
  const Tensor counts = chip.alloc<std::int32_t>({2 * me.size()});
  for (int round = 0; round < 6; ++round) {
    std::vector<std::int32_t> x = uneven_input(me.rank(), me.size(), round);
    const std::vector<std::int32_t> expected = uneven_output(me.rank(), me.size(), round);
    x.push_back(0);  // a tensor has elements
    std::vector<std::int32_t> y(expected.size() + 1, -1);
    chip.copy_in<std::int32_t>(counts, uneven_counts(me.rank(), me.size(), round));
    const Tensor from = chip.alloc<std::int32_t>({static_cast<std::int64_t>(x.size())});
    const Tensor to = chip.alloc<std::int32_t>({static_cast<std::int64_t>(y.size())});
    chip.copy_in<std::int32_t>(from, x);
    chip.copy_in<std::int32_t>(to, y);
    chip.run([&](Graph& graph) {
      graph.submit(kCallCollective,
                   {Argument(Access::in, from), Argument(Access::inout, to), Argument(Access::inout, room),
                    Argument(Access::inout, signals), Argument(Access::in, counts), window.context(),
                    Operation::all_to_all_v, Element::int32, ReduceOp::sum, 0, Algorithm::automatic, 0});
    });
    chip.copy_out<std::int32_t>(to, y);
    REQUIRE(std::equal(expected.begin(), expected.end(), y.begin()) && y.back() == -1);
  }
  me.barrier();
}

TEST(KernelCollectives, OfUnevenBlocksAreRightForEverySeed) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(6)); ++seed) {
    expect_right_and_clean(static_cast<int>(1 + seed % 5), seed, [&](Domain me) {
      uneven_rounds(std::move(me), seed % 2 == 0 ? 200 : 8000, {.clusters = 1, .threads = 1, .seed = seed});
    });
  }
}

void pass_messages(Domain me, const ChipOptions& options) {
  constexpr std::size_t kCount = 1000;
  const auto signal_count = static_cast<std::size_t>(collectives::signals_needed(me.size()));
  auto data = me.window<float>("data", 3 * kCount);
  const auto part = [&](std::size_t first, std::size_t count) {
    return Tensor::over(std::span(data.data() + first, count));
  };
  auto window = me.window<std::int32_t>("room", signal_count + 300);
  const Tensor signals = Tensor::over(std::span(window.data(), signal_count));
  const Tensor room = Tensor::over(std::span(reinterpret_cast<float*>(window.data() + signal_count), 300));
  Chip chip(me, options);
  for (int round = 0; round < 5; ++round) {
    const auto value = [&](int rank, std::size_t i) {
      return static_cast<float>(rank * 5000 + round) + static_cast<float>(i);
    };
    for (std::size_t i = 0; i < kCount; ++i) data[i] = value(me.rank(), i);
    chip.run([&](Graph& graph) {
      graph.submit(pass_on, part(0, kCount), part(kCount, kCount), part(2 * kCount, kCount), room, signals,
                   window.context());
    });
    const int before = (me.rank() + me.size() - 1) % me.size();
    for (std::size_t i = 0; i < kCount; ++i) {
      REQUIRE(data[kCount + i] == value(before, i));
      REQUIRE(data[2 * kCount + i] == value(0, i));
    }
  }
}

TEST(KernelMessages, ArriveInOrderAndWholeForEverySeed) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(8)); ++seed) {
    expect_right_and_clean(static_cast<int>(2 + seed % 4), seed, [&](Domain me) {
      pass_messages(std::move(me), {.clusters = 1, .threads = 1, .seed = seed});
    });
  }
  run_ranks(4, [](Domain me) { pass_messages(std::move(me), {.clusters = 1, .threads = 1}); });
}

// A rank that fails ends the waits of the others.
TEST(KernelCollectives, SayWhatIsTooSmallAndThatARankFailed) {
  run_ranks(3, [](Domain me) {
    Chip chip(me, {.clusters = 1, .threads = 1});
    const auto needed = static_cast<std::size_t>(collectives::signals_needed(me.size()));
    // Rank 0 makes a call that cannot be done, the others one that could.
    const auto call = [&](std::size_t room_bytes, Algorithm algorithm, ReduceOp op, Element element, std::int64_t count,
                          std::ptrdiff_t distance) {
      auto window = me.window<std::int32_t>("window", needed + 64);
      const bool wrong = me.rank() == 0;
      const Tensor x = Tensor::over(std::span(window.data(), 1));
      const Tensor y = Tensor::over(std::span(window.data() + (wrong ? distance : 0), 1));
      const Tensor signals = Tensor::over(std::span(window.data(), needed));
      std::byte* rest = reinterpret_cast<std::byte*>(window.data() + needed);
      const Tensor room = Tensor::over(std::span(rest, wrong ? room_bytes : 64));
      chip.run([&](Graph& graph) {
        graph.submit(kCallCollective,
                     {Argument(Access::in, x), Argument(Access::no_dependency, y), Argument(Access::inout, room),
                      Argument(Access::inout, signals), Argument(Access::no_dependency, x), window.context(),
                      Operation::allreduce, element, wrong ? op : ReduceOp::sum, 0, wrong ? algorithm : Algorithm::mesh,
                      wrong ? count : 4});
      });
    };
    const auto refused = [&](std::string_view part, std::size_t room_bytes, Algorithm algorithm, ReduceOp op,
                             Element element, std::int64_t count = 4, std::ptrdiff_t distance = 0) {
      const auto make = [&] { call(room_bytes, algorithm, op, element, count, distance); };
      if (me.rank() == 0) {
        require_error(Code::invalid_argument, {part}, make);
      } else {
        require_error(Code::mismatch, {"rank 0 failed in this room"}, make);
      }
      me.barrier();
    };
    using enum Algorithm;
    refused("the room has 3 bytes", 3, mesh, ReduceOp::sum, Element::float32);
    refused("allreduce has no algorithm", 64, bruck, ReduceOp::sum, Element::float32);
    refused("no avg", 64, mesh, ReduceOp::avg, Element::int32);
    refused("there is no operation 77 on elements", 64, mesh, static_cast<ReduceOp>(77), Element::float32);
    refused("overlap by a part", 64, mesh, ReduceOp::sum, Element::float32, 4, 2);
    refused("a collective of -4 elements", 64, mesh, ReduceOp::sum, Element::float32, -4);
    refused("a collective of 4611686018427387904 elements", 64, mesh, ReduceOp::sum, Element::float32,
            std::int64_t{1} << 62U);
  });
  run_ranks(1, [](Domain me) {
    auto window = me.window<std::int32_t>("window", 16);
    const Tensor x = Tensor::over(std::span(window.data(), 16));
    Chip chip(me, {.clusters = 1, .threads = 1});
    require_error(Code::invalid_argument, {"signals, got 16"}, [&] {
      chip.run([&](Graph& graph) {
        graph.submit(kCallCollective,
                     {Argument(Access::in, x), Argument(Access::no_dependency, x), Argument(Access::no_dependency, x),
                      Argument(Access::no_dependency, x), Argument(Access::no_dependency, x), window.context(),
                      Operation::allreduce, Element::float32, ReduceOp::sum, 0, Algorithm::mesh, 4});
      });
    });
  });
}

}  // namespace
}  // namespace baton::test
