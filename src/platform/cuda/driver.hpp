// The driver of NVIDIA's GPUs, loaded at run time: nothing of CUDA is needed to build or to load this library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace baton::cuda {

// Handles and numbers of the driver's interface, as its documentation has them.
using Result = int;
using DeviceNumber = int;
using DevicePointer = std::uint64_t;
using Context = void*;
using Module = void*;
using Function = void*;
using Stream = void*;
using LinkState = void*;
using MemoryPool = void*;

inline constexpr Result kNotReady = 600;

enum class DeviceAttribute : int {
  multiprocessors = 16,
  shared_bytes_of_multiprocessor = 81,  // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
  major = 75,
  minor = 76,
  shared_bytes_with_consent = 97,  // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
  shared_bytes_of_driver = 111,    // CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK
};
enum class FunctionAttribute : int { registers = 4, shared_bytes = 8, shared_percent = 9 };
enum class JitInput : int { cubin = 0, ptx = 1 };
enum class JitOption : int { error_text = 5, error_text_bytes = 6 };
inline constexpr int kLimitOfStack = 0;
enum class PoolAttribute : int { release_threshold = 4 };

/// CUmemPoolProps.
struct PoolProperties {
  static constexpr int kPinned = 1;  // of allocation_type: it stays where it is
  static constexpr int kDevice = 1;  // of location_type
  int allocation_type;
  int handle_types;
  int location_type;
  int location;
  void* security;
  std::size_t most_bytes;
  std::uint16_t usage;
  unsigned char reserved[54];
};
static_assert(sizeof(PoolProperties) == 88);

/// The functions of libcuda.so.1 that are used here. Throws Error (unsupported) that says what is missing.
struct Driver {
  static const Driver& get();

  /// Throws Error (system) with the driver's name of `result` unless it is 0.
  void check(const char* what, Result result) const;

  Result (*init)(unsigned flags);
  Result (*driver_version)(int* version);
  Result (*device_count)(int* count);
  Result (*device_get)(DeviceNumber* device, int ordinal);
  Result (*device_name)(char* name, int bytes, DeviceNumber device);
  Result (*device_attribute)(int* value, DeviceAttribute attribute, DeviceNumber device);
  Result (*context_retain)(Context* context, DeviceNumber device);
  Result (*context_release)(DeviceNumber device);
  Result (*context_set)(Context context);
  Result (*context_limit)(int limit, std::size_t value);
  Result (*alloc)(DevicePointer* address, std::size_t bytes);
  Result (*free)(DevicePointer address);
  Result (*pool_create)(MemoryPool* pool, const PoolProperties* properties);
  Result (*pool_set)(MemoryPool pool, PoolAttribute attribute, void* value);
  Result (*pool_destroy)(MemoryPool pool);
  Result (*pool_alloc)(DevicePointer* address, std::size_t bytes, MemoryPool pool, Stream stream);
  Result (*pool_free)(DevicePointer address, Stream stream);
  Result (*can_access_peer)(int* reaches, DeviceNumber device, DeviceNumber peer);
  Result (*enable_peer_access)(Context peer, unsigned flags);
  Result (*host_register)(void* pages, std::size_t bytes, unsigned flags);
  Result (*host_unregister)(void* pages);
  Result (*host_alloc)(void** memory, std::size_t bytes, unsigned flags);
  Result (*host_free)(void* memory);
  // These are under way when they return, but for copies of memory that the driver has not pinned.
  Result (*copy_in)(DevicePointer to, const void* from, std::size_t bytes, Stream stream);
  Result (*copy_out)(void* to, DevicePointer from, std::size_t bytes, Stream stream);
  Result (*set_bytes)(DevicePointer to, unsigned char value, std::size_t bytes, Stream stream);
  Result (*set_words)(DevicePointer to, unsigned value, std::size_t words, Stream stream);
  Result (*stream_create)(Stream* stream, unsigned flags);
  Result (*stream_destroy)(Stream stream);
  Result (*stream_query)(Stream stream);
  Result (*stream_wait)(Stream stream);
  Result (*link_create)(unsigned options, JitOption* names, void** values, LinkState* state);
  Result (*link_add)(LinkState state, JitInput type, void* data, std::size_t bytes, const char* name, unsigned options,
                     JitOption* names, void** values);
  Result (*link_complete)(LinkState state, void** image, std::size_t* bytes);
  Result (*link_destroy)(LinkState state);
  Result (*module_load)(Module* module, const void* image);
  Result (*module_unload)(Module module);
  Result (*module_function)(Function* function, Module module, const char* name);
  /// Null before CUDA 12.4, where asking for a function loads it.
  Result (*function_load)(Function function);
  Result (*module_global)(DevicePointer* address, std::size_t* bytes, Module module, const char* name);
  Result (*function_attribute)(int* value, FunctionAttribute attribute, Function function);
  Result (*set_function_attribute)(Function function, FunctionAttribute attribute, int value);
  /// Null before CUDA 12.
  Result (*encode_map)(void* map, int type, std::uint32_t rank, void* base, const std::uint64_t* sizes,
                       const std::uint64_t* pitches, const std::uint32_t* box, const std::uint32_t* steps,
                       int interleave, int swizzle, int promotion, int fill);
  Result (*launch_together)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream,
                            void** parameters);
  Result (*error_name)(Result result, const char** name);
  Result (*error_text)(Result result, const char** text);

 private:
  Driver();
};

}  // namespace baton::cuda
