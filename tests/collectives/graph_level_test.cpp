// Collectives in graphs: tasks that wait for other ranks without a core.
#include <gtest/gtest.h>

#include <random>

#include <baton/chip.hpp>
#include <baton/graph_collectives.hpp>
#include <baton/inproc.hpp>
#include <collectives/signal_layout.hpp>

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

DType dtype_of(Element element) {
  switch (element) {
    case Element::float16: return DType::float16;
    case Element::bfloat16: return DType::bfloat16;
    case Element::int16: return DType::int16;
    case Element::int32: return DType::int32;
    case Element::int64: return DType::int64;
    case Element::uint8: return DType::uint8;
    default: return DType::float32;
  }
}

Tensor tensor_of(const void* address, std::size_t count, Element element) {
  const Buffer buffer{.address = reinterpret_cast<std::uint64_t>(address), .bytes = count * size_of(element)};
  return count == 0 ? Tensor() : Tensor(buffer, dtype_of(element), {static_cast<std::int64_t>(count)});
}

/// Which data of a call is named as a place in a window; the rest passes through the room.
struct Named {
  bool in;
  bool out;
};

template <class Byte>
GraphData data_of(const BasicData<Byte>& data, bool named) {
  const Tensor tensor = tensor_of(data.address(), data.count(), data.element());
  return named ? GraphData(*data.window(), tensor) : GraphData(tensor);
}

/// `counts` has those of all_to_all_v, which are equal.
void submit(Graph& graph, const CollectiveRoom& room, const Case& one, Named named, ConstData in, Data out,
            const Tensor& counts) {
  const GraphCollectiveOptions options{.algorithm = one.algorithm};
  const GraphData x = data_of(in, named.in);
  const GraphData y = data_of(out, named.out);
  switch (one.operation) {
    case Operation::broadcast: broadcast(graph, room, y, one.root, options); return;
    case Operation::reduce: reduce(graph, room, x, y, one.root, one.op, options); return;
    case Operation::allreduce: allreduce(graph, room, x, y, one.op, options); return;
    case Operation::reduce_scatter: reduce_scatter(graph, room, x, y, one.op, options); return;
    case Operation::allgather: allgather(graph, room, x, y, options); return;
    case Operation::gather: gather(graph, room, x, y, one.root, options); return;
    case Operation::scatter: scatter(graph, room, x, y, one.root, options); return;
    case Operation::all_to_all: all_to_all(graph, room, x, y, options); return;
    case Operation::barrier: barrier(graph, room); return;
    case Operation::all_to_all_v: all_to_all_v(graph, room, x.tensor(), counts, y.tensor(), counts); return;
  }
}

Case draw(std::mt19937_64& random, int ranks) {
  Case one = draw_chip_case(random, ranks, 5000);
  ++one.count;  // tensors are never empty
  return one;
}

void random_calls(Domain me, std::uint64_t seed, int calls, const ChipOptions& options) {
  std::mt19937_64 random(seed);
  const auto ranks = static_cast<std::size_t>(me.size());
  const Buffers buffers(me, std::size_t{5010} * 8 * ranks);
  const std::size_t rooms[] = {ranks * 2048, ranks * 8000, ranks * 200'000};
  const CollectiveRoom room(me, {.bytes = rooms[seed % 3], .blocks = static_cast<int>(1 + seed % 2)});
  Chip chip(me, options);
  const Tensor counts = chip.alloc<std::int32_t>({me.size()});
  for (int call = 0; call < calls; ++call) {
    const Case one = draw(random, me.size());
    const Named named{.in = random() % 3 != 0, .out = random() % 3 != 0};
    const Maker maker = [&](const Domain&, const Case& made, ConstData in, Data out) {
      chip.copy_in<std::int32_t>(counts, std::vector<std::int32_t>(ranks, static_cast<std::int32_t>(made.count)));
      chip.run([&](Graph& graph) { submit(graph, room, made, named, in, out, counts); });
    };
    const std::size_t wrong = wrong_elements(me, buffers, one, call, maker);
    if (wrong != 0) throw CheckFailed(std::to_string(wrong) + " wrong: " + describe(one));
  }
}

TEST(GraphCollectives, OfAllKindsAreRightForEverySeed) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(12)); ++seed) {
    const int ranks = std::array{2, 3, 4, 5}[seed / 2 % 4];
    const std::string failure = run_seeded(ranks, seed, [&](Domain me) {
      random_calls(std::move(me), seed, 20, {.clusters = 1, .threads = 1, .seed = seed});
    });
    EXPECT_EQ(failure, "") << "seed " << seed;
  }
}

