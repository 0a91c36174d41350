// Collectives in graphs that use data in windows where it is.
#include <gtest/gtest.h>

#include <baton/chip.hpp>
#include <baton/graph_collectives.hpp>
#include <baton/inproc.hpp>
#include <collectives/work.hpp>

#include "chip_kernels.hpp"
#include "seeded.hpp"
#include "support/require.hpp"
#include "support/scale.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

constexpr std::int64_t kBlock = 300;  // elements, of which no task has a whole number of cache lines

struct Round {
  Operation operation;
  Algorithm algorithm = Algorithm::automatic;
};
constexpr Round kRounds[] = {{Operation::allreduce},     {Operation::allreduce, Algorithm::mesh},
                             {Operation::broadcast},     {Operation::reduce},
                             {Operation::allgather},     {Operation::allreduce, Algorithm::one_phase},
                             {Operation::gather},        {Operation::scatter},
                             {Operation::all_to_all},    {Operation::reduce_scatter},
                             {Operation::allreduce},     {Operation::all_to_all},
                             {Operation::broadcast},     {Operation::allgather},
                             {Operation::reduce_scatter}};

/// Tasks that nobody orders use two windows by turns with collectives: what a rank gives to a round replaces what it
/// gave to the one before, and what it gets is read before the next one replaces it.
class Rounds {
 public:
  Rounds(const Domain& me, int blocks, const ChipOptions& options)
      : me_(me),
        room_(me, {.bytes = 64, .blocks = blocks}),  // nothing passes through it
        in_(me_.window<float>("in", static_cast<std::size_t>(kBlock * me.size()))),
        out_(me_.window<float>("out", static_cast<std::size_t>(kBlock * me.size()))),
        chip_(me, options) {
    for (std::size_t round = 0; round < std::size(kRounds); ++round) {
      given_.push_back(chip_.alloc<float>({kBlock * me.size()}));
      got_.push_back(chip_.alloc<float>({kBlock * me.size()}));
      chip_.copy_in<float>(given_[round], std::vector<float>(static_cast<std::size_t>(kBlock * me.size()),
                                                             value(static_cast<int>(round), me.rank()) - 1));
    }
  }

  void run() {
    CapturedGraph graph = chip_.capture([&](Graph& made) {
      for (std::size_t round = 0; round < std::size(kRounds); ++round) submit(made, static_cast<int>(round));
    });
    for (int repeated = 0; repeated < 3; ++repeated) {
      for (const Tensor& got : got_) {
        chip_.copy_in<float>(got, std::vector<float>(static_cast<std::size_t>(got.element_count()), -1));
      }
      chip_.run(graph);
      for (std::size_t round = 0; round < std::size(kRounds); ++round) check(static_cast<int>(round));
    }
    me_.barrier();
  }

 private:
  [[nodiscard]] static float value(int round, int rank) { return static_cast<float>(100 * (round + 1) + rank); }
  [[nodiscard]] int root(int round) const { return round % me_.size(); }
  [[nodiscard]] bool gets(int round) const {
    const Operation operation = kRounds[round].operation;
    const bool one_gets = operation == Operation::reduce || operation == Operation::gather;
    return !one_gets || me_.rank() == root(round);
  }

  void submit(Graph& graph, int round) {
    const Tensor x = Tensor::over(std::span(in_.data(), in_.size()));
    const Tensor y = Tensor::over(std::span(out_.data(), out_.size()));
    const GraphData one(in_, x.slice(0, kBlock));
    const GraphData one_out(out_, y.slice(0, kBlock));
    const GraphCollectiveOptions options{.algorithm = kRounds[round].algorithm};
    const auto index = static_cast<std::size_t>(round);
    graph.submit(increment, given_[index], x);
    switch (kRounds[round].operation) {
      case Operation::allreduce: allreduce(graph, room_, in_, out_, ReduceOp::sum, options); break;
      case Operation::reduce: reduce(graph, room_, in_, out_, root(round), ReduceOp::sum, options); break;
      case Operation::reduce_scatter: reduce_scatter(graph, room_, in_, one_out, ReduceOp::sum, options); break;
      case Operation::allgather: allgather(graph, room_, one, out_, options); break;
      case Operation::gather: gather(graph, room_, one, out_, root(round), options); break;
      case Operation::scatter: scatter(graph, room_, in_, one_out, root(round), options); break;
      case Operation::all_to_all: all_to_all(graph, room_, in_, out_, options); break;
      case Operation::broadcast: broadcast(graph, room_, in_, root(round), options); break;
      default: throw CheckFailed("not here");
    }
    graph.submit(increment, kRounds[round].operation == Operation::broadcast ? x : y, got_[index]);
  }

