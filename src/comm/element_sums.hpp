// Changes of elements that ranks of other hosts want in this rank's memory: as their kernels would make them if they
// could reach it.
#pragma once

#include <cstddef>
#include <span>

#include <baton/collective_types.hpp>

#include "wire/path_message.hpp"

namespace baton::comm {

/// Each of the elements at `to` becomes itself changed by the one of `values`, one at a time, so that others may do the
/// same meanwhile; those that are replaced, of any kind, all at once. Relaxed: a signal that follows publishes them.
/// False if kernels do not change such elements so, or the bytes are not a whole number of them.
[[nodiscard]] bool change_elements(wire::ElementChange change, Element element, std::byte* to,
                                   std::span<const std::byte> values) noexcept;

/// Adds `addends` to the elements at `to`: the same.
[[nodiscard]] inline bool add_elements(Element element, std::byte* to, std::span<const std::byte> addends) noexcept {
  return change_elements(wire::ElementChange::add, element, to, addends);
}

}  // namespace baton::comm
