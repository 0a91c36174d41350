// Which algorithms there are, and which one is taken.
#pragma once

#include <string_view>

#include "collectives/call.hpp"
#include "collectives/mover.hpp"
#include "collectives/table_file.hpp"

namespace baton::collectives {

/// What an algorithm needs.
enum class Needs : std::uint8_t {
  contributions,  // slots of the scratch window
  data,           // inputs or outputs of the others, as they are or staged; whichever the operation says
  other_output,   // the same, and an output that is not the input
  staged_input,   // inputs of the others that it may overwrite
  outputs,        // it works in the outputs of all ranks
  memory,         // all memory of all ranks
};

struct AlgorithmInfo {
  Operation operation;
  Algorithm algorithm;
  Needs needs;
  /// Null where it is more than a function of a mover: run_read.cpp, run_all_to_all_v.cpp.
  void (*run)(Mover& mover, const Work& work);
};

/// Whether the algorithm takes contributions of `bytes` bytes: slots have an end. `memory` says who reaches all that of
/// a rank.
[[nodiscard]] bool takes(const AlgorithmInfo& algorithm, std::size_t bytes, Reach memory) noexcept;
/// Nothing: this operation cannot be done so.
[[nodiscard]] const AlgorithmInfo* find_algorithm(Operation operation, Algorithm algorithm) noexcept;
[[nodiscard]] std::span<const AlgorithmInfo> all_algorithms() noexcept;

/// The algorithm for `bytes` (a rank's whole contribution) on `ranks` ranks: from the table that BATON_COLLECTIVE_TABLE
/// names, where it says something, else from the one that Baton came with. Throws bad_option for a table that makes no
/// sense.
[[nodiscard]] const AlgorithmInfo& select_algorithm(Operation operation, std::size_t bytes, int ranks,
                                                    Location location, Reach memory);
/// The same from the table that Baton came with.
[[nodiscard]] const AlgorithmInfo& default_algorithm(Operation operation, std::size_t bytes, int ranks,
                                                     Location location, Reach memory) noexcept;

/// What BATON_COLLECTIVE says about `operation`, or automatic. Throws bad_option for a text that makes no sense.
[[nodiscard]] Algorithm forced_by_environment(Operation operation);
/// For tests: the same for a given text.
[[nodiscard]] Algorithm forced_by(std::string_view text, Operation operation);

}  // namespace baton::collectives
