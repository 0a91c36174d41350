// Tensor arguments of kernels, and scalar ones as bits.
#include <pto/target/qualifiers.hpp>
#ifndef TENSOR_H
#define TENSOR_H

#include <string.h>
#include <pto/common/bfloat16.hpp>
#include <pto/common/half.hpp>
#include <pto/common/order.hpp>

enum class DataType : uint8_t {
  FLOAT32,
  FLOAT16,
  INT32,
  INT16,
  INT8,
  UINT8,
  BFLOAT16,
  INT64,
  UINT64,
  UINT16,
  UINT32,
  BOOL,
};

/// A tensor argument. Its data begin at (Element*)buffer.addr + start_offset.
struct alignas(64) ChipTensor {
  struct Buffer {
    uint64_t addr;
    uint64_t size;
  };

  Buffer buffer;
  uint64_t owner_task_id;
  uint64_t start_offset;  // elements
  int32_t version;
  uint32_t ndims;
  DataType dtype;
  uint8_t manual_dep;
  uint8_t is_contiguous;
  uint8_t address_space;
  uint32_t shapes[5];
  uint64_t extent_elem_cache;
  uint32_t strides[5];  // elements
};
using Tensor = ChipTensor;

static_assert(sizeof(ChipTensor) == 128 && alignof(ChipTensor) == 64);
static_assert(offsetof(ChipTensor, owner_task_id) == 16 && offsetof(ChipTensor, start_offset) == 24);
static_assert(offsetof(ChipTensor, version) == 32 && offsetof(ChipTensor, ndims) == 36);
static_assert(offsetof(ChipTensor, dtype) == 40 && offsetof(ChipTensor, manual_dep) == 41);
static_assert(offsetof(ChipTensor, is_contiguous) == 42 && offsetof(ChipTensor, address_space) == 43);
static_assert(offsetof(ChipTensor, shapes) == 44 && offsetof(ChipTensor, extent_elem_cache) == 64);
static_assert(offsetof(ChipTensor, strides) == 72);

/// A scalar argument: its value is in the lowest bytes.
template <typename Scalar>
AICORE inline Scalar from_u64(uint64_t bits) {
  static_assert(sizeof(Scalar) <= sizeof bits && std::is_trivially_copyable_v<Scalar>);
  Scalar value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

template <typename Scalar>
AICORE inline uint64_t to_u64(Scalar value) {
  static_assert(sizeof(Scalar) <= sizeof(uint64_t) && std::is_trivially_copyable_v<Scalar>);
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  return bits;
}

#endif
