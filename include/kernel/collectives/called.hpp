// What a member called: in a few words that others compare, and in words for people.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/work.hpp>
#include <pto/target/fail.hpp>

namespace baton::collectives {

struct Called {
  Operation operation = Operation::barrier;
  Element element = Element::uint8;
  ReduceOp op = ReduceOp::sum;
  Algorithm algorithm = Algorithm::automatic;
  int root = 0;
  /// Elements of the vector, or of one block.
  uint64_t count = 0;
  /// Stands for the windows, and the places in them, that are used where they are; 0: data passes through the room.
  uint32_t place = 0;

  /// All but the count and the place.
  [[nodiscard]] AICORE int32_t kind() const {
    return static_cast<int32_t>(static_cast<uint32_t>(operation) | static_cast<uint32_t>(element) << 4U |
                                static_cast<uint32_t>(op) << 8U | static_cast<uint32_t>(algorithm) << 12U |
                                static_cast<uint32_t>(root) << 16U);
  }
  [[nodiscard]] AICORE static Called from(int32_t kind, uint64_t count) {
    const auto word = static_cast<uint32_t>(kind);
    Called called;
    called.operation = static_cast<Operation>(word & 15U);
    called.element = static_cast<Element>(word >> 4U & 15U);
    called.op = static_cast<ReduceOp>(word >> 8U & 15U);
    called.algorithm = static_cast<Algorithm>(word >> 12U & 15U);
    called.root = static_cast<int>(word >> 16U);
    called.count = count;
    return called;
  }
};

[[nodiscard]] AICORE inline const char* word_for(Operation operation) {
  switch (operation) {
    case Operation::barrier: return "barrier";
    case Operation::broadcast: return "broadcast";
    case Operation::reduce: return "reduce";
    case Operation::allreduce: return "allreduce";
    case Operation::reduce_scatter: return "reduce_scatter";
    case Operation::allgather: return "allgather";
    case Operation::gather: return "gather";
    case Operation::scatter: return "scatter";
    case Operation::all_to_all: return "all_to_all";
    case Operation::all_to_all_v: return "all_to_all_v";
  }
  return "unknown";
}

[[nodiscard]] AICORE inline const char* word_for(Element element) {
  switch (element) {
    case Element::float64: return "float64";
    case Element::float32: return "float32";
    case Element::float16: return "float16";
    case Element::bfloat16: return "bfloat16";
    case Element::int8: return "int8";
    case Element::int16: return "int16";
    case Element::int32: return "int32";
    case Element::int64: return "int64";
    case Element::uint8: return "uint8";
    case Element::uint16: return "uint16";
    case Element::uint32: return "uint32";
    case Element::uint64: return "uint64";
  }
  return "unknown";
}

[[nodiscard]] AICORE inline const char* word_for(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum: return "sum";
    case ReduceOp::prod: return "prod";
    case ReduceOp::min: return "min";
    case ReduceOp::max: return "max";
    case ReduceOp::avg: return "avg";
    case ReduceOp::bit_and: return "bit_and";
    case ReduceOp::bit_or: return "bit_or";
    case ReduceOp::bit_xor: return "bit_xor";
  }
  return "unknown";
}

[[nodiscard]] AICORE inline const char* word_for(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::automatic: return "automatic";
    case Algorithm::exchange: return "exchange";
    case Algorithm::meeting: return "meeting";
    case Algorithm::eager: return "eager";
    case Algorithm::fetch: return "fetch";
    case Algorithm::read: return "read";
    case Algorithm::write: return "write";
    case Algorithm::one_phase: return "one_phase";
    case Algorithm::mesh: return "mesh";
    case Algorithm::ring: return "ring";
    case Algorithm::bidirectional_ring: return "bidirectional_ring";
    case Algorithm::interleaved_ring: return "interleaved_ring";
    case Algorithm::recursive_halving: return "recursive_halving";
    case Algorithm::tree: return "tree";
    case Algorithm::bruck: return "bruck";
  }
  return "unknown";
}

template <class... Parts>
AICORE void add_all(kernel::Message& text, Parts... parts) {
  (text.add(parts), ...);
}

/// "allreduce of 100 float32 (sum, mesh)".
AICORE inline void describe(kernel::Message& text, const Called& called) {
  const Operation operation = called.operation;
  text.add(word_for(operation));
  if (operation == Operation::barrier) return;
  if (operation == Operation::all_to_all_v) return add_all(text, " of ", word_for(called.element));
  add_all(text, " of ", called.count, " ", word_for(called.element), " (");
  switch (operation) {
    case Operation::allreduce:
    case Operation::reduce:
    case Operation::reduce_scatter: add_all(text, word_for(called.op), ", "); break;
    default: break;
  }
  switch (operation) {
    case Operation::broadcast:
    case Operation::reduce:
    case Operation::gather:
    case Operation::scatter: add_all(text, "root ", called.root, ", "); break;
    default: break;
  }
  add_all(text, word_for(called.algorithm), called.place != 0 ? ", in windows)" : ")");
}

/// A message: who takes part; none: -1.
struct Partners {
  int to = -1;
  int from = -1;
};

/// "send of 5 float32 to rank 1".
AICORE inline void describe(kernel::Message& text, Partners partners, const Called& called) {
  const char* verb = partners.to < 0 ? "recv" : partners.from < 0 ? "send" : "send_recv";
  add_all(text, verb, " of ", called.count, " ", word_for(called.element));
  if (partners.to >= 0) add_all(text, " to rank ", partners.to);
  if (partners.from >= 0) add_all(text, partners.to >= 0 ? "," : "", " from rank ", partners.from);
}

}  // namespace baton::collectives
