// What kernels with MX formats use beside their types. Each use is refused by name.
#include <pto/target/qualifiers.hpp>
#ifndef PTO_NPU_A5_UTILS_HPP
#define PTO_NPU_A5_UTILS_HPP

#include <pto/common/enums.hpp>
#include <pto/common/mx.hpp>

namespace pto {

template <typename Element, int Rows, int Cols, Layout layout>
struct TileShape2D {
  PTO_REFUSE_MX("TileShape2D", Element);
};
template <typename Element, int Rows, int Cols, Layout layout>
struct BaseShape2D {
  PTO_REFUSE_MX("BaseShape2D", Element);
};
template <typename Element, int Rows, int Cols, int ValidRow = Rows, int ValidCol = Cols>
struct TileLeftScale {
  PTO_REFUSE_MX("TileLeftScale", Element);
};
template <typename Element, int Rows, int Cols, int ValidRow = Rows, int ValidCol = Cols>
struct TileRightScale {
  PTO_REFUSE_MX("TileRightScale", Element);
};

template <typename Pointer>
AICORE uint64_t GetScaleAddr(Pointer) {
  PTO_REFUSE_MX("GetScaleAddr", Pointer);
  return 0;
}

template <typename Acc, typename Left, typename LeftScale, typename Right, typename RightScale>
AICORE void TMATMUL_MX(Acc&, Left&, LeftScale&, Right&, RightScale&) {
  PTO_REFUSE_MX("TMATMUL_MX", Acc);
}

}  // namespace pto

#endif
