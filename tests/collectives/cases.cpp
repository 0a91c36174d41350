#include "cases.hpp"

#include <bit>

#include <fmt/format.h>

namespace baton::test {
namespace {

using collectives::name_of;
using collectives::Operation;

constexpr std::size_t kGuardElements = 3;
// Bits that no contents have.
constexpr std::uint64_t kGuard = 0x7777777777777777U;
constexpr std::uint64_t kUntouched = 0x7171717171717171U;
constexpr std::uint64_t kScribble = 0x6e6e6e6e6e6e6e6eU;

/// A number as the element would store it; halves of small whole numbers are exact in every float.
std::uint64_t encode(Element element, double value) {
  switch (element) {
    case Element::float64: return std::bit_cast<std::uint64_t>(value);
    case Element::float32: return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    case Element::bfloat16: return std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U;
    case Element::float16: {
      if (value == 0) return 0;
      const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
      return (bits >> 16U & 0x8000U) | ((bits >> 23U & 0xffU) - 112U) << 10U | (bits >> 13U & 0x3ffU);
    }
    case Element::int8:
    case Element::int16:
    case Element::int32:
    case Element::int64:
    case Element::uint8:
    case Element::uint16:
    case Element::uint32:
    case Element::uint64: break;
  }
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

/// A sum as it wraps in the element, and as a number again.
double wrapped(Element element, double value) {
  const auto whole = static_cast<std::int64_t>(value);
  switch (element) {
    case Element::int8: return static_cast<std::int8_t>(whole);
    case Element::uint8: return static_cast<std::uint8_t>(whole);
    case Element::int16: return static_cast<std::int16_t>(whole);
    case Element::uint16: return static_cast<std::uint16_t>(whole);
    default: return value;
  }
}

std::int64_t whole(double value) { return static_cast<std::int64_t>(value); }

/// What `rank` puts in at `place`.
double put_in(const Case& one, int rank, std::size_t place, int round) {
  const auto r = static_cast<std::size_t>(rank);
  const auto n = static_cast<std::size_t>(round);
  if (!reduces(one.operation)) return static_cast<double>((r * 31 + place * 7 + n) % 101);
  if (one.op == ReduceOp::prod) return (place + r + n) % 8 == 0 ? 2 : 1;
  if (one.op == ReduceOp::avg) return static_cast<double>((place + n) % 5 + r);
  return static_cast<double>((r * 7 + place * 3 + n) % 5);
}

double reduced(const Case& one, int ranks, std::size_t place, int round) {
  double result = put_in(one, 0, place, round);
  for (int rank = 1; rank < ranks; ++rank) {
    const double next = put_in(one, rank, place, round);
    switch (one.op) {
      case ReduceOp::sum:
      case ReduceOp::avg: result += next; break;
      case ReduceOp::prod: result *= next; break;
      case ReduceOp::min: result = std::min(result, next); break;
      case ReduceOp::max: result = std::max(result, next); break;
      case ReduceOp::bit_and: result = static_cast<double>(whole(result) & whole(next)); break;
      case ReduceOp::bit_or: result = static_cast<double>(whole(result) | whole(next)); break;
      case ReduceOp::bit_xor: result = static_cast<double>(whole(result) ^ whole(next)); break;
    }
  }
  result = wrapped(one.element, result);
  if (one.op != ReduceOp::avg) return result;
  result /= ranks;
  return is_integer(one.element) ? static_cast<double>(whole(result)) : result;
}

/// Contents repeat after this many elements, whatever the operation: 5, 8 and 101 divide it.
constexpr std::size_t kPeriod = 4040;

/// What is put in and comes out, computed once per call and looked up for each element.
class Contents {
 public:
  Contents(const Case& one, const Domain& me, int round)
      : one_(one), rank_(me.rank()), ranks_(me.size()), round_(round), inputs_(static_cast<std::size_t>(ranks_)) {
    if (reduces(one.operation)) {
      for (std::size_t place = 0; place < std::min(kPeriod, needed()); ++place)
        reduced_.push_back(encode(one.element, reduced(one, ranks_, place, round)));
    }
  }

  [[nodiscard]] std::uint64_t put_by(int rank, std::size_t place) {
    std::vector<std::uint64_t>& known = inputs_[static_cast<std::size_t>(rank)];
    const std::size_t index = place % kPeriod;
    while (known.size() <= index) known.push_back(encode(one_.element, put_in(one_, rank, known.size(), round_)));
    return known[index];
  }

  [[nodiscard]] std::uint64_t comes_out(std::size_t place) {
    const auto self = static_cast<std::size_t>(rank_);
    const std::size_t block = one_.count == 0 ? 1 : one_.count;
    const auto origin = static_cast<int>(place / block);
    const std::size_t inside = place - static_cast<std::size_t>(origin) * block;
    switch (one_.operation) {
      case Operation::broadcast: return put_by(one_.root, place);
      case Operation::reduce:
      case Operation::allreduce: return reduced_[place % kPeriod];
      case Operation::reduce_scatter: return reduced_[(self * block + place) % kPeriod];
      case Operation::scatter: return put_by(one_.root, self * block + place);
      case Operation::allgather:
      case Operation::gather: return put_by(origin, inside);
      case Operation::all_to_all:
      case Operation::all_to_all_v: return put_by(origin, self * block + inside);
      case Operation::barrier: break;
    }
    return 0;
  }

 private:
  [[nodiscard]] std::size_t needed() const {
    return one_.operation == Operation::reduce_scatter ? one_.count * static_cast<std::size_t>(ranks_) : one_.count;
  }
  const Case& one_;
  int rank_;
  int ranks_;
  int round_;
  std::vector<std::uint64_t> reduced_;
  std::vector<std::vector<std::uint64_t>> inputs_;
};

struct Counts {
  std::size_t in;
  std::size_t out;
};
Counts counts_of(const Case& one, int ranks) {
  const std::size_t all = one.count * static_cast<std::size_t>(ranks);
  switch (one.operation) {
    case Operation::reduce_scatter:
    case Operation::scatter: return {all, one.count};
    case Operation::allgather:
    case Operation::gather: return {one.count, all};
    case Operation::all_to_all:
    case Operation::all_to_all_v: return {all, all};
    case Operation::broadcast:
    case Operation::reduce:
    case Operation::allreduce: return {one.count, one.count};
    case Operation::barrier: break;
  }
  return {0, 0};
}

/// Where the input lies in the buffer of the output, or the other way round, when both are one.
std::size_t shift_in_place(const Case& one, int rank) {
  switch (one.operation) {
    case Operation::reduce_scatter:
    case Operation::allgather:
    case Operation::gather:
    case Operation::scatter: return static_cast<std::size_t>(rank) * one.count;
    default: return 0;
  }
}

template <class T>
void write_as(const Data& data, std::size_t place, std::uint64_t bits) {
  reinterpret_cast<T*>(data.address())[place] = static_cast<T>(bits);
}
void write(const Data& data, std::size_t place, std::uint64_t bits) {
  switch (size_of(data.element())) {
    case 1: return write_as<std::uint8_t>(data, place, bits);
    case 2: return write_as<std::uint16_t>(data, place, bits);
    case 4: return write_as<std::uint32_t>(data, place, bits);
    default: return write_as<std::uint64_t>(data, place, bits);
  }
}

template <class T>
bool holds_as(const Data& data, std::size_t place, std::uint64_t bits) {
  return reinterpret_cast<const T*>(data.address())[place] == static_cast<T>(bits);
}
bool holds(const Data& data, std::size_t place, std::uint64_t bits) {
  switch (size_of(data.element())) {
    case 1: return holds_as<std::uint8_t>(data, place, bits);
    case 2: return holds_as<std::uint16_t>(data, place, bits);
    case 4: return holds_as<std::uint32_t>(data, place, bits);
    default: return holds_as<std::uint64_t>(data, place, bits);
  }
}

}  // namespace

std::string describe(const Case& one) {
  constexpr const char* kMemories[] = {"windows", "own memory", "input in a window", "output in a window"};
  return fmt::format("{} {} x {} {} root {} {} {} {}", name_of(one.operation), one.count, name_of(one.element),
                     name_of(one.op), one.root, kMemories[static_cast<int>(one.memory)],
                     one.placing == Placing::in_place ? "in place" : "", name_of(one.algorithm));
}

bool may_be_in_place(Operation operation) {
  return operation != Operation::barrier && operation != Operation::broadcast && operation != Operation::all_to_all_v;
}

std::size_t bytes_of(const Case& one, int ranks) {
  const Counts counts = counts_of(one, ranks);
  return (std::max(counts.in, counts.out) + kGuardElements) * size_of(one.element);
}

Buffers::Buffers(Domain& me, std::size_t bytes)
    : bytes_((bytes + 7) / 8 * 8),
      in_window_(me.raw_window("test.in", bytes_)),
      out_window_(me.raw_window("test.out", bytes_)),
      in_own_(bytes_ / 8),
      out_own_(bytes_ / 8) {}

Data Buffers::input(const Case& one, std::size_t count) const {
  if (one.memory == Memory::windows || one.memory == Memory::input_in_window)
    return Data(in_window_, in_window_.local(), count, one.element);
  return Data(in_own_.data(), count, one.element);
}

Data Buffers::output(const Case& one, std::size_t count) const {
  if (one.memory == Memory::windows || one.memory == Memory::output_in_window)
    return Data(out_window_, out_window_.local(), count, one.element);
  return Data(out_own_.data(), count, one.element);
}

void call_public(const Domain& me, const Case& one, ConstData in, Data out) {
  const CollectiveOptions options{.algorithm = one.algorithm, .timeout = one.timeout};
  const std::vector<std::size_t> counts(static_cast<std::size_t>(me.size()), one.count);
  switch (one.operation) {
    case Operation::barrier: return barrier(me, options);
    case Operation::broadcast: return broadcast(me, out, one.root, options);
    case Operation::reduce: return reduce(me, in, out, one.root, one.op, options);
    case Operation::allreduce: return allreduce(me, in, out, one.op, options);
    case Operation::reduce_scatter: return reduce_scatter(me, in, out, one.op, options);
    case Operation::allgather: return allgather(me, in, out, options);
    case Operation::gather: return gather(me, in, out, one.root, options);
    case Operation::scatter: return scatter(me, in, out, one.root, options);
    case Operation::all_to_all: return all_to_all(me, in, out, options);
    case Operation::all_to_all_v: return all_to_all_v(me, in, counts, out, counts, options);
  }
}

Event start_public(const Domain& me, const Case& one, ConstData in, Data out) {
  const CollectiveOptions options{.algorithm = one.algorithm, .timeout = one.timeout};
  const std::vector<std::size_t> counts(static_cast<std::size_t>(me.size()), one.count);
  switch (one.operation) {
    case Operation::barrier: return start_barrier(me, options);
    case Operation::broadcast: return start_broadcast(me, out, one.root, options);
    case Operation::reduce: return start_reduce(me, in, out, one.root, one.op, options);
    case Operation::allreduce: return start_allreduce(me, in, out, one.op, options);
    case Operation::reduce_scatter: return start_reduce_scatter(me, in, out, one.op, options);
    case Operation::allgather: return start_allgather(me, in, out, options);
    case Operation::gather: return start_gather(me, in, out, one.root, options);
    case Operation::scatter: return start_scatter(me, in, out, one.root, options);
    case Operation::all_to_all: return start_all_to_all(me, in, out, options);
    case Operation::all_to_all_v: return start_all_to_all_v(me, in, counts, out, counts, options);
  }
  return {};
}

std::size_t wrong_elements(Domain& me, const Buffers& buffers, const Case& one, int round, const Maker& maker) {
  const Counts counts = counts_of(one, me.size());
  Contents contents(one, me, round);
  const bool is_root = me.rank() == one.root;
  const bool in_place = one.placing == Placing::in_place || one.operation == Operation::broadcast;
  // With one buffer it is the larger one, and the other lies in it.
  const std::size_t shift = shift_in_place(one, me.rank());
  Data in = buffers.input(one, counts.in);
  Data out = buffers.output(one, counts.out);
  const Data whole = counts.in > counts.out ? in : out;
  // At a root only: the others of a gather or scatter keep two buffers.
  const bool root_only = one.operation == Operation::gather || one.operation == Operation::scatter;
  if (in_place && (!root_only || is_root)) {
    if (counts.in < counts.out)
      in = out.slice(shift, counts.in);
    else if (counts.in > counts.out)
      out = in.slice(shift, counts.out);
    else if (!root_only)
      in = out;
  }
  const bool gives = !(one.operation == Operation::broadcast || one.operation == Operation::scatter) || is_root;
  const bool gets = !(one.operation == Operation::reduce || one.operation == Operation::gather) || is_root;
  const bool one_buffer = in.address() >= whole.address() && out.address() >= whole.address() &&
                          in.address() < whole.address() + std::max<std::size_t>(1, whole.count()) && in_place &&
                          (!root_only || is_root);

  for (std::size_t i = 0; i < out.count(); ++i) write(out, i, kUntouched);
  if (!one_buffer || out.count() == whole.count()) {
    for (std::size_t i = 0; i < kGuardElements; ++i) write(out, out.count() + i, kGuard);
  }
  for (std::size_t i = 0; i < in.count(); ++i) write(in, i, gives ? contents.put_by(me.rank(), i) : kUntouched);

  maker(me, one, in, out);

  std::size_t wrong = 0;
  for (std::size_t i = 0; i < out.count(); ++i) {
    const std::uint64_t own = in_place && !root_only ? contents.put_by(me.rank(), i) : kUntouched;
    if (!holds(out, i, gets ? contents.comes_out(i) : own)) ++wrong;
  }
  if (!one_buffer || out.count() == whole.count()) {
    for (std::size_t i = 0; i < kGuardElements; ++i) wrong += holds(out, out.count() + i, kGuard) ? 0 : 1;
  }
  if (!in_place) {
    for (std::size_t i = 0; i < in.count(); ++i)
      wrong += holds(in, i, gives ? contents.put_by(me.rank(), i) : kUntouched) ? 0 : 1;
  }
  // What belongs to the caller again may be changed at once.
  for (std::size_t i = 0; i < in.count(); ++i) write(in, i, kScribble);
  for (std::size_t i = 0; i < out.count(); ++i) write(out, i, kScribble);
  return wrong;
}

}  // namespace baton::test
