// Calls that use data in windows where it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <baton/window.hpp>
#include <collectives/work.hpp>

namespace baton::collectives {

/// Whether the algorithms of an operation need the inputs, or the outputs, of others.
struct DirectNeeds {
  bool input;
  bool output;
};
[[nodiscard]] DirectNeeds direct_needs(Operation operation);

/// Where the parts of the ranks are mapped.
[[nodiscard]] std::vector<std::byte*> parts_of(const RawWindow& window, int ranks);
/// Which window, and which place in it: equal on members that name the same.
[[nodiscard]] std::uint64_t place_hash(const RawWindow& window, const std::byte* address);

}  // namespace baton::collectives
