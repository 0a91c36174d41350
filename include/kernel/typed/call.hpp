// From the raw arguments of a kernel to its typed ones.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <baton/kernel_types.hpp>
#include <typed/signature.hpp>

namespace baton::kernel {

/// What the body of a typed kernel sees beside its parameters.
struct KernelFrame {
  template <typename Element, int kDims = BATON_ANY_DIMS>
  using In = baton::In<Element, kDims>;
  template <typename Element, int kDims = BATON_ANY_DIMS>
  using Out = baton::Out<Element, kDims>;
  template <typename Element, int kDims = BATON_ANY_DIMS>
  using InOut = baton::InOut<Element, kDims>;

  /// The raw arguments, for get_block_idx(args) and its like.
  int64_t* args;
};

/// What is checked of a kernel's arguments, and where it stands.
struct TypedCall {
  BatonPlace place;
  const char* text;  // of the parameters
};

/// "argument 2 'y' is Out<float>, got ...": `got` are words and numbers.
template <typename... Got>
[[noreturn]] PTO_COLD AICORE void fail_argument(const TypedCall& call, size_t index,
                                                const BatonKernelParameter& parameter, Got... got) {
  const NameRange range = name_in(call.text, index);
  Message name;
  for (size_t i = range.first; i < range.end; ++i) name.add_character(call.text[i]);
  fail(call.place, BATON_KERNEL_INVALID_ARGUMENT, "argument ", index + 1, " '", name.text(), "' is ",
       direction_name(parameter.direction), "<", type_name(parameter.type), ">, got ", got...);
}

AICORE inline void check_tensor(const TypedCall& call, size_t index, const BatonKernelParameter& parameter,
                                const ChipTensor* tensor) {
  if (tensor == nullptr) fail_argument(call, index, parameter, "no tensor");
  if (static_cast<uint32_t>(tensor->dtype) != parameter.type) {
    fail_argument(call, index, parameter, "a tensor of ", type_name(static_cast<uint32_t>(tensor->dtype)));
  }
  if (tensor->ndims < 1 || tensor->ndims > 5) {
    fail_argument(call, index, parameter, "a tensor of ", tensor->ndims, " dimensions; 1 to 5 are possible");
  }
  if (parameter.dims != BATON_ANY_DIMS && static_cast<int32_t>(tensor->ndims) != parameter.dims) {
    fail_argument(call, index, parameter, "a tensor of ", tensor->ndims, " dimensions instead of ", parameter.dims);
  }
}

template <typename Parameter>
PTO_INLINE AICORE Parameter unpack(int64_t slot) {
  if constexpr (KernelParameter<Parameter>::kIsTensor) {
    return Parameter(reinterpret_cast<const ChipTensor*>(slot));
  } else {
    return from_u64<Parameter>(static_cast<uint64_t>(slot));
  }
}

template <typename Signature, typename Body, typename... Parameters, size_t... kIndices>
PTO_INLINE AICORE void call_body(const Body& body, void (Body::*run)(Parameters...) const, const TypedCall& call,
                                 std::index_sequence<kIndices...>) {
  static constexpr typename Signature::List kList = Signature::make_list();
  if (kChecks) {
    const auto check = [&](size_t index, const BatonKernelParameter& parameter) {
      if (parameter.direction == BATON_DIRECTION_SCALAR) return;
      check_tensor(call, index, parameter, reinterpret_cast<const ChipTensor*>(body.args[parameter.slot]));
    };
    (check(kIndices, kList.items[kIndices]), ...);
  }
  (body.*run)(unpack<Parameters>(body.args[kList.items[kIndices].slot])...);
}

/// Checks the tensors and runs the author's code.
template <typename Declaration>
PTO_INLINE AICORE void call_typed(int64_t* args) {
  using Signature = TypedSignature<Declaration>;
  static constexpr TypedCall kCall = {{Declaration::name(), Declaration::file(), Declaration::line(), 0},
                                      Declaration::text()};
  const typename Declaration::Body body{{args}};
  call_body<Signature>(body, &Declaration::Body::run, kCall, std::make_index_sequence<Signature::kCount>());
}

}  // namespace baton::kernel
