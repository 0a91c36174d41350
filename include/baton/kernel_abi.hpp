// What a kernel library and its loader agree on. docs/reference/kernel-libraries.md explains it.
#pragma once

#include <stdint.h>

extern "C" {

/// The version of everything in this header. A library is loaded only where this number is the same.
enum : uint32_t { BATON_KERNEL_ABI_VERSION = 1 };

/// A kernel, for one core.
using BatonKernelFunction = void (*)(int64_t* args);

/// One kernel that a library offers by name.
struct BatonKernelEntry {
  const char* name;
  BatonKernelFunction function;
};

/// All kernels that a library registered: [begin, end). Exported as `baton_kernel_table`.
struct BatonKernelTable {
  uint32_t abi_version;  // BATON_KERNEL_ABI_VERSION
  uint32_t entry_bytes;  // sizeof(BatonKernelEntry)
  const BatonKernelEntry* begin;
  const BatonKernelEntry* end;
};

struct BatonCore;

/// Says which core runs the calling kernel. Given to a library after it was loaded.
using BatonCoreProvider = BatonCore* (*)();
}

static_assert(sizeof(BatonKernelEntry) == 2 * sizeof(void*));
static_assert(sizeof(BatonKernelTable) == 8 + 2 * sizeof(void*));

/// Registers a function `extern "C" void name(int64_t*)` under its name. At namespace scope, after its declaration.
#define BATON_KERNEL_ENTRY(name) \
  __attribute__((used, section("baton_kernels"))) static BatonKernelEntry baton_kernel_entry_##name = {#name, &name}
