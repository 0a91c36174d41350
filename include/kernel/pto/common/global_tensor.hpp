// GlobalTensor: a view of up to five dimensions of global memory. Owns nothing.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/elements.hpp>
#include <pto/common/enums.hpp>
#include <pto/common/shape.hpp>

namespace pto {

template <typename Element, typename ShapeOfTensor, typename StrideOfTensor, Layout LayoutOfTensor = Layout::ND>
class GlobalTensor {
 public:
  using Shape = ShapeOfTensor;
  using Stride = StrideOfTensor;
  using DType = Element;
  using RawDType = std::remove_cv_t<Element>;
  static_assert(!baton::kernel::is_mx_element<RawDType> && LayoutOfTensor != Layout::MX_A_ZZ &&
                    LayoutOfTensor != Layout::MX_B_NN,
                "GlobalTensor: MX formats are not supported");
  static_assert(baton::kernel::is_element<RawDType> || baton::kernel::is_mx_element<RawDType>,
                "GlobalTensor: not an element type");

  static constexpr Layout layout = LayoutOfTensor;
  static constexpr int64_t staticShape[5] = {Shape::staticShape[0], Shape::staticShape[1], Shape::staticShape[2],
                                             Shape::staticShape[3], Shape::staticShape[4]};
  static constexpr int64_t staticStride[5] = {Stride::staticStride[0], Stride::staticStride[1], Stride::staticStride[2],
                                              Stride::staticStride[3], Stride::staticStride[4]};

  constexpr GlobalTensor() = default;
  constexpr AICORE GlobalTensor(DType* data, const Shape& shape = {}, const Stride& stride = {})  // NOLINT
      : data_(data), shape_(shape), stride_(stride) {}

  constexpr AICORE DType* data() const { return data_; }

  constexpr AICORE int64_t GetShape(int dim) const { return shape_.shape[dim]; }
  constexpr AICORE int64_t GetStride(int dim) const { return stride_.stride[dim]; }

  template <int dim>
  static constexpr AICORE int64_t GetShape() {
    static_assert(staticShape[dim] != DYNAMIC, "GetShape<dim>() is for sizes that the type fixes; use GetShape(dim)");
    return staticShape[dim];
  }
  template <int dim>
  static constexpr AICORE int64_t GetStride() {
    static_assert(staticStride[dim] != DYNAMIC,
                  "GetStride<dim>() is for strides that the type fixes; use GetStride(dim)");
    return staticStride[dim];
  }

  template <int dim>
  constexpr AICORE void SetShape(int64_t value) {
    static_assert(staticShape[dim] == DYNAMIC, "SetShape<dim>(): the type fixes this size");
    shape_.shape[dim] = value;
  }
  template <int dim>
  constexpr AICORE void SetStride(int64_t value) {
    static_assert(staticStride[dim] == DYNAMIC, "SetStride<dim>(): the type fixes this stride");
    stride_.stride[dim] = value;
  }

  /// TASSIGN.
  constexpr AICORE void set_data(DType* data) { data_ = data; }

 private:
  DType* data_ = nullptr;
  Shape shape_;
  Stride stride_;
};

}  // namespace pto

namespace baton::kernel {

template <typename Type>
struct IsGlobalTensor : std::false_type {};
template <typename Element, typename Shape, typename Stride, pto::Layout kLayout>
struct IsGlobalTensor<pto::GlobalTensor<Element, Shape, Stride, kLayout>> : std::true_type {};

template <typename Type>
inline constexpr bool is_global_tensor = IsGlobalTensor<std::remove_cv_t<Type>>::value;

}  // namespace baton::kernel
