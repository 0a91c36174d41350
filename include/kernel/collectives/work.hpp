// One collective as an algorithm sees it, and how data is shared out.
//
// An algorithm is a function template over a mover, which knows a rank's memory and how to wait. The mover of host
// programs is in src/collectives, that of kernels in member.hpp. Its verbs:
//   rank(), size()
//   meet()                  returns when all have called it; each then sees what the others wrote before
//   step(), tell(peer)      makes one more step of this call, and says so to `peer`
//   wait_step(peer, steps)  until `peer` has made `steps` steps, and sees what it wrote before
//   at(view, rank)          the address of that rank's part, as it is reached from here
//   copy(to, from, bytes)
//   combine(to, sources, source, count, work, divisor)
//                           to = source(0) op source(1) op ...; `to` may be one of them; a divisor above 1 divides it
// In the cost lines P is the number of ranks, N the bytes of a vector, n those of a block, b what a meeting costs.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <baton/comm_context.h>
#include <baton/collective_types.hpp>
#include <cstddef>
#include <cstdint>

namespace baton::collectives {

enum class Operation : std::uint8_t {
  barrier,
  broadcast,
  reduce,
  allreduce,
  reduce_scatter,
  allgather,
  gather,
  scatter,
  all_to_all,
  all_to_all_v,
};

/// Who reaches a place.
enum class Reach : std::uint8_t { this_rank, all_ranks };

/// The same place on every rank, or a place of this rank alone.
struct View {
  std::byte* mine = nullptr;
  Reach reach = Reach::this_rank;
  /// Where the mover needs more than `mine` to find the parts of others: their addresses, and an offset in all of them.
  std::byte* const* parts = nullptr;
  std::size_t offset = 0;
  /// Kernels: of the window in which it lies, if that is not the one of the member's room.
  const CommContext* window = nullptr;

  [[nodiscard]] AICORE bool shared() const noexcept { return reach == Reach::all_ranks; }
};

/// Whether the input may be overwritten as soon as an algorithm returns, or stays until all members have met again.
enum class InputLife : std::uint8_t { until_return, until_next_meeting };

struct Work {
  Element element = Element::uint8;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  /// Elements of the vector, or of one block where there is a block for each rank.
  std::size_t count = 0;
  std::size_t element_bytes = 1;
  View input;
  View output;
  /// Bytes from one block to the next.
  std::size_t input_stride = 0;
  std::size_t output_stride = 0;
  InputLife input_life = InputLife::until_return;
  /// Where the block lies that this rank gives to itself, if it need not pass through the input; or its vector, of
  /// which its own share has not.
  const std::byte* own = nullptr;

  [[nodiscard]] AICORE std::size_t bytes() const noexcept { return count * element_bytes; }
};

/// The most steps that a rank makes in a call of this algorithm; 0 for those that only meet.
[[nodiscard]] AICORE constexpr int most_steps(Algorithm algorithm, int ranks) noexcept {
  int logarithm = 0;
  while ((1 << logarithm) < ranks) ++logarithm;
  switch (algorithm) {
    case Algorithm::fetch:
    case Algorithm::read:
    case Algorithm::write: return 1;
    case Algorithm::tree: return 2;
    case Algorithm::ring:
    case Algorithm::bidirectional_ring: return 2 * ranks;
    case Algorithm::interleaved_ring: return ranks + 1;
    case Algorithm::recursive_halving: return 2 + 2 * logarithm;
    case Algorithm::bruck: return logarithm;
    case Algorithm::automatic:
    case Algorithm::exchange:
    case Algorithm::meeting:
    case Algorithm::eager:
    case Algorithm::one_phase:
    case Algorithm::mesh: break;
  }
  return 0;
}

/// What the last combine() of an element divides by.
template <class Mover>
[[nodiscard]] AICORE std::uint32_t divisor_of(const Work& work, const Mover& mover) noexcept {
  return work.op == ReduceOp::avg ? static_cast<std::uint32_t>(mover.size()) : 1;
}

/// Elements [first, first + count).
struct Share {
  std::size_t first;
  std::size_t count;
};

/// Share `index` of `shares` of `count` elements: whole cache lines but for the last one, so that no two ranks write to
/// the same line.
[[nodiscard]] AICORE constexpr Share share_of(std::size_t count, std::size_t element_bytes, int index,
                                              int shares) noexcept {
  constexpr std::size_t kLineBytes = 64;
  const std::size_t per_line = kLineBytes / element_bytes;
  const std::size_t lines = (count + per_line - 1) / per_line;
  const auto n = static_cast<std::size_t>(shares);
  const auto i = static_cast<std::size_t>(index);
  const std::size_t begin = lines * i / n * per_line;
  const std::size_t end = lines * (i + 1) / n * per_line;
  const std::size_t first = begin < count ? begin : count;
  return {first, (end < count ? end : count) - first};
}

/// The rank `distance` behind `rank`, or before it, round a ring of `size`.
[[nodiscard]] AICORE constexpr int around(int rank, int distance, int size) noexcept {
  return ((rank + distance) % size + size) % size;
}
template <class Mover>
[[nodiscard]] AICORE int around(const Mover& mover, int distance) noexcept {
  return around(mover.rank(), distance, mover.size());
}

/// Block `rank` of blocks that are `stride` bytes apart.
template <class Byte>
[[nodiscard]] AICORE Byte* block_at(Byte* base, int rank, std::size_t stride) noexcept {
  return base + static_cast<std::size_t>(rank) * stride;
}

/// Block `block` of the input of `peer`, for this rank.
template <class Mover>
[[nodiscard]] AICORE const std::byte* block_from(const Mover& mover, const Work& work, int peer, int block) {
  if (peer == mover.rank() && work.own != nullptr) return work.own;
  return block_at(mover.at(work.input, peer), block, work.input_stride);
}

/// Whether the input and the output of a call may lie like this: apart, or so that a rank replaces only what nobody
/// needs any more, at the same place or as its own block of the other.
[[nodiscard]] AICORE inline bool lie_apart(Operation operation, int rank, const std::byte* in, std::size_t in_bytes,
                                           const std::byte* out, std::size_t out_bytes) noexcept {
  const auto in_at = reinterpret_cast<std::uintptr_t>(in);
  const auto out_at = reinterpret_cast<std::uintptr_t>(out);
  if (in_at + in_bytes <= out_at || out_at + out_bytes <= in_at || in_bytes == 0 || out_bytes == 0) return true;
  switch (operation) {
    case Operation::broadcast:
    case Operation::reduce:
    case Operation::allreduce:
    case Operation::all_to_all:
    case Operation::barrier: return in_at == out_at;  // messages are barriers with data
    case Operation::reduce_scatter:
    case Operation::scatter: return block_at(in, rank, out_bytes) == out;
    case Operation::allgather:
    case Operation::gather: return block_at(out, rank, in_bytes) == in;
    case Operation::all_to_all_v: break;
  }
  return false;
}

/// to = first op second.
template <class Mover>
AICORE void combine_two(Mover& mover, const Work& work, std::byte* to, const std::byte* first, const std::byte* second,
                        std::size_t count, std::uint32_t divisor) {
  mover.combine(
      to, 2, [=](int index) { return index == 0 ? first : second; }, count, work, divisor);
}

}  // namespace baton::collectives
