#include "collectives/call.hpp"

#include <array>

#include <fmt/format.h>

namespace baton::collectives {
namespace {

constexpr std::array<std::string_view, kOperations> kOperationNames = {
    "barrier",   "broadcast", "reduce",  "allreduce",  "reduce_scatter",
    "allgather", "gather",    "scatter", "all_to_all", "all_to_all_v"};
constexpr std::array<std::string_view, 12> kElementNames = {"float64", "float32", "float16", "bfloat16",
                                                            "int8",    "int16",   "int32",   "int64",
                                                            "uint8",   "uint16",  "uint32",  "uint64"};
constexpr std::array<std::string_view, 8> kOpNames = {"sum", "prod",    "min",    "max",
                                                      "avg", "bit_and", "bit_or", "bit_xor"};
constexpr std::array<std::string_view, kAlgorithms> kAlgorithmNames = {"automatic",
                                                                       "exchange",
                                                                       "meeting",
                                                                       "eager",
                                                                       "fetch",
                                                                       "read",
                                                                       "write",
                                                                       "one_phase",
                                                                       "mesh",
                                                                       "ring",
                                                                       "bidirectional_ring",
                                                                       "interleaved_ring",
                                                                       "recursive_halving",
                                                                       "tree",
                                                                       "bruck"};

template <class Names, class Value>
std::string_view name_in(const Names& names, Value value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < names.size() ? names[index] : "unknown";
}

}  // namespace

std::string_view name_of(Operation operation) noexcept { return name_in(kOperationNames, operation); }
std::string_view name_of(Element element) noexcept { return name_in(kElementNames, element); }
std::string_view name_of(ReduceOp op) noexcept { return name_in(kOpNames, op); }
std::string_view name_of(Algorithm algorithm) noexcept { return name_in(kAlgorithmNames, algorithm); }

Call call_of(std::uint64_t fingerprint) noexcept {
  using namespace fields;
  Call call;
  call.operation = static_cast<Operation>(fingerprint & kNibble);
  call.element = static_cast<Element>(fingerprint >> kElementAt & kNibble);
  call.op = static_cast<ReduceOp>(fingerprint >> kOpAt & kNibble);
  call.root = static_cast<int>(fingerprint >> kRootAt & kRootMask);
  call.count = fingerprint >> kCountAt;
  return call;
}

std::string describe(const Call& call) {
  std::string text(name_of(call.operation));
  if (call.operation == Operation::barrier) return text;
  if (call.operation == Operation::all_to_all_v) return fmt::format("{} of {}", text, name_of(call.element));
  text += fmt::format(" of {} {}", call.count, name_of(call.element));
  if (reduces(call.operation)) text += fmt::format(", {}", name_of(call.op));
  if (has_root(call.operation)) text += fmt::format(", root {}", call.root);
  return text;
}

}  // namespace baton::collectives
