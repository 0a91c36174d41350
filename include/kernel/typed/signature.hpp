// The signature of a typed kernel, made from the types and the text of its parameters.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <intrinsic.h>
#include <typed/argument.hpp>
#include <typed/names.hpp>
#include <typed/types.hpp>
#include <utility>

namespace baton::kernel {

template <typename Parameter>
constexpr AICORE void check_parameter() {
  static_assert(!std::is_reference_v<Parameter>, "BATON_KERNEL: parameters are values, not references");
  if constexpr (KernelParameter<Parameter>::kIsTensor) {
    static_assert(is_tensor_element<typename KernelParameter<Parameter>::Element>,
                  "BATON_KERNEL: elements are float, half, bfloat16_t, bool and integers");
  } else {
    static_assert(std::is_trivially_copyable_v<Parameter> && sizeof(Parameter) <= 8,
                  "BATON_KERNEL: a scalar is trivially copyable and has at most 8 bytes");
  }
}

template <typename Parameter>
constexpr AICORE BatonType parameter_type() {
  if constexpr (KernelParameter<Parameter>::kIsTensor) {
    return type_of<typename KernelParameter<Parameter>::Element>();
  } else {
    return type_of<Parameter>();
  }
}

/// `Declaration` is what BATON_KERNEL makes of one kernel: its Body, and name(), text(), file() and line().
template <typename Declaration, typename Run = decltype(&Declaration::Body::run)>
struct TypedSignature;

template <typename Declaration, typename Body, typename... Parameters>
struct TypedSignature<Declaration, void (Body::*)(Parameters...) const> {
  using Handle = TypedKernel<Parameters...>;
  static constexpr size_t kCount = sizeof...(Parameters);
  static constexpr size_t kTensors = (size_t{0} + ... + (KernelParameter<Parameters>::kIsTensor ? 1 : 0));
  static_assert(kTensors <= PTO_MAX_TENSOR_ARGS, "BATON_KERNEL: more than 32 tensors");
  static_assert(kCount - kTensors <= PTO_MAX_SCALAR_ARGS, "BATON_KERNEL: more than 16 scalars");

  struct List {
    BatonKernelParameter items[kCount + 1];
  };

  /// Without names, which are the host's.
  static constexpr AICORE List make_list() {
    (check_parameter<Parameters>(), ...);
    List made = {{BatonKernelParameter{nullptr, KernelParameter<Parameters>::kDirection, parameter_type<Parameters>(),
                                       KernelParameter<Parameters>::kDims, 0}...,
                  BatonKernelParameter{}}};
    uint32_t next_tensor = 0;
    uint32_t next_scalar = kTensors;
    for (size_t i = 0; i < kCount; ++i) {
      made.items[i].slot = made.items[i].direction == BATON_DIRECTION_SCALAR ? next_scalar++ : next_tensor++;
    }
    return made;
  }

  static constexpr auto names = parameter_names<kCount>(Declaration::text());
  static constexpr List make_named_list() {
    List made = make_list();
    for (size_t i = 0; i < kCount; ++i) made.items[i].name = names[i];
    return made;
  }
  static constexpr List list = make_named_list();
  static constexpr BatonKernelSignature signature = {list.items, static_cast<uint32_t>(kCount), Declaration::line(),
                                                     Declaration::file()};
};

}  // namespace baton::kernel
