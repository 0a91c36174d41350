// Members of a room that call different things: what they call, and what all of them must learn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <baton/collective_types.hpp>
#include <baton/domain.hpp>

#include "collectives/call.hpp"

namespace baton::test {

/// Where collectives are called.
enum class Level : std::uint8_t { kernel, graph };

/// A collective, or a message.
struct ChipCall {
  collectives::Operation operation = collectives::Operation::allreduce;
  Element element = Element::float32;
  ReduceOp op = ReduceOp::sum;
  int root = 0;
  Algorithm algorithm = Algorithm::automatic;
  std::int64_t count = 100;
  /// A message: who else takes part; -1: nobody.
  int to = -1;
  int from = -1;

  [[nodiscard]] bool is_message() const noexcept { return to >= 0 || from >= 0; }
};

struct Disagreement {
  std::string name;
  std::vector<ChipCall> common;  // what the others call, one after the other
  std::vector<ChipCall> odd;     // what the last rank calls
  /// Parts of the error on every rank.
  std::vector<std::string> common_text;
  std::vector<std::string> odd_text;
};

/// For `ranks` ranks, of which the last one is odd.
[[nodiscard]] std::vector<Disagreement> disagreements(int ranks, Level level);

/// Makes the calls of this rank, then a barrier, and checks what it learns of. Collective; `seed` of 0: none.
void disagree(Domain& me, Level level, const Disagreement& what, std::uint64_t seed = 0);

/// Calls of several kinds for ever: until an error ends them.
[[noreturn]] void repeat_calls(Domain& me, Level level);

}  // namespace baton::test
