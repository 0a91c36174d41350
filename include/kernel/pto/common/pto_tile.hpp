// The types of kernels: elements, shapes, tensors, tiles.
#include <pto/target/qualifiers.hpp>
#ifndef PTO_COMMON_PTO_TILE_HPP
#define PTO_COMMON_PTO_TILE_HPP

#include <pto/common/bfloat16.hpp>
#include <pto/common/enums.hpp>
#include <pto/common/global_tensor.hpp>
#include <pto/common/half.hpp>
#include <pto/common/shape.hpp>
#include <pto/common/tile.hpp>

#endif
