// The descriptor of a tensor, which orchestrations make and kernels receive. C++17: orchestrations are.
#include <pto/target/qualifiers.hpp>
#ifndef CHIP_TENSOR_H
#define CHIP_TENSOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <type_traits>

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

/// A task of an orchestration.
struct PTO2TaskId {
  uint64_t raw = ~uint64_t{0};

  static constexpr AICORE PTO2TaskId invalid() { return {}; }
  constexpr AICORE bool is_valid() const { return raw != ~uint64_t{0}; }
  friend constexpr AICORE bool operator==(PTO2TaskId a, PTO2TaskId b) { return a.raw == b.raw; }
  friend constexpr AICORE bool operator!=(PTO2TaskId a, PTO2TaskId b) { return a.raw != b.raw; }
};

/// A tensor argument. Its data begin at (Element*)buffer.addr + start_offset.
struct alignas(64) ChipTensor {
  struct Buffer {
    uint64_t addr;
    uint64_t size;
  };

  Buffer buffer;
  PTO2TaskId owner_task_id;
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
  uint32_t reserved;
  uint64_t output_id;  // of what the runtime allocated: which one, also long after its death; 0 of other memory

  /// The start of the buffer, whatever start_offset is.
  template <typename Element>
  AICORE Element* data_as() const {
    return reinterpret_cast<Element*>(buffer.addr);
  }

  // For orchestrations: defined in orchestration/tensors.hpp.
  ChipTensor view(const uint32_t view_shapes[], const uint32_t view_offsets[], bool view_manual_dep = false,
                  const char* file = __builtin_FILE(), uint32_t line = __builtin_LINE()) const;
  ChipTensor reshape(const uint32_t new_shapes[], uint32_t new_ndims, const char* file = __builtin_FILE(),
                     uint32_t line = __builtin_LINE()) const;
};
using Tensor = ChipTensor;

static_assert(sizeof(ChipTensor) == 128 && alignof(ChipTensor) == 64, "layout");
static_assert(offsetof(ChipTensor, owner_task_id) == 16 && offsetof(ChipTensor, start_offset) == 24, "layout");
static_assert(offsetof(ChipTensor, version) == 32 && offsetof(ChipTensor, ndims) == 36, "layout");
static_assert(offsetof(ChipTensor, dtype) == 40 && offsetof(ChipTensor, manual_dep) == 41, "layout");
static_assert(offsetof(ChipTensor, is_contiguous) == 42 && offsetof(ChipTensor, address_space) == 43, "layout");
static_assert(offsetof(ChipTensor, shapes) == 44 && offsetof(ChipTensor, extent_elem_cache) == 64, "layout");
static_assert(offsetof(ChipTensor, strides) == 72 && offsetof(ChipTensor, output_id) == 96, "layout");

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