TEST(GraphCollectives, OnThreadsAreRight) {
  for (const int ranks : {1, 2, 4, 7}) {
    run_ranks(ranks, [&](Domain me) {
      random_calls(std::move(me), 50 + static_cast<std::uint64_t>(ranks), scaled(40), {.clusters = 1});
    });
  }
}

TEST(GraphCollectives, NeedARoomOfAsManyBlocksOnAllRanks) {
  run_ranks(2, [](Domain me) {
    require_error(Code::mismatch, {"collective room of 2 blocks"}, [&] {
      // As many bytes on both.
      const std::size_t signals = static_cast<std::size_t>(collectives::signals_needed(2)) * 4;
      const CollectiveRoom room(me, {.bytes = 4096 + (me.rank() == 0 ? signals : 0), .blocks = 1 + me.rank()});
    });
    me.barrier();
  });
}

// Another task of rank 1 fails, so that its part of the collective does not run: the others learn that it failed, not
// that it was slow.
TEST(GraphCollectives, EndWhenARankFailsForAnotherReason) {
  std::array<Code, 3> codes{};
  const auto run = [&] {
    run_ranks(3, [&](Domain me) {
      const CollectiveRoom room(me);
      Chip chip(me, {.clusters = 1});
      const Tensor x = chip.alloc<float>({10});
      const Tensor few = chip.alloc<std::int32_t>({16});
      try {
        chip.run([&](Graph& graph) {
          if (me.rank() == 1) {
            graph.submit(kCallCollective, {Argument(Access::inout, x), Argument(Access::no_dependency, x),
                                           Argument(Access::no_dependency, x), Argument(Access::no_dependency, few),
                                           Argument(Access::no_dependency, x), room.context(), Operation::barrier,
                                           Element::float32, ReduceOp::sum, 0, Algorithm::automatic, 4});
          }
          allreduce(graph, room, x, x);
        });
      } catch (const Error& error) {
        codes[static_cast<std::size_t>(me.rank())] = error.code();
        throw;
      }
    });
  };
  require_error(Code::invalid_argument, {"signals, got 16"}, run);
  EXPECT_EQ(codes[1], Code::invalid_argument);
  EXPECT_EQ(codes[0], Code::peer_died);
  EXPECT_EQ(codes[2], Code::peer_died);
}

// Rank 0 begins a task behind the barrier only after that of rank 1 before it.
TEST(GraphCollectives, MeetInABarrierByNamedEdges) {
  run_ranks(2, [](Domain me) {
    const CollectiveRoom room(me);
    auto word = me.window<std::int32_t>("word", 1);
    Chip chip(me, {.clusters = 1});
    const Tensor mine = Tensor::over(std::span(word.data(), 1));
    const Tensor copy = chip.alloc<std::int32_t>({1});
    for (std::int32_t round = 1; round <= 20; ++round) {
      chip.run([&](Graph& graph) {
        TaskId before = 0;
        if (me.rank() == 1) before = graph.submit(notify_peer, mine, word.context(), 0);
        const TaskId met = barrier(graph, room, {.after = before == 0 ? std::vector<TaskId>() : std::vector{before}});
        graph.submit(TaskOptions{.after = {met}}, copy_ints, mine, copy);
      });
      std::vector<std::int32_t> out(1);
      chip.copy_out<std::int32_t>(copy, out);
      REQUIRE_EQUAL(out[0], me.rank() == 0 ? round : 0);
      me.barrier();
    }
  });
}

