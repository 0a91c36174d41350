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
PTO_SHARED AICORE Extents extents_of(const GlobalData& tensor) {
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

/// A tensor without its type.
struct GlobalView {
  unsigned char* data;
  int64_t element_bytes;
  pto::Layout layout;
  Extents extents;
};

template <typename GlobalData>
PTO_INLINE AICORE GlobalView view_of(const GlobalData& tensor) {
  return {reinterpret_cast<unsigned char*>(data_of(tensor)), sizeof(typename GlobalData::RawDType), GlobalData::layout,
          extents_of(tensor)};
}

/// Rows and columns of a tile that holds the tensor.
constexpr PTO_INLINE AICORE int64_t rows_of(pto::Layout layout, const Extents& extents) {
  if (layout == pto::Layout::NZ) return extents.shape[2] * extents.shape[3];
  if (layout == pto::Layout::DN) return extents.shape[3];
  return extents.shape[0] * extents.shape[1] * extents.shape[2] * extents.shape[3];
}

constexpr PTO_INLINE AICORE int64_t cols_of(pto::Layout layout, const Extents& extents) {
  if (layout == pto::Layout::DN) return extents.shape[0] * extents.shape[1] * extents.shape[2] * extents.shape[4];
  if (layout == pto::Layout::NZ) return extents.shape[0] * extents.shape[1] * extents.shape[4];
  return extents.shape[4];
}

PTO_ONCE PTO_SHARED AICORE void check_extents(const BatonPlace& place, const Extents& extents) {
  if (!kChecks) return;
  for (int dim = 0; dim < 5; ++dim) {
    if (extents.shape[dim] < 1) {
      fail(place, BATON_KERNEL_INVALID_ARGUMENT, "dimension ", dim, " of the tensor has extent ", extents.shape[dim],
           "; extents are at least 1");
    }
  }
}

/// The dimension along which elements must be neighbours in memory, and the one that enumerates such lines.
constexpr PTO_INLINE AICORE int inner_dimension(pto::Layout layout) { return layout == pto::Layout::DN ? 3 : 4; }
constexpr PTO_INLINE AICORE int outer_dimension(pto::Layout layout) { return layout == pto::Layout::DN ? 4 : 3; }

PTO_ONCE PTO_SHARED AICORE void check_inner_stride(const BatonPlace& place, pto::Layout layout,
                                                   const Extents& extents) {
  const int inner = inner_dimension(layout);
  if (kChecks && extents.shape[inner] > 1 && extents.stride[inner] != 1) {
    fail(place, BATON_KERNEL_INVALID_ARGUMENT, "the stride of dimension ", inner, " is ", extents.stride[inner],
         "; elements along it must be neighbours (stride 1)");
  }
}

/// Whether the lines follow each other in memory without gaps.
PTO_ONCE PTO_SHARED AICORE bool is_packed(pto::Layout layout, const Extents& extents) {
  const int order[4] = {outer_dimension(layout), 2, 1, 0};
  int64_t packed = extents.shape[inner_dimension(layout)];
  for (const int dim : order) {
    if (extents.shape[dim] > 1 && extents.stride[dim] != packed) return false;
    packed *= extents.shape[dim];
  }
  return layout != pto::Layout::NZ;
}

#if defined(__CUDACC__)
inline constexpr bool kFarMemory = false;  // a GPU reaches one host
#else
inline constexpr bool kFarMemory = true;
#endif

/// Whether some windows have parts on other hosts.
PTO_INLINE AICORE bool has_far_memory() { return kFarMemory && (current_core().watches & BATON_WATCH_FAR) != 0; }

PTO_ONCE [[noreturn]] PTO_COLD AICORE void fail_unknown_address(BatonPlace place, const char* name, const void* begin,
                                                                uint64_t bytes) {
  char nearest[160] = "";
  BatonCore& core = current_core();
  core.table->address_known(&core, begin, bytes, nearest, sizeof nearest);
  nearest[sizeof nearest - 1] = '\0';
  fail(place, BATON_KERNEL_OUT_OF_RANGE, name, ": ", bytes, " bytes at address ", reinterpret_cast<uintptr_t>(begin),
       " lie in no tensor or window of this kernel",
       nearest[0] == '\0' ? "" : "; nearest: ", static_cast<const char*>(nearest));
}

/// [begin, begin + bytes) must be memory that the kernel may touch. True if it is on another host (far_access.hpp).
PTO_ONCE PTO_SHARED AICORE bool check_address(const BatonPlace& place, const char* name, const void* begin,
                                              uint64_t bytes) {
  if (!kChecks && !has_far_memory()) return false;
  if (kChecks && begin == nullptr) fail(place, BATON_KERNEL_INVALID_ARGUMENT, name, " has a null address");
  BatonCore& core = current_core();
  const int32_t known = core.table->address_known(&core, begin, bytes, nullptr, 0);
  if (kChecks && known == BATON_ADDRESS_UNKNOWN) fail_unknown_address(place, name, begin, bytes);
  return kFarMemory && known == BATON_ADDRESS_FAR;
}

/// All elements of an access, from the lowest address to the highest. True if they are on another host.
PTO_ONCE PTO_SHARED AICORE bool check_access(const BatonPlace& place, const char* name, const GlobalView& tensor) {
  if (!kChecks && !has_far_memory()) return false;
  int64_t lowest = 0;
  int64_t highest = 0;
  for (int dim = 0; dim < 5; ++dim) {
    const int64_t reach = (tensor.extents.shape[dim] - 1) * tensor.extents.stride[dim];
    (reach < 0 ? lowest : highest) += reach;
  }
  if (kChecks && tensor.data == nullptr) fail(place, BATON_KERNEL_INVALID_ARGUMENT, name, " has a null address");
  return check_address(place, name, tensor.data + lowest * tensor.element_bytes,
                       static_cast<uint64_t>((highest - lowest + 1) * tensor.element_bytes));
}

/// As the core is told of it.
PTO_ONCE PTO_SHARED AICORE BatonGlobalRange range_of(const GlobalView& tensor, uint32_t access) {
  BatonGlobalRange range{tensor.data, access, static_cast<uint32_t>(tensor.element_bytes), {}, {}};
  for (int dim = 0; dim < 5; ++dim) {
    range.shape[dim] = tensor.extents.shape[dim];
    range.stride_bytes[dim] = tensor.extents.stride[dim] * tensor.element_bytes;
  }
  return range;
}

/// A tile, and the tensor that it is copied to or from.
PTO_ONCE PTO_SHARED AICORE void issue_transfer(const BatonPlace& place, uint32_t pipes, const TileUse& tile,
                                               const GlobalView& tensor, uint32_t access) {
  BatonCore* const core = watching_core();
  if (core == nullptr) return;
  const BatonGlobalRange range = range_of(tensor, access);
  tell(*core, place, pipes, &tile, 1, &range, 1);
}

/// Calls body(offset, line, first) for each plane of the inner two dimensions: where in the tensor it begins, which
/// line of the tile its first one is (a row, or a column for DN), and from which element of those lines on.
template <typename Body>
PTO_INLINE AICORE void for_each_plane(pto::Layout layout, const Extents& extents, Body body) {
  int64_t line = 0;
  for (int64_t i0 = 0; i0 < extents.shape[0]; ++i0) {
    for (int64_t i1 = 0; i1 < extents.shape[1]; ++i1) {
      for (int64_t i2 = 0; i2 < extents.shape[2]; ++i2) {
        const int64_t offset = i0 * extents.stride[0] + i1 * extents.stride[1] + i2 * extents.stride[2];
        if (layout == pto::Layout::NZ) {
          body(offset, i2 * extents.shape[3], (i0 * extents.shape[1] + i1) * extents.shape[4]);
        } else {
          body(offset, line, int64_t{0});
          line += extents.shape[outer_dimension(layout)];
        }
      }
    }
  }
}

}  // namespace baton::kernel
