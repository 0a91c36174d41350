#include "disagreements.hpp"

#include <optional>

#include <baton/chip.hpp>
#include <baton/graph_collectives.hpp>
#include <collectives/member.hpp>

#include "chip_kernels.hpp"
#include "support/require.hpp"

namespace baton::test {
namespace {

using collectives::Operation;

constexpr std::int64_t kMost = 6000;  // elements, for all ranks together
constexpr std::size_t kRoomBytes = 4096;

DType dtype_of(Element element) { return element == Element::int32 ? DType::int32 : DType::float32; }

/// A rank with a room on one of the levels.
class Caller {
 public:
  Caller(Domain& me, Level level, std::uint64_t seed)
      : me_(me),
        level_(level),
        signal_count_(static_cast<std::size_t>(collectives::signals_needed(me.size()))),
        window_(me.raw_window("room", signal_count_ * 4 + kRoomBytes)),
        chip_(me, {.clusters = 1, .threads = 1, .seed = seed == 0 ? std::optional<std::uint64_t>() : seed}),
        data_(chip_.alloc<float>({2 * kMost})),
        counts_(chip_.alloc<std::int32_t>({2 * me.size()})) {
    if (level == Level::graph) room_.emplace(me, CollectiveRoomOptions{.bytes = 16 * kRoomBytes, .blocks = 2});
  }

  void call(const ChipCall& one) {
    chip_.run([&](Graph& graph) { level_ == Level::kernel ? in_kernel(graph, one) : in_graph(graph, one); });
  }

 private:
  [[nodiscard]] Tensor part(const ChipCall& one, std::int64_t first, std::int64_t blocks) const {
    const std::int64_t count = std::max<std::int64_t>(1, one.count * blocks);
    const Buffer buffer{.address = data_.address() + static_cast<std::uint64_t>(first) * 4,
                        .bytes = static_cast<std::size_t>(count) * 4};
    return {buffer, dtype_of(one.element), {count}};
  }

  void in_kernel(Graph& graph, const ChipCall& one) {
    std::byte* start = window_.local();
    const Tensor signals = Tensor::over(std::span(reinterpret_cast<std::int32_t*>(start), signal_count_));
    const Tensor room = Tensor::over(std::span(start + signal_count_ * 4, kRoomBytes));
    const Tensor x = part(one, 0, me_.size());
    const Tensor y = part(one, kMost, me_.size());
    std::vector<Argument> arguments = {Argument(Access::in, x), Argument(Access::inout, y),
                                       Argument(Access::inout, room), Argument(Access::inout, signals),
                                       Argument(Access::in, counts_)};
    const std::vector<Argument> call = {window_.context(), one.operation, one.element, one.op,
                                        one.root,          one.algorithm, one.count};
    const std::vector<Argument> message = {window_.context(), one.to, one.element, one.from, one.count};
    const auto& scalars = one.is_message() ? message : call;
    arguments.insert(arguments.end(), scalars.begin(), scalars.end());
    graph.submit_arguments(one.is_message() ? kPassMessage : kCallCollective, arguments);
  }

  void in_graph(Graph& graph, const ChipCall& one) {
    const GraphCollectiveOptions options{.algorithm = one.algorithm};
    const int ranks = me_.size();
    const Tensor x = part(one, 0, 1);
    const Tensor y = part(one, kMost, 1);
    const Tensor xs = part(one, 0, ranks);
    const Tensor ys = part(one, kMost, ranks);
    if (one.to >= 0 && one.from >= 0) {
      send_recv(graph, *room_, x, one.to, y, one.from);
    } else if (one.to >= 0) {
      send(graph, *room_, x, one.to);
    } else if (one.from >= 0) {
      recv(graph, *room_, y, one.from);
    } else {
      switch (one.operation) {
        case Operation::barrier: barrier(graph, *room_); return;
        case Operation::broadcast: broadcast(graph, *room_, y, one.root, options); return;
        case Operation::reduce: reduce(graph, *room_, x, y, one.root, one.op, options); return;
        case Operation::allreduce: allreduce(graph, *room_, x, y, one.op, options); return;
        case Operation::reduce_scatter: reduce_scatter(graph, *room_, xs, y, one.op, options); return;
        case Operation::allgather: allgather(graph, *room_, x, ys, options); return;
        case Operation::gather: gather(graph, *room_, x, ys, one.root, options); return;
        case Operation::scatter: scatter(graph, *room_, xs, y, one.root, options); return;
        case Operation::all_to_all: all_to_all(graph, *room_, xs, ys, options); return;
        case Operation::all_to_all_v:
          all_to_all_v(graph, *room_, xs, counts_.slice(0, ranks), ys, counts_.slice(ranks, 2 * ranks));
          return;
      }
    }
  }