// A chain of tasks and collectives with edges that nobody names.
TEST(GraphCollectives, AreTasksLikeAnyOther) {
  run_ranks(3, [](Domain me) {
    const CollectiveRoom room(me);
    Chip chip(me, {.clusters = 1});
    const Tensor x = chip.alloc<float>({1000});
    const Tensor y = chip.alloc<float>({1000});
    const auto orchestration = [&](Graph& graph) {
      for (int round = 0; round < 4; ++round) {
        graph.submit(increment, x, y);
        allreduce(graph, room, y, x);
      }
    };
    // 0 -> 3 -> 12 -> 39 -> 120, then the same from there on.
    chip.run(orchestration);
    std::vector<float> out(1000);
    chip.copy_out<float>(x, out);
    REQUIRE(out[0] == 120.0F && out[999] == 120.0F);
    CapturedGraph captured = chip.capture(orchestration);
    chip.copy_in<float>(x, std::vector<float>(1000, 0));
    chip.run(captured);
    chip.run(captured);
    chip.copy_out<float>(x, out);
    REQUIRE(out[0] == 120.0F * 81 + 120);
    me.barrier();
  });
}

// Rank 1 begins only when tasks of rank 0 have run that were submitted after the collectives. There are as many of
// these as cores: if one of them kept its core, nobody would ever go on.
TEST(GraphCollectives, LeaveTheirCoresToOthersWhileTheyWait) {
  run_ranks(2, [](Domain me) {
    std::vector<CollectiveRoom> rooms;
    Signals go = me.signals("go", 1);
    Chip chip(me, {.clusters = 1});
    constexpr int kCollectives = 4;
    for (int i = 0; i < kCollectives; ++i) rooms.emplace_back(me);
    std::vector<Tensor> xs;
    for (int i = 0; i < kCollectives; ++i) xs.push_back(chip.alloc<float>({100}));
    const Tensor signal = Tensor::over(std::span(reinterpret_cast<std::int32_t*>(go.local()), 1));
    chip.run([&](Graph& graph) {
      REQUIRE(graph.vector_cores() < kCollectives);
      if (me.rank() == 1) {
        const Tensor token = graph.submit_notification_wait(reinterpret_cast<std::int32_t*>(go.local()), 3);
        graph.wait(graph.submit_empty({}, {.tokens = {token}}));
      }
      for (int i = 0; i < kCollectives; ++i) {
        allreduce(graph, rooms[static_cast<std::size_t>(i)], xs[static_cast<std::size_t>(i)],
                  xs[static_cast<std::size_t>(i)]);
      }
      if (me.rank() == 0) {
        for (int i = 0; i < 3; ++i) graph.submit(notify_peer, signal, go.context(), 1);
      }
    });
    me.barrier();
  });
}

/// Round the ring at once, then from rank 0 on to the last, and a collective in the same room.
void pass_messages(Domain me, const ChipOptions& options) {
  const CollectiveRoom room(me, {.bytes = 1024, .blocks = 1 + me.size() % 2});
  Chip chip(me, options);
  constexpr std::int64_t kCount = 700;
  const Tensor x = chip.alloc<float>({kCount});
  const Tensor y = chip.alloc<float>({kCount});
  const Tensor z = chip.alloc<float>({kCount});
  const int last = me.size() - 1;
  for (int round = 0; round < 4; ++round) {
    const auto value = [&](int rank) { return static_cast<float>(10 * round + rank); };
    chip.copy_in<float>(x, std::vector<float>(kCount, value(me.rank())));
    chip.run([&](Graph& graph) {
      send_recv(graph, room, x, (me.rank() + 1) % me.size(), y, (me.rank() + last) % me.size());
      if (me.rank() > 0) recv(graph, room, z, me.rank() - 1);
      if (me.rank() < last) send(graph, room, me.rank() == 0 ? x : z, me.rank() + 1);
      allreduce(graph, room, x, x);
    });
    std::vector<float> out(kCount);
    chip.copy_out<float>(y, out);
    for (const float element : out) REQUIRE(element == value((me.rank() + last) % me.size()));
    chip.copy_out<float>(z, out);
    for (const float element : out) REQUIRE(me.rank() == 0 || element == value(0));
    chip.copy_out<float>(x, out);
    for (const float element : out) REQUIRE(element == static_cast<float>(me.size()) * (value(0) + value(last)) / 2);
  }
  me.barrier();
}

