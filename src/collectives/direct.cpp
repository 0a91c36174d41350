#include "collectives/direct.hpp"

#include <functional>
#include <string>

#include "collectives/call.hpp"

namespace baton::collectives {

DirectNeeds direct_needs(Operation operation) {
  switch (operation) {
    case Operation::allreduce:
    case Operation::reduce:
    case Operation::broadcast: return {true, true};
    case Operation::reduce_scatter:
    case Operation::scatter: return {true, false};
    case Operation::allgather:
    case Operation::gather:
    case Operation::all_to_all:
    case Operation::all_to_all_v:
    case Operation::barrier: break;
  }
  return {false, true};
}

std::vector<std::byte*> parts_of(const RawWindow& window, int ranks) {
  std::vector<std::byte*> parts(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) parts[static_cast<std::size_t>(rank)] = window.part(rank);
  return parts;
}

std::uint64_t place_hash(const RawWindow& window, const std::byte* address) {
  const std::uint64_t name = std::hash<std::string>{}(window.name());
  return hash_with(hash_with(name, window.bytes()), static_cast<std::uint64_t>(address - window.local()));
}

}  // namespace baton::collectives
