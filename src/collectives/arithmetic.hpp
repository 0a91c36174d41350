// Reducing elements: the only place that computes with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <baton/collectives.hpp>

namespace baton::collectives {

/// to[i] = from[0][i] op from[1][i] op ..., from left to right, divided by `divisor` if it is above 1. `to` may be one
/// of `from`; other overlaps are not allowed.
void reduce_elements(std::byte* to, std::span<const std::byte* const> from, std::size_t count, Element element,
                     ReduceOp op, std::uint32_t divisor);

// One family of element types each.
void reduce_floats(std::byte* to, std::span<const std::byte* const> from, std::size_t count, Element element,
                   ReduceOp op, std::uint32_t divisor);
void reduce_narrow_floats(std::byte* to, std::span<const std::byte* const> from, std::size_t count, Element element,
                          ReduceOp op, std::uint32_t divisor);
void reduce_integers(std::byte* to, std::span<const std::byte* const> from, std::size_t count, Element element,
                     ReduceOp op, std::uint32_t divisor);

}  // namespace baton::collectives
