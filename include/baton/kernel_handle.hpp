// Kernels as values: what a program submits.
//
// BATON_KERNEL (baton_kernel.hpp) defines one for each kernel that is linked into a program; this header is all that
// the files need that submit it.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <baton/kernel_abi.hpp>

namespace baton {

/// Parameters of kernels: tensors that are read, written, or both. Inside a kernel they are views of the tensor.
template <typename Element, int kDims = BATON_ANY_DIMS>
class In;
template <typename Element, int kDims = BATON_ANY_DIMS>
class Out;
template <typename Element, int kDims = BATON_ANY_DIMS>
class InOut;

/// Name, function, signature and core. What it points to lives as long as its library.
using Kernel = BatonKernelEntry;

/// A kernel whose parameters the compiler knows.
template <typename... Parameters>
struct TypedKernel : Kernel {};

/// What a parameter type says. Everything that is not In, Out or InOut is a scalar.
template <typename Parameter>
struct KernelParameter {
  static constexpr bool kIsTensor = false;
  static constexpr BatonDirection kDirection = BATON_DIRECTION_SCALAR;
  static constexpr int kDims = 0;
};

template <typename ElementType, int kGivenDims, BatonDirection kGivenDirection>
struct TensorParameter {
  using Element = ElementType;
  static constexpr bool kIsTensor = true;
  static constexpr BatonDirection kDirection = kGivenDirection;
  static constexpr int kDims = kGivenDims;
};
template <typename Element, int kGivenDims>
struct KernelParameter<In<Element, kGivenDims>> : TensorParameter<Element, kGivenDims, BATON_DIRECTION_IN> {};
template <typename Element, int kGivenDims>
struct KernelParameter<Out<Element, kGivenDims>> : TensorParameter<Element, kGivenDims, BATON_DIRECTION_OUT> {};
template <typename Element, int kGivenDims>
struct KernelParameter<InOut<Element, kGivenDims>> : TensorParameter<Element, kGivenDims, BATON_DIRECTION_INOUT> {};

/// A scalar argument as a kernel receives it: its bytes are the lowest of the slot. Integers fill it with their sign,
/// as raw kernels read them at any width.
template <typename Scalar>
[[nodiscard]] std::int64_t scalar_slot(const Scalar& value) noexcept {
  static_assert(std::is_trivially_copyable_v<Scalar> && sizeof(Scalar) <= sizeof(std::int64_t),
                "a scalar argument of a kernel is trivially copyable and has at most 8 bytes");
  if constexpr (std::is_integral_v<Scalar>) {
    return static_cast<std::int64_t>(value);
  } else {
    std::int64_t slot = 0;
    std::memcpy(&slot, &value, sizeof value);
    return slot;
  }
}

/// TypedKernel<P...> from void(P...), whose parameters may have names.
template <typename Function>
struct KernelOfFunction;
template <typename... Parameters>
struct KernelOfFunction<void(Parameters...)> {
  using type = TypedKernel<Parameters...>;
};

}  // namespace baton

/// Declares a kernel that another file of the program defines:
///   BATON_KERNEL_DECLARE(scale, baton::In<float> x, baton::Out<float> y, float factor);
/// The symbol has a name of its own, lest a kernel called `send` take the place of a function of the C library.
#define BATON_KERNEL_DECLARE(name, ...) \
  extern const ::baton::KernelOfFunction<void(__VA_ARGS__)>::type name __asm__("baton_kernel_handle_" #name)
