// Sums that ranks of other hosts want in this rank's memory: as their kernels would add if they could reach it.
#pragma once

#include <cstddef>
#include <span>

#include <baton/collective_types.hpp>

namespace baton::comm {

/// Adds `addends` to the elements at `to`, one at a time, so that others may do the same meanwhile. Relaxed: a signal
/// that follows publishes them. False if kernels do not add to such elements, or these are no whole number of them.
[[nodiscard]] bool add_elements(Element element, std::byte* to, std::span<const std::byte> addends) noexcept;

}  // namespace baton::comm
