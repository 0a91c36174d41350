// The names of types and directions in signatures, for messages of kernels and of the runtime alike.
#pragma once

#include <baton/kernel_abi.hpp>

// Kernels for a GPU call these too.
#if defined(__CUDACC__)
#define BATON_ON_EVERY_SIDE __host__ __device__
#else
#define BATON_ON_EVERY_SIDE
#endif

namespace baton {

/// "float", "int32": of a BatonType.
constexpr BATON_ON_EVERY_SIDE const char* type_name(uint32_t type) {
  switch (type) {
    case BATON_TYPE_FLOAT32: return "float";
    case BATON_TYPE_FLOAT16: return "half";
    case BATON_TYPE_INT32: return "int32";
    case BATON_TYPE_INT16: return "int16";
    case BATON_TYPE_INT8: return "int8";
    case BATON_TYPE_UINT8: return "uint8";
    case BATON_TYPE_BFLOAT16: return "bfloat16";
    case BATON_TYPE_INT64: return "int64";
    case BATON_TYPE_UINT64: return "uint64";
    case BATON_TYPE_UINT16: return "uint16";
    case BATON_TYPE_UINT32: return "uint32";
    case BATON_TYPE_BOOL: return "bool";
    case BATON_TYPE_FLOAT64: return "double";
    case BATON_TYPE_POINTER: return "pointer";
    case BATON_TYPE_BYTES: return "bytes";
    case BATON_TYPE_ANY: return "any";
  }
  return "unknown";
}

/// "In", "Out": of a BatonDirection.
constexpr BATON_ON_EVERY_SIDE const char* direction_name(uint32_t direction) {
  switch (direction) {
    case BATON_DIRECTION_SCALAR: return "scalar";
    case BATON_DIRECTION_IN: return "In";
    case BATON_DIRECTION_OUT: return "Out";
    case BATON_DIRECTION_INOUT: return "InOut";
  }
  return "unknown";
}

}  // namespace baton