  Domain& me_;
  Level level_;
  std::size_t signal_count_;
  RawWindow window_;
  Chip chip_;
  Tensor data_;
  Tensor counts_;
  std::optional<CollectiveRoom> room_;
};

}  // namespace

std::vector<Disagreement> disagreements(int ranks, Level level) {
  const int last = ranks - 1;
  using enum Operation;
  using enum Algorithm;
  std::vector<Disagreement> all = {
      {"count",
       {{.count = 100}},
       {{.count = 101}},
       {"allreduce of 100 float32 (sum, one_phase)"},
       {"allreduce of 101 float32 (sum, one_phase)"}},
      {"nothing",
       {{.algorithm = mesh}},
       {{.algorithm = mesh, .count = 0}},
       {"allreduce of 100 float32"},
       {"allreduce of 0 float32"}},
      {"pieces",
       {{.algorithm = mesh, .count = 1000}},
       {{.algorithm = mesh, .count = 20}},
       {"allreduce of 1000 float32"},
       {"allreduce of 20 float32"}},
      {"element", {{}}, {{.element = Element::int32}}, {"100 float32 (sum"}, {"100 int32 (sum"}},
      {"reduction",
       {{.operation = reduce_scatter, .op = ReduceOp::max}},
       {{.operation = reduce_scatter, .op = ReduceOp::min}},
       {"reduce_scatter of 100 float32 (max, mesh)"},
       {"(min, mesh)"}},
      {"root",
       {{.operation = reduce, .root = 0}},
       {{.operation = reduce, .root = 1}},
       {"reduce of 100 float32 (sum, root 0, mesh)"},
       {"root 1"}},
      {"two roots of a broadcast",
       {{.operation = broadcast, .root = 0, .algorithm = level == Level::kernel ? fetch : mesh}},
       {{.operation = broadcast, .root = last, .algorithm = level == Level::kernel ? fetch : mesh}},
       {"broadcast of 100 float32 (root 0"},
       {"(root " + std::to_string(last)}},
      {"algorithm", {{.algorithm = ring}}, {{.algorithm = tree}}, {"(sum, ring)"}, {"(sum, tree)"}},
      {"ways to wait", {{.algorithm = mesh}}, {{.algorithm = recursive_halving}}, {"(sum, mesh)"}, {"recursive"}},
      {"operation",
       {{.operation = allgather}},
       {{.operation = all_to_all}},
       {"allgather of 100 float32 (mesh)"},
       {"all_to_all of 100 float32 (mesh)"}},
      {"order",
       {{.operation = barrier}, {.operation = scatter}},
       {{.operation = scatter}, {.operation = barrier}},
       {"barrier"},
       {"scatter of 100 float32 (root 0, mesh)"}},
      {"one call more",
       {{.operation = gather}, {.algorithm = tree}},
       {{.operation = gather}, {.operation = gather}, {.algorithm = tree}},
       {"allreduce of 100 float32 (sum, tree)"},
       {"gather of 100 float32 (root 0, mesh)"}},
      {"sizes of blocks",
       {{.operation = all_to_all}},
       {{.operation = all_to_all_v}},
       {"all_to_all of"},
       {"_v of float32"}},
      {"message and collective",
       {{.operation = allgather}},
       {{.count = 7, .to = 0}, {.operation = allgather}},
       {"allgather of 100 float32 (mesh)"},
       {"send of 7 float32 to rank 0"}},
  };
  // Tensors of graphs are never empty.
  if (level == Level::graph) std::erase_if(all, [](const Disagreement& one) { return one.name == "nothing"; });
  for (Disagreement& one : all) {
    one.common_text.emplace_back("rank 0 called ");
    one.odd_text.push_back("rank " + std::to_string(last) + " called ");
  }
  if (ranks > 2) {
    // Which of the others is named, depends on who came first.
    for (Disagreement& one : all) one.common_text.pop_back();
  } else {
    all.push_back({"length of a message",
                   {{.count = 5, .to = 1}},
                   {{.count = 6, .from = 0}},
                   {"rank 0 called send of 5 float32 to rank 1"},
                   {"rank 1 called recv of 6 float32 from rank 0"}});
    all.push_back({"elements of a message",
                   {{.count = 5, .to = 1, .from = 1}},
                   {{.element = Element::int32, .count = 5, .to = 0, .from = 0}},
                   {"send_recv of 5 float32 to rank 1, from rank 1"},
                   {"send_recv of 5 int32"}});
    all.push_back({"both send",
                   {{.count = 5, .to = 1}, {.count = 5, .from = 1}},
                   {{.count = 5, .to = 0}, {.count = 5, .from = 0}},
                   {"rank 0 called send"},
                   {"rank 1 called send"}});
    all.push_back({"both receive",
                   {{.count = 5, .from = 1}},
                   {{.count = 5, .from = 0}},
                   {"rank 0 called recv"},
                   {"rank 1 called recv"}});
  }
  return all;
}

void disagree(Domain& me, Level level, const Disagreement& what, std::uint64_t seed) {
  Caller caller(me, level, seed);
  const bool odd = me.rank() == me.size() - 1;
  try {
    // A rank that is still in one of these when others disagree learns of it there.
    for (int i = 0; i < 3; ++i) caller.call({.count = 10 + i});
    for (const ChipCall& one : odd ? what.odd : what.common) caller.call(one);
    // A rank from which nobody needed anything learns of it in the next call.
    caller.call({.operation = Operation::barrier});
  } catch (const Error& error) {
    require_report(error, Code::mismatch, {"ranks disagree"});
    for (const auto* parts : {&what.common_text, &what.odd_text}) {
      for (const std::string& part : *parts) require_report(error, Code::mismatch, {part});
    }
    // And so in every later one.
    require_error(Code::mismatch, {"ranks disagree"}, [&] { caller.call({}); });
    me.barrier();
    return;
  }
  throw CheckFailed(what.name + ": rank " + std::to_string(me.rank()) + " learned of nothing");
}

void repeat_calls(Domain& me, Level level) {
  using enum Operation;
  const ChipCall calls[] = {{},
                            {.algorithm = Algorithm::ring},
                            {.operation = broadcast, .root = 1},
                            {.operation = all_to_all, .count = 1000},
                            {.operation = barrier},
                            {.operation = all_to_all_v},
                            {.to = (me.rank() + 1) % me.size(), .from = (me.rank() + me.size() - 1) % me.size()}};
  Caller caller(me, level, 0);
  for (;;) {
    for (const ChipCall& one : calls) caller.call(one);
  }
}

}  // namespace baton::test
