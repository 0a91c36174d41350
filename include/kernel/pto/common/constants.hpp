// The constants of kernels, with the types they describe.
#include <pto/target/qualifiers.hpp>
#ifndef PTO_COMMON_CONSTANTS_HPP
#define PTO_COMMON_CONSTANTS_HPP

#include <pto/common/pto_tile.hpp>

#endif
