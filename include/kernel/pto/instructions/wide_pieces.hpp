// Elements that are not calculated with as they are, a piece at a time: widened to float, calculated, narrowed.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <stddef.h>
#include <pto/common/elements.hpp>
#include <pto/target/compiler.hpp>

namespace baton::kernel {

inline constexpr size_t kWidePiece = 128;

template <typename Real>
PTO_SHARED AICORE void widen(float* __restrict wide, const Real* __restrict from, size_t count) {
  constexpr size_t kStep = 16;
  size_t done = 0;
  for (; done + kStep <= count; done += kStep) {
    PTO_VECTOR_LOOP
    for (size_t k = 0; k < kStep; ++k) wide[done + k] = static_cast<float>(from[done + k]);
  }
  for (; done < count; ++done) wide[done] = static_cast<float>(from[done]);
}

/// Ties to even.
template <typename Real>
PTO_SHARED AICORE void narrow_to_nearest(Real* __restrict to, const float* __restrict wide, size_t count) {
  constexpr size_t kStep = 16;
  size_t done = 0;
  for (; done + kStep <= count; done += kStep) {
    PTO_VECTOR_LOOP
    for (size_t k = 0; k < kStep; ++k) to[done + k] = static_cast<Real>(wide[done + k]);
  }
  for (; done < count; ++done) to[done] = static_cast<Real>(wide[done]);
}

}  // namespace baton::kernel