TEST(GraphMessages, ArriveInOrderAndWholeForEverySeed) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(scaled(8)); ++seed) {
    expect_right_and_clean(static_cast<int>(2 + seed % 4), seed, [&](Domain me) {
      pass_messages(std::move(me), {.clusters = 1, .threads = 1, .seed = seed});
    });
  }
  run_ranks(4, [](Domain me) { pass_messages(std::move(me), {.clusters = 1}); });
}

TEST(GraphCollectives, SayWhatIsWrong) {
  run_ranks(2, [](Domain me) {
    const CollectiveRoom room(me);
    const CollectiveRoom tiny(me, {.bytes = 256});
    Chip chip(me, {.clusters = 1});
    const Tensor x = chip.alloc<float>({10});
    const Tensor small = chip.alloc<float>({4});
    const Tensor wide = chip.alloc<std::int64_t>({10});
    const Tensor whole = chip.alloc<std::int32_t>({10});
    const auto refused = [&](Code code, std::string_view part, const std::function<void(Graph&)>& body) {
      require_error(code, {part, "graph_level_test.cpp"}, [&] { chip.run(body); });
    };
    refused(Code::invalid_argument, "`y` has 4 float32, but 10 float32 are needed",
            [&](Graph& graph) { allreduce(graph, room, x, small); });
    refused(Code::invalid_argument, "chips have no sum of int64",
            [&](Graph& graph) { allreduce(graph, room, wide, wide); });
    refused(Code::invalid_argument, "chips have no avg of int32",
            [&](Graph& graph) { allreduce(graph, room, whole, whole, ReduceOp::avg); });
    refused(Code::invalid_argument, "chips have no bit_or of int32",
            [&](Graph& graph) { allreduce(graph, room, whole, whole, ReduceOp::bit_or); });
    refused(Code::out_of_range, "a message between rank", [&](Graph& graph) { send(graph, room, x, me.rank()); });
    refused(Code::out_of_range, "rank 2 is outside 0..1", [&](Graph& graph) { broadcast(graph, room, x, 2); });
    refused(Code::invalid_argument, "the room has 256 bytes for each block",
            [&](Graph& graph) { all_to_all(graph, tiny, x, x); });
    refused(Code::invalid_argument, "counts are 2 int32, one for each rank",
            [&](Graph& graph) { all_to_all_v(graph, room, x, whole, x, whole); });
    refused(Code::invalid_argument, "x has float32, y has int64",
            [&](Graph& graph) { all_to_all_v(graph, room, x, whole, wide, whole); });
    refused(Code::invalid_argument, "there is no operation 77 on elements",
            [&](Graph& graph) { allreduce(graph, room, x, x, static_cast<ReduceOp>(77)); });
    refused(Code::invalid_argument, "x and y overlap by a part",
            [&](Graph& graph) { allreduce(graph, room, x.slice(0, 6), x.slice(4, 10)); });
    refused(Code::invalid_argument, "x and y overlap by a part",
            [&](Graph& graph) { allgather(graph, room, x.slice(1, 5), x.slice(0, 8)); });
    const Tensor counts = chip.alloc<std::int32_t>({2});
    refused(Code::invalid_argument, "x and y overlap",
            [&](Graph& graph) { all_to_all_v(graph, room, x.slice(0, 6), counts, x.slice(4, 10), counts); });
    refused(Code::invalid_argument, "not contiguous",
            [&](Graph& graph) { allreduce(graph, room, x.slice(0, 10, 2), small); });
    me.barrier();
  });
}

}  // namespace
}  // namespace baton::test
