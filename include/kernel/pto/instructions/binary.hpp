// Elementwise instructions on two tiles: (dst, src0, src1).
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/elementwise.hpp>

namespace pto {

#define PTO_BINARY(NAME, OPERATION, ACCEPTS, TYPES)                                       \
  template <typename Dst, typename Src0, typename Src1>                                   \
  AICORE RecordEvent NAME(Dst& dst, Src0& src0, Src1& src1,                               \
                          baton::kernel::Where where = baton::kernel::Where::current()) { \
    using namespace baton::kernel;                                                        \
    static_assert(ACCEPTS<typename Dst::DType>, #NAME " takes " TYPES);                   \
    require_elementwise<Dst, Src0, Src1>();                                               \
    combine_tiles(#NAME, where, dst, src0, src1, OPERATION{});                            \
    return {};                                                                            \
  }                                                                                       \
  PTO_WITH_EVENTS(NAME)

PTO_BINARY(TADD, AddNumbers, is_vector_number, "half, float, int16, int32")
PTO_BINARY(TSUB, SubtractNumbers, is_vector_number, "half, float, int16, int32")
PTO_BINARY(TMUL, MultiplyNumbers, is_vector_number, "half, float, int16, int32")
PTO_BINARY(TMAX, LargerNumber, is_vector_number, "half, float, int16, int32")
PTO_BINARY(TMIN, SmallerNumber, is_vector_number, "half, float, int16, int32")
PTO_BINARY(TDIV, DivideNumbers, is_vector_real, "half, float")
PTO_BINARY(TAND, AndBits, is_whole, "integers")
PTO_BINARY(TOR, OrBits, is_whole, "integers")
PTO_BINARY(TSHL, ShiftLeft, is_whole, "integers")
PTO_BINARY(TSHR, ShiftRight, is_whole, "integers")

#undef PTO_BINARY

}  // namespace pto
