// One collective of one kind, with data whose result is known: how many elements are wrong?
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <baton/collectives.hpp>
#include <baton/domain.hpp>
#include <baton/started_collectives.hpp>

#include "collectives/call.hpp"

namespace baton::test {

enum class Memory : std::uint8_t { windows, own, input_in_window, output_in_window };
enum class Placing : std::uint8_t { in_place, out_of_place };

struct Case {
  collectives::Operation operation = collectives::Operation::allreduce;
  Element element = Element::float32;
  ReduceOp op = ReduceOp::sum;
  /// Elements of the vector, or of a block.
  std::size_t count = 0;
  int root = 0;
  Memory memory = Memory::own;
  Placing placing = Placing::out_of_place;
  Algorithm algorithm = Algorithm::automatic;
  std::chrono::nanoseconds timeout{0};
};

[[nodiscard]] std::string describe(const Case& one);

/// Whether the operation has two buffers that may be one.
[[nodiscard]] bool may_be_in_place(collectives::Operation operation);

/// The buffers of one rank, in windows and outside, large enough for `bytes` in each direction. Making them is a
/// collective call.
class Buffers {
 public:
  Buffers(Domain& me, std::size_t bytes);
  [[nodiscard]] Data input(const Case& one, std::size_t count) const;
  [[nodiscard]] Data output(const Case& one, std::size_t count) const;
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::size_t bytes_;
  RawWindow in_window_;
  RawWindow out_window_;
  mutable std::vector<std::uint64_t> in_own_;
  mutable std::vector<std::uint64_t> out_own_;
};

/// What makes the call; the public functions unless a test puts something in front.
using Maker = std::function<void(const Domain& me, const Case& one, ConstData in, Data out)>;
void call_public(const Domain& me, const Case& one, ConstData in, Data out);
/// The same with the functions that return at once.
[[nodiscard]] Event start_public(const Domain& me, const Case& one, ConstData in, Data out);

/// Fills the buffers, makes the call and counts the elements that are wrong: in the result, behind it, and in an input
/// that had to stay. Then writes over all of it, as a program may. `round` varies the contents.
[[nodiscard]] std::size_t wrong_elements(Domain& me, const Buffers& buffers, const Case& one, int round,
                                         const Maker& maker = call_public);

/// Bytes of the larger buffer of `one`.
[[nodiscard]] std::size_t bytes_of(const Case& one, int ranks);

}  // namespace baton::test
