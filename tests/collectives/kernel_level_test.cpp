// Collectives inside kernels: every operation, algorithm and element, one after the other in the same room.
#include <gtest/gtest.h>

#include <mutex>
#include <random>

#include <baton/chip.hpp>
#include <baton/inproc.hpp>
#include <collectives/member.hpp>

#include "cases.hpp"
#include "chip_kernels.hpp"
#include "seeded.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

constexpr std::pair<Operation, Algorithm> kMade[] = {
    {Operation::barrier, Algorithm::automatic},
    {Operation::broadcast, Algorithm::fetch},
    {Operation::broadcast, Algorithm::mesh},
    {Operation::broadcast, Algorithm::tree},
    {Operation::reduce, Algorithm::mesh},
    {Operation::reduce, Algorithm::tree},
    {Operation::allreduce, Algorithm::automatic},
    {Operation::allreduce, Algorithm::one_phase},
    {Operation::allreduce, Algorithm::mesh},
    {Operation::allreduce, Algorithm::ring},
    {Operation::allreduce, Algorithm::bidirectional_ring},
    {Operation::allreduce, Algorithm::interleaved_ring},
    {Operation::allreduce, Algorithm::recursive_halving},
    {Operation::allreduce, Algorithm::tree},
    {Operation::reduce_scatter, Algorithm::mesh},
    {Operation::reduce_scatter, Algorithm::ring},
    {Operation::allgather, Algorithm::mesh},
    {Operation::allgather, Algorithm::ring},
    {Operation::gather, Algorithm::automatic},
    {Operation::scatter, Algorithm::automatic},
    {Operation::all_to_all, Algorithm::mesh},
    {Operation::all_to_all, Algorithm::bruck},
    {Operation::all_to_all_v, Algorithm::automatic},
};
constexpr Element kCombined[] = {Element::float32, Element::float16, Element::bfloat16, Element::int16, Element::int32};
constexpr Element kMoved[] = {Element::uint8, Element::int64, Element::float32, Element::bfloat16};

bool reduces(Operation operation) {
  return operation == Operation::reduce || operation == Operation::allreduce || operation == Operation::reduce_scatter;
}

/// A rank with a chip and a room for collectives.
class Rank {
 public:
  Rank(Domain& me, std::size_t data_bytes, std::size_t room_bytes, ChipOptions options)
      : me_(me),
        buffers_(me, data_bytes),
        signal_count_(static_cast<std::size_t>(collectives::signals_needed(me.size()))),
        window_(me.raw_window("room", signal_count_ * 4 + room_bytes)),
        chip_(me, options) {
    std::byte* start = window_.local();
    signals_ = Tensor::over(std::span(reinterpret_cast<std::int32_t*>(start), signal_count_));
    room_ = Tensor::over(std::span(start + signal_count_ * 4, room_bytes));
    counts_ = chip_.alloc<std::int32_t>({2 * me.size()});
  }

  /// Elements that are wrong after the call.
  std::size_t call(const Case& one, int round) {
    const Maker maker = [&](const Domain&, const Case& made, ConstData in, Data out) { make(made, in, out); };
    return wrong_elements(me_, buffers_, one, round, maker);
  }
  Chip& chip() { return chip_; }

 private:
  [[nodiscard]] static Tensor tensor_of(const void* address, std::size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(address);
    return Tensor::over(std::span(const_cast<std::byte*>(begin), std::max<std::size_t>(1, bytes)));
  }

  void make(const Case& one, ConstData in, Data out) {
    chip_.copy_in<std::int32_t>(counts_, std::vector<std::int32_t>(static_cast<std::size_t>(2 * me_.size()),
                                                                   static_cast<std::int32_t>(one.count)));
    const std::byte* from = one.operation == Operation::broadcast ? out.address() : in.address();
    const std::size_t in_bytes = in.count() * size_of(one.element);
    chip_.run([&](Graph& graph) {
      const Tensor x = tensor_of(from, in_bytes);
      const Tensor y = tensor_of(out.address(), out.count() * size_of(one.element));
      graph.submit(kCallCollective,
                   {Argument(Access::in, x), Argument(Access::inout, y), Argument(Access::inout, room_),
                    Argument(Access::inout, signals_), Argument(Access::in, counts_), window_.context(), one.operation,
                    one.element, one.op, one.root, one.algorithm, one.count});
    });
  }

  Domain& me_;
  Buffers buffers_;
  std::size_t signal_count_;
  RawWindow window_;
  Chip chip_;
  Tensor signals_;
  Tensor room_;
  Tensor counts_;
};

