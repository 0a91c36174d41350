// What a kernel library and its loader agree on. docs/reference/kernel-libraries.md explains it.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

/// The version of everything in this header. A library is loaded only where this number is the same.
enum : uint32_t { BATON_KERNEL_ABI_VERSION = 2 };

/// A kernel, for one core.
using BatonKernelFunction = void (*)(int64_t* args);

/// What a kernel does with an argument.
enum BatonDirection : uint32_t {
  BATON_DIRECTION_SCALAR = 0,
  BATON_DIRECTION_IN = 1,
  BATON_DIRECTION_OUT = 2,
  BATON_DIRECTION_INOUT = 3,
};

/// The element of a tensor, or the type of a scalar. Up to BOOL numbered as the dtype of a tensor descriptor.
enum BatonType : uint32_t {
  BATON_TYPE_FLOAT32 = 0,
  BATON_TYPE_FLOAT16 = 1,
  BATON_TYPE_INT32 = 2,
  BATON_TYPE_INT16 = 3,
  BATON_TYPE_INT8 = 4,
  BATON_TYPE_UINT8 = 5,
  BATON_TYPE_BFLOAT16 = 6,
  BATON_TYPE_INT64 = 7,
  BATON_TYPE_UINT64 = 8,
  BATON_TYPE_UINT16 = 9,
  BATON_TYPE_UINT32 = 10,
  BATON_TYPE_BOOL = 11,
  BATON_TYPE_FLOAT64 = 64,  // this and the following: scalars only
  BATON_TYPE_POINTER = 65,
  BATON_TYPE_BYTES = 66,  // another type of at most 8 bytes
  BATON_TYPE_ANY = 255,   // not checked
};

/// A parameter may have any number of dimensions.
enum : int32_t { BATON_ANY_DIMS = -1 };

struct BatonKernelParameter {
  const char* name;
  uint32_t direction;  // BatonDirection
  uint32_t type;       // BatonType
  int32_t dims;        // of a tensor: 1 to 5, or BATON_ANY_DIMS; 0 of a scalar
  uint32_t slot;       // its index in args: tensors come first, then scalars, each in the order of the parameters
};

/// What a kernel takes, in the order in which its author wrote it, and where that is.
struct BatonKernelSignature {
  const BatonKernelParameter* parameters;
  uint32_t parameter_count;
  uint32_t line;
  const char* file;
};

enum BatonCoreType : uint32_t { BATON_CORE_VECTOR = 0, BATON_CORE_CUBE = 1 };

/// One kernel that a library offers by name.
struct BatonKernelEntry {
  const char* name;
  BatonKernelFunction function;
  const BatonKernelSignature* signature;  // null if nobody wrote it down
  uint32_t core;                          // BatonCoreType
  uint32_t reserved;
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

static_assert(sizeof(void*) == 8, "kernels are 64-bit code");
static_assert(sizeof(BatonKernelParameter) == 24 && offsetof(BatonKernelParameter, direction) == 8);
static_assert(offsetof(BatonKernelParameter, type) == 12 && offsetof(BatonKernelParameter, dims) == 16);
static_assert(offsetof(BatonKernelParameter, slot) == 20);
static_assert(sizeof(BatonKernelSignature) == 24 && offsetof(BatonKernelSignature, parameter_count) == 8);
static_assert(offsetof(BatonKernelSignature, line) == 12 && offsetof(BatonKernelSignature, file) == 16);
static_assert(sizeof(BatonKernelEntry) == 32 && offsetof(BatonKernelEntry, function) == 8);
static_assert(offsetof(BatonKernelEntry, signature) == 16 && offsetof(BatonKernelEntry, core) == 24);
static_assert(sizeof(BatonKernelTable) == 24 && offsetof(BatonKernelTable, begin) == 8);

/// The core that a source is compiled for; vector where nobody says.
#if defined(__DAV_CUBE__)
#define BATON_KERNEL_CORE BATON_CORE_CUBE
#else
#define BATON_KERNEL_CORE BATON_CORE_VECTOR
#endif

/// Puts an entry into the table of its library. With an alignment of its own, lest the compiler choose a larger one and
/// leave gaps in the table.
#define BATON_KERNEL_REGISTER(identifier, ...)             \
  __attribute__((used, aligned(alignof(BatonKernelEntry)), \
                 section("baton_kernels"))) static BatonKernelEntry identifier = {__VA_ARGS__}

#if defined(__CUDACC__)
// The host finds functions of a device by their names.
#define BATON_KERNEL_ENTRY(name)
#else
/// Registers a function `extern "C" void name(int64_t*)` under its name. At namespace scope, after its declaration.
#define BATON_KERNEL_ENTRY(name) \
  BATON_KERNEL_REGISTER(baton_kernel_entry_##name, #name, &name, nullptr, BATON_KERNEL_CORE, 0)
#endif
