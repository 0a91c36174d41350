// Tensors in global memory as instructions see them: rows and columns, checked against what the kernel may touch.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/common/global_tensor.hpp>
#include <pto/instructions/operands.hpp>

namespace baton::kernel {

/// Shape and strides of an access; strides count elements, those of extent 1 are zero (kernels pass anything there).
struct Extents {
  int64_t shape[5];
  int64_t stride[5];
};

template <typename GlobalData>
AICORE Extents extents_of(const GlobalData& tensor) {
  Extents extents;
  for (int dim = 0; dim < 5; ++dim) {
    extents.shape[dim] = tensor.GetShape(dim);
    extents.stride[dim] = extents.shape[dim] == 1 ? 0 : tensor.GetStride(dim);
  }
  return extents;
}

/// The data of a tensor, whatever its qualifiers say.
template <typename GlobalData>
PTO_INLINE AICORE typename GlobalData::RawDType* data_of(const GlobalData& tensor) {
  return const_cast<typename GlobalData::RawDType*>(tensor.data());
}

/// Rows and columns of a tile that holds the tensor.
template <pto::Layout layout>
constexpr AICORE int64_t rows_of(const Extents& extents) {
  if (layout == pto::Layout::NZ) return extents.shape[2] * extents.shape[3];
  if (layout == pto::Layout::DN) return extents.shape[3];
  return extents.shape[0] * extents.shape[1] * extents.shape[2] * extents.shape[3];
}

template <pto::Layout layout>
constexpr AICORE int64_t cols_of(const Extents& extents) {
  if (layout == pto::Layout::DN) return extents.shape[0] * extents.shape[1] * extents.shape[2] * extents.shape[4];
  if (layout == pto::Layout::NZ) return extents.shape[0] * extents.shape[1] * extents.shape[4];
  return extents.shape[4];
}

AICORE inline void check_extents(const BatonPlace& place, const Extents& extents) {
  if (!kChecks) return;
  for (int dim = 0; dim < 5; ++dim) {
    if (extents.shape[dim] < 1) {
      fail(place, BATON_KERNEL_INVALID_ARGUMENT, "dimension ", dim, " of the tensor has extent ", extents.shape[dim],
           "; extents are at least 1");
    }
  }
}

/// The dimension along which elements must be neighbours in memory.
constexpr AICORE int inner_dimension(pto::Layout layout) { return layout == pto::Layout::DN ? 3 : 4; }

template <pto::Layout layout>
AICORE void check_inner_stride(const BatonPlace& place, const Extents& extents) {
  constexpr int kInner = inner_dimension(layout);
  if (kChecks && extents.shape[kInner] > 1 && extents.stride[kInner] != 1) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the stride of dimension ", kInner, " is ", extents.stride[kInner],
         "; elements along it must be neighbours (stride 1)");
  }
}

/// Whether the lines follow each other in memory without gaps.
template <pto::Layout layout>
AICORE bool is_packed(const Extents& extents) {
  constexpr int kInner = inner_dimension(layout);
  constexpr int kOrder[4] = {kInner == 4 ? 3 : 4, 2, 1, 0};
  int64_t packed = extents.shape[kInner];
  for (const int dim : kOrder) {
    if (extents.shape[dim] > 1 && extents.stride[dim] != packed) return false;
    packed *= extents.shape[dim];
  }
  return layout != pto::Layout::NZ;
}

PTO_COLD AICORE inline void fail_unknown_address(const BatonPlace& place, const char* name, const void* begin,
                                                 uint64_t bytes) {
  char nearest[160] = "";
  BatonCore& core = current_core();
  core.table->address_known(&core, begin, bytes, nearest, sizeof nearest);
  nearest[sizeof nearest - 1] = '\0';
  fail(place, BATON_KERNEL_OUT_OF_RANGE, name, ": ", bytes, " bytes at address ", reinterpret_cast<uintptr_t>(begin),
       " lie in no tensor or window of this kernel",
       nearest[0] == '\0' ? "" : "; nearest: ", static_cast<const char*>(nearest));
}

/// [begin, begin + bytes) must be memory that the kernel may touch.
AICORE inline void check_address(const BatonPlace& place, const char* name, const void* begin, uint64_t bytes) {
  if (!kChecks) return;
  if (begin == nullptr) fail(place, BATON_KERNEL_INVALID_ARGUMENT, name, " has a null address");
  BatonCore& core = current_core();
  if (core.table->address_known(&core, begin, bytes, nullptr, 0) == 0) fail_unknown_address(place, name, begin, bytes);
}

/// All elements of an access, from the lowest address to the highest.
template <typename Element>
AICORE void check_access(const BatonPlace& place, const char* name, const Element* data, const Extents& extents) {
  if (!kChecks) return;
  int64_t lowest = 0;
  int64_t highest = 0;
  for (int dim = 0; dim < 5; ++dim) {
    const int64_t reach = (extents.shape[dim] - 1) * extents.stride[dim];
    (reach < 0 ? lowest : highest) += reach;
  }
  if (data == nullptr) fail(place, BATON_KERNEL_INVALID_ARGUMENT, name, " has a null address");
  check_address(place, name, data + lowest, static_cast<uint64_t>(highest - lowest + 1) * sizeof(Element));
}

template <typename Element>
AICORE BatonGlobalRange range_of(const Element* data, const Extents& extents, BatonAccess access) {
  BatonGlobalRange range{data, access, sizeof(Element), {}, {}};
  for (int dim = 0; dim < 5; ++dim) {
    range.shape[dim] = extents.shape[dim];
    range.stride_bytes[dim] = extents.stride[dim] * static_cast<int64_t>(sizeof(Element));
  }
  return range;
}

/// Calls body(line, offset) for each run of elements along the inner dimension: the line's number within the tile (a
/// row, or a column for DN) and where in the tensor it begins. NZ: body(row, first column, offset).
template <pto::Layout layout, typename Body>
PTO_INLINE AICORE void for_each_line(const Extents& extents, Body body) {
  constexpr int kOuter = layout == pto::Layout::DN ? 4 : 3;
  int64_t line = 0;
  for (int64_t i0 = 0; i0 < extents.shape[0]; ++i0) {
    for (int64_t i1 = 0; i1 < extents.shape[1]; ++i1) {
      for (int64_t i2 = 0; i2 < extents.shape[2]; ++i2) {
        const int64_t plane = i0 * extents.stride[0] + i1 * extents.stride[1] + i2 * extents.stride[2];
        for (int64_t i = 0; i < extents.shape[kOuter]; ++i) {
          const int64_t offset = plane + i * extents.stride[kOuter];
          if constexpr (layout == pto::Layout::NZ) {
            body(i2 * extents.shape[3] + i, (i0 * extents.shape[1] + i1) * extents.shape[4], offset);
          } else {
            body(line++, int64_t{0}, offset);
          }
        }
      }
    }
  }
}

}  // namespace baton::kernel
