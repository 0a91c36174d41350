// BATON_KERNEL: a kernel whose parameters have names, directions and types.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <typed/call.hpp>

/// BATON_KERNEL(scale, In<float> x, Out<float, 2> y, float factor) { ... }
///
/// At namespace scope, once per program for each name. Makes
/// - the raw kernel baton_kernel_scale(int64_t* args): tensors first, then scalars, each in the order written;
/// - `scale`, a baton::TypedKernel<...> to submit, which other files see after BATON_KERNEL_DECLARE;
/// - an entry "scale" with the signature in the table of the library.
/// The core is the one that the file is compiled for; without that, a vector core. BATON_CUBE_KERNEL is for cube cores.
#define BATON_KERNEL(name, ...) BATON_TYPED_KERNEL(name, BATON_KERNEL_CORE, __VA_ARGS__)
#define BATON_CUBE_KERNEL(name, ...) BATON_TYPED_KERNEL(name, BATON_CORE_CUBE, __VA_ARGS__)

// The body is a member of a struct that knows In, Out and InOut: no name of ours has to be global. Texts are results of
// functions: code of a device reaches no arrays of the host.
#define BATON_TYPED_KERNEL(kernel_name, kernel_core, ...)                     \
  struct baton_body_of_##kernel_name : ::baton::kernel::KernelFrame {         \
    AICORE void run(__VA_ARGS__) const;                                       \
  };                                                                          \
  struct baton_declaration_of_##kernel_name {                                 \
    using Body = baton_body_of_##kernel_name;                                 \
    static constexpr PTO_ANYWHERE const char* name() { return #kernel_name; } \
    static constexpr PTO_ANYWHERE auto& text() { return #__VA_ARGS__; }       \
    static constexpr PTO_ANYWHERE const char* file() { return __FILE__; }     \
    static constexpr PTO_ANYWHERE uint32_t line() { return __LINE__; }        \
  };                                                                          \
  extern "C" AICORE void baton_kernel_##kernel_name(int64_t* args);           \
  BATON_TYPED_KERNEL_HANDLE(kernel_name, kernel_core)                         \
  extern "C" AICORE void baton_kernel_##kernel_name(int64_t* args) {          \
    ::baton::kernel::call_typed<baton_declaration_of_##kernel_name>(args);    \
  }                                                                           \
  AICORE void baton_body_of_##kernel_name::run(__VA_ARGS__) const

#if defined(__CUDACC__) || defined(BATON_FOR_ASCEND)
// The host finds device code by the name of the function.
#define BATON_TYPED_KERNEL_HANDLE(kernel_name, kernel_core)
#else
#define BATON_TYPED_KERNEL_HANDLE(kernel_name, kernel_core)                                                           \
  extern const ::baton::kernel::TypedSignature<baton_declaration_of_##kernel_name>::Handle kernel_name __asm__(       \
      "baton_kernel_handle_" #kernel_name);                                                                           \
  constexpr ::baton::kernel::TypedSignature<baton_declaration_of_##kernel_name>::Handle kernel_name = {               \
      {#kernel_name, &baton_kernel_##kernel_name,                                                                     \
       &::baton::kernel::TypedSignature<baton_declaration_of_##kernel_name>::signature, kernel_core, 0}};             \
  BATON_KERNEL_REGISTER(baton_kernel_entry_##kernel_name, #kernel_name, &baton_kernel_##kernel_name,                  \
                        &::baton::kernel::TypedSignature<baton_declaration_of_##kernel_name>::signature, kernel_core, \
                        0);
#endif