Case draw(std::mt19937_64& random, int ranks, std::size_t most) {
  const auto& [operation, algorithm] = kMade[random() % std::size(kMade)];
  Case one{.operation = operation, .memory = Memory::windows, .algorithm = algorithm};
  one.element = reduces(operation) ? kCombined[random() % std::size(kCombined)] : kMoved[random() % std::size(kMoved)];
  one.op = static_cast<ReduceOp>(random() % 5);
  if (one.op == ReduceOp::avg && one.element >= Element::int8) one.op = ReduceOp::max;
  const std::size_t scales[] = {3, 40, 600, most};
  one.count = random() % scales[random() % 4];
  one.root = static_cast<int>(random() % static_cast<std::uint64_t>(ranks));
  if (operation == Operation::allreduce && random() % 2 == 0) one.placing = Placing::in_place;
  return one;
}

/// `calls` random calls in one room; all ranks draw alike.
void random_calls(Domain me, std::uint64_t seed, int calls, std::size_t most, ChipOptions options) {
  std::mt19937_64 random(seed);
  const auto ranks = static_cast<std::size_t>(me.size());
  // From a few elements for each rank to everything at once.
  const std::size_t rooms[] = {ranks * 64, ranks * 1000, ranks * most * 16};
  Rank rank(me, (most + 8) * 8 * ranks, rooms[seed % 3], options);
  for (int call = 0; call < calls; ++call) {
    const Case one = draw(random, me.size(), most);
    const std::size_t wrong = rank.call(one, call);
    if (wrong != 0) throw CheckFailed(std::to_string(wrong) + " wrong: " + describe(one));
  }
}

TEST(KernelCollectives, OfAllKindsFollowEachOtherInOneRoomForEverySeed) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(12)); ++seed) {
    const int ranks = std::array{2, 3, 4, 5}[seed % 4];
    const std::string failure = run_seeded(ranks, seed, [&](Domain me) {
      random_calls(std::move(me), seed, 25, 1500, {.clusters = 1, .workers = 1, .seed = seed});
    });
    EXPECT_EQ(failure, "") << "seed " << seed;
  }
}

TEST(KernelCollectives, AreRightForEveryNumberOfRanks) {
  for (const int ranks : {1, 2, 3, 4, 6, 7, 8, 16}) {
    run_ranks(ranks, [&](Domain me) {
      random_calls(std::move(me), static_cast<std::uint64_t>(1000 + ranks), scaled(25), 2500,
                   {.clusters = 1, .workers = 1});
    });
  }
}

TEST(KernelCollectives, EachAlgorithmIsRightForEveryElementAndOperation) {
  for (const int ranks : {2, 5}) {
    run_ranks(ranks, [&](Domain me) {
      Rank rank(me, std::size_t{5000} * 8 * 5, 3000, {.clusters = 1, .workers = 1});
      int round = 0;
      for (const auto& [operation, algorithm] : kMade) {
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
      Chip chip(me, {.clusters = 1, .workers = 1});
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
    const std::string failure = run_seeded(static_cast<int>(2 + seed % 4), seed, [&](Domain me) {
      pass_messages(std::move(me), {.clusters = 1, .workers = 1, .seed = seed});
    });
    EXPECT_EQ(failure, "") << "seed " << seed;
  }
  run_ranks(4, [](Domain me) { pass_messages(std::move(me), {.clusters = 1, .workers = 1}); });
}

TEST(KernelCollectives, SayWhatIsTooSmall) {
  run_ranks(2, [](Domain me) {
    auto window = me.window<std::int32_t>("window", 128);
    Chip chip(me, {.clusters = 1, .workers = 1});
    const auto call = [&](std::size_t signals, std::size_t room, Algorithm algorithm, ReduceOp op, Element element) {
      const Tensor x = Tensor::over(std::span(window.data(), 1));
      const Tensor all = Tensor::over(std::span(window.data(), signals));
      const Tensor rest = Tensor::over(std::span(reinterpret_cast<std::byte*>(window.data() + 64), room));
      chip.run([&](Graph& graph) {
        graph.submit(kCallCollective,
                     {Argument(Access::in, x), Argument(Access::inout, x), Argument(Access::inout, rest),
                      Argument(Access::inout, all), Argument(Access::in, x), window.context(), Operation::allreduce,
                      element, op, 0, algorithm, 4});
      });
    };
    using enum Algorithm;
    require_error(Code::invalid_argument, {"needs 48 signals, got 16"},
                  [&] { call(16, 64, mesh, ReduceOp::sum, Element::float32); });
    require_error(Code::invalid_argument, {"the room has 3 bytes"},
                  [&] { call(48, 3, mesh, ReduceOp::sum, Element::float32); });
    require_error(Code::invalid_argument, {"allreduce has no algorithm"},
                  [&] { call(48, 64, bruck, ReduceOp::sum, Element::float32); });
    require_error(Code::invalid_argument, {"no avg"}, [&] { call(48, 64, mesh, ReduceOp::avg, Element::int32); });
    me.barrier();
  });
}

}  // namespace
}  // namespace baton::test
