// Collectives between ranks, over arrays and windows.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <span>
#include <string_view>

#include <fmt/format.h>

#include <baton/collectives.hpp>
#include <baton/domain.hpp>
#include <baton/error.hpp>
#include <collectives/signal_layout.hpp>

#include "bind.hpp"
#include "interruptible.hpp"
#include "seconds.hpp"
#include "window.hpp"

namespace baton::python {
namespace {

template <class Value>
struct Named {
  std::string_view name;
  Value value;
};
constexpr Named<ReduceOp> kReduceOps[] = {{"sum", ReduceOp::sum},       {"prod", ReduceOp::prod},
                                          {"min", ReduceOp::min},       {"max", ReduceOp::max},
                                          {"avg", ReduceOp::avg},       {"bit_and", ReduceOp::bit_and},
                                          {"bit_or", ReduceOp::bit_or}, {"bit_xor", ReduceOp::bit_xor}};
constexpr Named<Algorithm> kAlgorithms[] = {{"automatic", Algorithm::automatic},
                                            {"exchange", Algorithm::exchange},
                                            {"meeting", Algorithm::meeting},
                                            {"eager", Algorithm::eager},
                                            {"fetch", Algorithm::fetch},
                                            {"read", Algorithm::read},
                                            {"write", Algorithm::write},
                                            {"one_phase", Algorithm::one_phase},
                                            {"mesh", Algorithm::mesh},
                                            {"ring", Algorithm::ring},
                                            {"bidirectional_ring", Algorithm::bidirectional_ring},
                                            {"interleaved_ring", Algorithm::interleaved_ring},
                                            {"recursive_halving", Algorithm::recursive_halving},
                                            {"tree", Algorithm::tree},
                                            {"bruck", Algorithm::bruck}};
constexpr Named<Element> kElements[] = {
    {"float64", Element::float64},   {"float32", Element::float32}, {"float16", Element::float16},
    {"bfloat16", Element::bfloat16}, {"int8", Element::int8},       {"int16", Element::int16},
    {"int32", Element::int32},       {"int64", Element::int64},     {"uint8", Element::uint8},
    {"uint16", Element::uint16},     {"uint32", Element::uint32},   {"uint64", Element::uint64},
    {"bool", Element::uint8}};

template <class Value>
Value value_named(std::span<const Named<Value>> table, std::string_view name, const char* what) {
  std::string all;
  for (const Named<Value>& one : table) {
    if (one.name == name) return one.value;
    all += (all.empty() ? "" : ", ") + std::string(one.name);
  }
  throw Error(Code::invalid_argument, fmt::format("there is no {} '{}'", what, name), {"there are " + all});
}

/// The data of one side of a collective. Owns what it refers to.
struct Side {
  Array array;
  RawWindow window;
  Element element = Element::uint8;
  bool in_window = false;

