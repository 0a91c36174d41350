// Shape and Stride of a tensor in global memory: five sizes, each part of the type or set at run time.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/enums.hpp>
#include <type_traits>

namespace baton::kernel {

/// Writes `values` to `sizes`: all five of them, where those that the type fixes keep the type's value, or as many as
/// the type leaves open.
template <int64_t... Fixed, typename... Values>
constexpr AICORE void set_sizes(int64_t (&sizes)[5], Values... values) {
  constexpr int64_t kFixed[5] = {Fixed...};
  const int64_t given[sizeof...(Values) + 1] = {static_cast<int64_t>(values)..., 0};
  int next = 0;
  for (int i = 0; i < 5; ++i) {
    const bool open = kFixed[i] == pto::DYNAMIC;
    if (sizeof...(Values) == 5) next = i;
    sizes[i] = !open ? kFixed[i] : sizeof...(Values) == 0 ? 1 : given[next++];
  }
}

template <int64_t... Fixed>
inline constexpr int open_sizes = ((Fixed == pto::DYNAMIC ? 1 : 0) + ...);

template <int64_t... Fixed>
struct SizesOf {
  template <typename... Values>
  static constexpr bool accept = sizeof...(Values) > 0 && (std::is_convertible_v<Values, int64_t> && ...) &&
                                 (sizeof...(Values) == 5 || sizeof...(Values) == open_sizes<Fixed...>);
};

}  // namespace baton::kernel

namespace pto {

template <int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC, int64_t N5 = DYNAMIC>
struct Shape {
  static constexpr int64_t staticShape[5] = {N1, N2, N3, N4, N5};
  int64_t shape[5];

  constexpr AICORE Shape() { baton::kernel::set_sizes<N1, N2, N3, N4, N5>(shape); }
  template <typename... Values>
  requires(baton::kernel::SizesOf<N1, N2, N3, N4, N5>::template accept<Values...>) constexpr AICORE
      Shape(Values... values) {  // NOLINT(google-explicit-constructor)
    baton::kernel::set_sizes<N1, N2, N3, N4, N5>(shape, values...);
  }
};

/// Counts elements.
template <int64_t N1 = DYNAMIC, int64_t N2 = DYNAMIC, int64_t N3 = DYNAMIC, int64_t N4 = DYNAMIC, int64_t N5 = DYNAMIC>
struct Stride {
  static constexpr int64_t staticStride[5] = {N1, N2, N3, N4, N5};
  int64_t stride[5];

  constexpr AICORE Stride() { baton::kernel::set_sizes<N1, N2, N3, N4, N5>(stride); }
  template <typename... Values>
  requires(baton::kernel::SizesOf<N1, N2, N3, N4, N5>::template accept<Values...>) constexpr AICORE
      Stride(Values... values) {  // NOLINT(google-explicit-constructor)
    baton::kernel::set_sizes<N1, N2, N3, N4, N5>(stride, values...);
  }
};

}  // namespace pto