  void check(int round) {
    if (!gets(round)) return;
    std::vector<float> got(static_cast<std::size_t>(kBlock * me_.size()));
    chip_.copy_out<float>(got_[static_cast<std::size_t>(round)], got);
    const Operation operation = kRounds[round].operation;
    const bool one_block = operation == Operation::reduce_scatter || operation == Operation::scatter;
    if (one_block) got.resize(kBlock);
    float sum = 0;
    for (int rank = 0; rank < me_.size(); ++rank) sum += value(round, rank);
    for (std::size_t i = 0; i < got.size(); ++i) {
      float expected = sum;
      switch (operation) {
        case Operation::broadcast:
        case Operation::scatter: expected = value(round, root(round)); break;
        case Operation::allgather:
        case Operation::gather:
        case Operation::all_to_all: expected = value(round, static_cast<int>(i / kBlock)); break;
        default: break;
      }
      if (got[i] != expected + 1)
        throw CheckFailed("element " + std::to_string(i) + " of round " + std::to_string(round));
    }
  }

  Domain me_;
  CollectiveRoom room_;
  Window<float> in_;
  Window<float> out_;
  Chip chip_;
  std::vector<Tensor> given_;
  std::vector<Tensor> got_;
};

TEST(GraphWindows, AreNeitherReplacedNorReadTooEarlyForEverySeed) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(20)); ++seed) {
    const std::string failure = run_seeded(static_cast<int>(1 + seed % 5), seed, [&](Domain me) {
      Rounds(me, static_cast<int>(1 + seed % 3), {.clusters = 1, .threads = 1, .seed = seed}).run();
    });
    EXPECT_EQ(failure, "") << "seed " << seed;
  }
}

TEST(GraphWindows, AreNeitherReplacedNorReadTooEarlyOnThreads) {
  for (const int ranks : {2, 3, 8}) {
    run_ranks(ranks, [&](const Domain& me) { Rounds(me, 2, {.clusters = 1}).run(); });
  }
}

// Data elsewhere needs room; here there is none.
TEST(GraphWindows, OfOtherDomainsAreDataAnywhere) {
  run_ranks(2, [](Domain me) {
    Domain other = me.subset("other", std::array{0, 1});
    const CollectiveRoom tiny(me, {.bytes = 64});
    const Window<float> x = other.window<float>("x", 100);
    Chip chip(me, {.clusters = 1});
    require_error(Code::invalid_argument, {"the room has 64 bytes for each block"},
                  [&] { chip.run([&](Graph& graph) { allreduce(graph, tiny, x, x); }); });
    const CollectiveRoom room(me);
    std::fill(x.begin(), x.end(), 2.0F);
    chip.run([&](Graph& graph) { allreduce(graph, room, x, x); });
    REQUIRE(x[0] == 4.0F && x[99] == 4.0F);
    me.barrier();
  });
}

TEST(GraphWindows, HaveToBeTheSamePlaceOnAllRanks) {
  const auto call = [](const std::function<void(Domain&, const CollectiveRoom&, const Window<float>&, Chip&)>& body) {
    run_ranks(2, [&](Domain me) {
      const CollectiveRoom room(me);
      const Window<float> x = me.window<float>("x", 128);
      Chip chip(me, {.clusters = 1});
      body(me, room, x, chip);
      me.barrier();
    });
  };
  call([](Domain& me, const CollectiveRoom& room, const Window<float>& x, Chip& chip) {
    const Tensor half = Tensor::over(std::span(x.data(), x.size())).slice(64 * me.rank(), 64 * me.rank() + 64);
    require_error(Code::mismatch,
                  {"rank 0 called allreduce of 64 float32 (sum, mesh, in windows)",
                   "they name different windows, or different places in them"},
                  [&] { chip.run([&](Graph& graph) {
                          allreduce(graph, room, {x, half}, {x, half});
                        }); });
  });
  call([](Domain& me, const CollectiveRoom& room, const Window<float>& x, Chip& chip) {
    const Tensor own = chip.alloc<float>({128});
    const GraphData either = me.rank() == 0 ? GraphData(x) : GraphData(own);
    require_error(Code::mismatch,
                  {"rank 0 called broadcast of 128 float32 (root 1, mesh, in windows)",
                   "rank 1 called broadcast of 128 float32 (root 1, mesh)"},
                  [&] { chip.run([&](Graph& graph) { broadcast(graph, room, either, 1); }); });
  });
  call([](Domain& /*me*/, const CollectiveRoom& room, const Window<float>& x, Chip& chip) {
    const Tensor own = chip.alloc<float>({128});
    require_error(Code::invalid_argument,
                  {"`y` does not lie in this rank's part of window \"x\"", "graph_windows_test.cpp"}, [&] {
                    chip.run([&](Graph& graph) { allreduce(graph, room, x, {x, own}); });
                  });
  });
}

}  // namespace
}  // namespace baton::test