  [[nodiscard]] std::size_t count() const {
    return array.tensor.dims() == 0 ? 0 : static_cast<std::size_t>(array.tensor.element_count());
  }
  [[nodiscard]] Data get() const {
    if (count() == 0) return {nullptr, 0, element};
    auto* address = reinterpret_cast<void*>(array.tensor.address());
    return in_window ? Data(window, address, count(), element) : Data(address, count(), element);
  }
};

/// `given` is None, or (array, name of its elements): the array may show its bits as those of another type.
Side side_of(nb::handle given, const char* what, Writable need) {
  Side side;
  const auto name = nb::cast<std::string>(given[1]);
  side.element = value_named<Element>(kElements, name, "element");
  const nb::object object = given[0];
  if (object.is_none()) return side;
  side.array = array_of(object, what, need);
  if (size_of(side.array.tensor.dtype()) != size_of(side.element)) {
    throw Error(Code::invalid_argument,
                fmt::format("{}: {} does not hold elements of {}", what, side.array.tensor.describe(), name));
  }
  const auto* memory = dynamic_cast<const WindowMemory*>(side.array.memory.get());
  if (memory != nullptr && memory->is_own()) {
    side.window = memory->window();
    side.in_window = true;
  }
  return side;
}

CollectiveOptions options_of(const std::string& algorithm, std::optional<double> timeout) {
  CollectiveOptions options;
  options.algorithm = value_named<Algorithm>(kAlgorithms, algorithm, "algorithm");
  if (!timeout) return options;
  if (!(*timeout > 0)) throw Error(Code::invalid_argument, "the timeout of a collective is more than 0 seconds");
  options.timeout = *nanoseconds_of(timeout);
  return options;
}

/// What all of them take: who calls, what goes in and comes out, and how.
struct Call {
  Domain me;
  Side in;
  Side out;
  int root;
  ReduceOp op;
  CollectiveOptions options;
};

using Counts = std::vector<std::size_t>;

/// By its name, so that Python has one way to each of them.
void run_collective(const Call& call, std::string_view name, const Counts& send_counts, const Counts& receive_counts) {
  const Data in = call.in.get();
  const Data out = call.out.get();
  if (name == "barrier") return barrier(call.me, call.options);
  if (name == "broadcast") return broadcast(call.me, in, call.root, call.options);
  if (name == "reduce_in_place") return reduce(call.me, in, call.root, call.op, call.options);
  if (name == "reduce") return reduce(call.me, in, out, call.root, call.op, call.options);
  if (name == "allreduce_in_place") return allreduce(call.me, in, call.op, call.options);
  if (name == "allreduce") return allreduce(call.me, in, out, call.op, call.options);
  if (name == "reduce_scatter") return reduce_scatter(call.me, in, out, call.op, call.options);
  if (name == "allgather") return allgather(call.me, in, out, call.options);
  if (name == "gather") return gather(call.me, in, out, call.root, call.options);
  if (name == "scatter") return scatter(call.me, in, out, call.root, call.options);
  if (name == "all_to_all") return all_to_all(call.me, in, out, call.options);
  if (name == "all_to_all_v") return all_to_all_v(call.me, in, send_counts, out, receive_counts, call.options);
  if (name == "send") return send(call.me, call.root, in, call.options);
  if (name == "recv") return recv(call.me, call.root, in, call.options);
  throw Error(Code::internal, fmt::format("there is no collective '{}'", name));
}

bool writes_what_goes_in(std::string_view name) {
  return name == "broadcast" || name == "recv" || name.ends_with("_in_place");
}

void collective(const Domain& me, const std::string& name, const nb::object& in, const nb::object& out, int root,
                const std::string& op, const std::string& algorithm, std::optional<double> timeout,
                const Counts& send_counts, const Counts& receive_counts) {
  Call call{.me = me,
            .in = side_of(in, "what goes in", writes_what_goes_in(name) ? Writable::yes : Writable::no),
            .out = side_of(out, "what comes out", Writable::yes),
            .root = root,
            .op = value_named<ReduceOp>(kReduceOps, op, "reduction"),
            .options = options_of(algorithm, timeout)};
  run_interruptibly([call = std::move(call), name, send_counts, receive_counts] {
    run_collective(call, name, send_counts, receive_counts);
  });
}

int signals_needed(int ranks) {
  if (ranks < 1) throw Error(Code::out_of_range, fmt::format("{} ranks; a domain has 1 or more", ranks));
  return collectives::signals_needed(ranks);
}

}  // namespace

void bind_collectives(nb::module_& module) {
  module.def("collective", collective, nb::arg("me"), nb::arg("name"), nb::arg("x"), nb::arg("out"), nb::arg("root"),
             nb::arg("op"), nb::arg("algorithm"), nb::arg("timeout").none(), nb::arg("send_counts"),
             nb::arg("receive_counts"),
             "Does one collective, by its name. x and out are (array or None, name of the elements).");
  module.def("signals_needed", signals_needed, nb::arg("ranks"),
             "How many signals (int32, zero at first) a kernel needs on each of `ranks` ranks for the collectives of\n"
             "<collectives/collectives.hpp>, in a buffer of their domain.");
}

}  // namespace baton::python
