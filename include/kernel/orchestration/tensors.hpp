// Tensors of an orchestration: descriptors that it makes, and views of them.
#ifndef BATON_ORCHESTRATION_TENSORS_HPP
#define BATON_ORCHESTRATION_TENSORS_HPP

#include <orchestration/report.hpp>

enum class AddressSpace : uint8_t { HOST, DEVICE };

inline uint64_t get_element_size(DataType dtype) {
  switch (dtype) {
    case DataType::INT8:
    case DataType::UINT8:
    case DataType::BOOL: return 1;
    case DataType::FLOAT16:
    case DataType::BFLOAT16:
    case DataType::INT16:
    case DataType::UINT16: return 2;
    case DataType::FLOAT32:
    case DataType::INT32:
    case DataType::UINT32: return 4;
    case DataType::INT64:
    case DataType::UINT64: return 8;
  }
  return 1;
}

/// A contiguous tensor that the runtime is to allocate. Lives until the submission.
struct TensorCreateInfo : BatonCreateInfo {
  TensorCreateInfo(const uint32_t tensor_shapes[], uint32_t n, DataType type = DataType::FLOAT32,
                   bool only_creator = false)
      : BatonCreateInfo{type, only_creator, false, n, {}, 0} {
    for (uint32_t i = 0; i < n && i < 5; ++i) shapes[i] = tensor_shapes[i];
  }

  /// Every element has these bits when the tensor is allocated.
  template <typename Value>
  TensorCreateInfo& set_initial_value(Value value) {
    has_initial_value = true;
    initial_value = to_u64(value);
    return *this;
  }
  uint64_t buffer_size_bytes() const {
    uint64_t bytes = get_element_size(dtype);
    for (uint32_t i = 0; i < ndims && i < 5; ++i) bytes *= shapes[i];
    return bytes;
  }
};

namespace baton::orchestration {

/// Row-major from the start of the buffer.
inline void set_contiguous(ChipTensor& tensor, const uint32_t shapes[], uint32_t ndims) {
  uint64_t count = 1;
  for (uint32_t i = ndims; i-- > 0;) {
    tensor.shapes[i] = shapes[i];
    tensor.strides[i] = static_cast<uint32_t>(count);
    count *= shapes[i];
  }
  tensor.ndims = ndims;
  tensor.is_contiguous = 1;
  tensor.extent_elem_cache = count;
}

inline bool dims_are_valid(uint32_t ndims, const char* what, BatonPlaceInSource where) {
  if (ndims >= 1 && ndims <= 5) return true;
  report(PTO2_ERROR_INVALID_ARGS, where, "%s: %u dimensions; a tensor has 1 to 5", what, ndims);
  return false;
}

}  // namespace baton::orchestration

/// A contiguous tensor over memory that the chip knows.
inline ChipTensor make_tensor_external(void* address, const uint32_t shapes[], uint32_t ndims,
                                       DataType dtype = DataType::FLOAT32, bool manual_dep = false, int32_t version = 0,
                                       AddressSpace space = AddressSpace::HOST, const char* file = __builtin_FILE(),
                                       uint32_t line = __builtin_LINE()) {
  ChipTensor tensor{};
  if (!baton::orchestration::dims_are_valid(ndims, "make_tensor_external", {file, line})) return tensor;
  baton::orchestration::set_contiguous(tensor, shapes, ndims);
  tensor.buffer = {reinterpret_cast<uint64_t>(address), tensor.extent_elem_cache * get_element_size(dtype)};
  tensor.dtype = dtype;
  tensor.manual_dep = manual_dep ? 1 : 0;
  tensor.version = version;
  tensor.address_space = static_cast<uint8_t>(space);
  return tensor;
}

/// `tensor` describes what `info` asks for, in memory of `bytes` bytes at `address`.
inline void init_tensor_from_create_info(ChipTensor& tensor, const TensorCreateInfo& info, void* address,
                                         uint64_t bytes) {
  tensor = make_tensor_external(address, info.shapes, info.ndims, info.dtype, info.manual_dep);
  tensor.buffer.size = bytes;
}

inline ChipTensor ChipTensor::view(const uint32_t view_shapes[], const uint32_t view_offsets[], bool view_manual_dep,
                                   const char* file, uint32_t line) const {
  ChipTensor part = *this;
  part.manual_dep = view_manual_dep || manual_dep != 0 ? 1 : 0;
  bool empty = false;
  for (uint32_t i = 0; i < ndims; ++i) {
    part.shapes[i] = view_shapes[i];
    empty = empty || view_shapes[i] == 0;
  }
  part.is_contiguous = 1;
  uint64_t reach = 1;
  uint64_t expected = 1;
  for (uint32_t i = ndims; i-- > 0;) {
    if (part.shapes[i] != 1 && strides[i] != expected) part.is_contiguous = 0;
    expected *= part.shapes[i];
    if (empty) continue;
    if (uint64_t{view_offsets[i]} + view_shapes[i] > shapes[i]) {
      baton::orchestration::report(
          PTO2_ERROR_INVALID_ARGS, {file, line}, "view: elements %u to %llu of dimension %u, which has %u",
          view_offsets[i], static_cast<unsigned long long>(uint64_t{view_offsets[i]} + view_shapes[i]), i, shapes[i]);
      return *this;
    }
    part.start_offset += uint64_t{view_offsets[i]} * strides[i];
    reach += uint64_t{view_shapes[i] - 1} * strides[i];
  }
  part.extent_elem_cache = empty ? 0 : reach;
  return part;
}

inline ChipTensor ChipTensor::reshape(const uint32_t new_shapes[], uint32_t new_ndims, const char* file,
                                      uint32_t line) const {
  if (!baton::orchestration::dims_are_valid(new_ndims, "reshape", {file, line})) return *this;
  uint64_t before = 1;
  uint64_t after = 1;
  for (uint32_t i = 0; i < ndims; ++i) before *= shapes[i];
  for (uint32_t i = 0; i < new_ndims; ++i) after *= new_shapes[i];
  if (before != after || is_contiguous == 0) {
    baton::orchestration::report(PTO2_ERROR_INVALID_ARGS, {file, line},
                                 "reshape: %llu elements%s cannot become %llu without a copy",
                                 static_cast<unsigned long long>(before), is_contiguous == 0 ? " with gaps" : "",
                                 static_cast<unsigned long long>(after));
    return *this;
  }
  ChipTensor shaped = *this;
  baton::orchestration::set_contiguous(shaped, new_shapes, new_ndims);
  return shaped;
}

#endif
