// Matrix products of a GPU's matrix unit: tiles of Mat that it reads are kept in shared memory, Left and Right are
// views of them, and sums stay in registers from product to product. What does not understand this settles it first:
// then every tile lies in its buffer as on a chip. A host has no such unit.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stdint.h>
#include <pto/common/elements.hpp>
#include <pto/target/compiler.hpp>

namespace baton::kernel {

#if defined(__CUDACC__)
inline constexpr bool kMatrixUnit = true;
/// Defined in pto/target/cuda/matrix_unit.hpp. Tiles of Mat, Left, Right and Acc are where their addresses say.
__device__ void settle_matrices();
/// Before a Vec tile is given a place.
__device__ void settle_for_vec();
#else
inline constexpr bool kMatrixUnit = false;
inline void settle_matrices() {}
inline void settle_for_vec() {}
#endif

/// What the matrix unit multiplies.
template <typename Element>
inline constexpr bool is_factor = sizeof(Element) == 2 && is_one_of<Element, half, bfloat16_t>;

}  // namespace baton::kernel
