// What makes a shared library a kernel library. `baton compile` puts it in front of every kernel source; a library that
// is built in another way says `-include baton/kernel_library.hpp`.
// Not for the program that loads kernels: it would define these symbols there.
#pragma once

#include <baton/kernel_abi.hpp>

#if !defined(__CUDACC__)
// Weak: a library of several source files has them once.
#define BATON_KERNEL_EXPORTED __attribute__((weak, visibility("default")))
#define BATON_KERNEL_PRIVATE __attribute__((weak, visibility("hidden")))

extern "C" {

BATON_KERNEL_EXPORTED extern const uint32_t baton_kernel_abi_version;
const uint32_t baton_kernel_abi_version = BATON_KERNEL_ABI_VERSION;

// The linker defines both if there is such a section.
extern BatonKernelEntry __start_baton_kernels BATON_KERNEL_PRIVATE;
extern BatonKernelEntry __stop_baton_kernels BATON_KERNEL_PRIVATE;

BATON_KERNEL_EXPORTED extern const BatonKernelTable baton_kernel_table;
const BatonKernelTable baton_kernel_table = {BATON_KERNEL_ABI_VERSION, sizeof(BatonKernelEntry), &__start_baton_kernels,
                                             &__stop_baton_kernels};

BATON_KERNEL_PRIVATE extern BatonCoreProvider baton_kernel_core_provider;
BatonCoreProvider baton_kernel_core_provider = nullptr;

BATON_KERNEL_EXPORTED void baton_kernel_bind_core(BatonCoreProvider provider);
void baton_kernel_bind_core(BatonCoreProvider provider) { baton_kernel_core_provider = provider; }

// Defined here and not in the program, so that a kernel needs nothing from the program that loads it: a program exports
// its symbols to libraries only if it was linked for that, a Python module never does.
__attribute__((visibility("hidden"))) inline BatonCore* baton_core_current() { return baton_kernel_core_provider(); }
}
#endif
