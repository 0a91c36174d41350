// The functions of real numbers that instructions need. The compiler's names: <math.h> costs more to read than the rest
// of a kernel.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/target/compiler.hpp>

namespace baton::kernel {

#if defined(__CUDACC__)
PTO_INLINE AICORE float exponential(float x) { return ::expf(x); }
PTO_INLINE AICORE float logarithm(float x) { return ::logf(x); }
PTO_INLINE AICORE float square_root(float x) { return ::sqrtf(x); }
PTO_INLINE AICORE float absolute(float x) { return ::fabsf(x); }
PTO_INLINE AICORE float to_nearest_even(float x) { return ::rintf(x); }
PTO_INLINE AICORE float to_nearest_away(float x) { return ::roundf(x); }
PTO_INLINE AICORE float toward_minus(float x) { return ::floorf(x); }
PTO_INLINE AICORE float toward_plus(float x) { return ::ceilf(x); }
PTO_INLINE AICORE float toward_zero(float x) { return ::truncf(x); }
/// The product and the sum are rounded each, also where the compiler may fuse them.
PTO_INLINE AICORE float add_product(float sum, float a, float b) { return __fadd_rn(sum, __fmul_rn(a, b)); }
#else
PTO_INLINE AICORE float exponential(float x) { return __builtin_expf(x); }
PTO_INLINE AICORE float logarithm(float x) { return __builtin_logf(x); }
PTO_INLINE AICORE float square_root(float x) { return __builtin_sqrtf(x); }
PTO_INLINE AICORE float absolute(float x) { return __builtin_fabsf(x); }
PTO_INLINE AICORE float to_nearest_even(float x) { return __builtin_rintf(x); }
PTO_INLINE AICORE float to_nearest_away(float x) { return __builtin_roundf(x); }
PTO_INLINE AICORE float toward_minus(float x) { return __builtin_floorf(x); }
PTO_INLINE AICORE float toward_plus(float x) { return __builtin_ceilf(x); }
PTO_INLINE AICORE float toward_zero(float x) { return __builtin_truncf(x); }
PTO_INLINE AICORE float add_product(float sum, float a, float b) {
#if defined(__clang__)
#pragma clang fp contract(off)
#endif
  return sum + a * b;  // gcc has only an option for it, -ffp-contract
}
#endif

}  // namespace baton::kernel
