// MSCATTER: elements or rows of a tile to places of global memory that another tile names.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/instructions/events.hpp>
#include <pto/instructions/far_access.hpp>
#include <pto/instructions/global_access.hpp>
#include <pto/instructions/numbers.hpp>
#include <pto/target/atomics.hpp>
#include <pto/target/bulk_copy.hpp>

namespace pto {

/// What an index names.
enum class Coalesce : uint8_t { Row, Elem };
/// What is done to the element that is there.
enum class ScatterAtomicOp : uint8_t { None, Add, Max, Min };
/// What becomes of an index that names no element. Undefined is an error here.
enum class ScatterOOB : uint8_t { Undefined, Skip, Clamp, Wrap };

}  // namespace pto

namespace baton::kernel {

template <pto::ScatterAtomicOp op, typename Element>
PTO_INLINE AICORE void scatter_one(Element* to, Element value) {
  if constexpr (op == pto::ScatterAtomicOp::None) {
    *to = value;
  } else if constexpr (op == pto::ScatterAtomicOp::Add) {
    atomic_update(to, value, AddNumbers{});
  } else if constexpr (op == pto::ScatterAtomicOp::Max) {
    atomic_update(to, value, LargerNumber{});
  } else {
    atomic_update(to, value, SmallerNumber{});
  }
}

/// How an operation is told to another host.
template <pto::ScatterAtomicOp op, typename Element>
constexpr AICORE uint32_t scatter_change() {
  if constexpr (op == pto::ScatterAtomicOp::None) {
    return BATON_REPLACE;
  } else {
    constexpr BatonChange kChange = op == pto::ScatterAtomicOp::Add   ? BATON_ADD
                                    : op == pto::ScatterAtomicOp::Max ? BATON_MAX
                                                                      : BATON_MIN;
    return kChange | static_cast<uint32_t>(element_of<Element>()) << BATON_ELEMENT_SHIFT;
  }
}

/// The place that an index names among `count`, or -1 for none.
template <pto::ScatterOOB outside>
AICORE int64_t scatter_place(const BatonPlace& place, int64_t index, int64_t count) {
  if (index >= 0 && index < count) return index;
  if constexpr (outside == pto::ScatterOOB::Skip) {
    return -1;
  } else if constexpr (outside == pto::ScatterOOB::Clamp) {
    return index < 0 ? 0 : count - 1;
  } else if constexpr (outside == pto::ScatterOOB::Wrap) {
    return (index % count + count) % count;
  } else {
    fail(place, BATON_KERNEL_OUT_OF_RANGE, "index ", index, " is outside the tensor, which has ", count,
         " places; ScatterOOB says what to do with such an index");
  }
}

}  // namespace baton::kernel

namespace pto {

/// Elem: the tensor's idx(r, c)-th element gets src(r, c), row by row, the last one wins. Row: its idx(0, r)-th row
/// gets row r of src.
template <Coalesce coalesce, ScatterAtomicOp op = ScatterAtomicOp::None, ScatterOOB outside = ScatterOOB::Undefined,
          typename GlobalData, typename Src, typename Index>
AICORE RecordEvent MSCATTER(GlobalData& dst, Src& src, Index& idx,
                            baton::kernel::Where where = baton::kernel::Where::current()) {
  using namespace baton::kernel;
  using Element = typename Src::DType;
  static_assert(is_plain_vec<Src> && is_plain_vec<Index>, "MSCATTER takes row-major Vec tiles");
  static_assert(std::is_same_v<typename GlobalData::DType, Element>, "MSCATTER: element types differ, or dst is const");
  static_assert(is_one_of<typename Index::DType, int32_t, uint32_t>, "MSCATTER: idx is int32 or uint32");
  static_assert(op == ScatterAtomicOp::None || is_atomic_number<Element>,
                "MSCATTER with an operation: half, float, bfloat16, int8, int16 or int32");
  const BatonPlace place = place_of("MSCATTER", where);
  check_tile(place, "src", src);
  check_tile(place, "idx", idx);
  const GlobalView tensor = view_of(dst);
  const Extents& extents = tensor.extents;
  check_extents(place, extents);
  const bool is_far = check_access(place, "dst", tensor);
  finish_copies();
  const int rows = src.GetValidRow();
  const int cols = src.GetValidCol();
  // Behind earlier work of the vector unit, and done before what waits for stores.
  if (BatonCore* const core = watching_core()) {
    const TileUse uses[] = {reads(src), reads(idx)};
    const BatonGlobalRange written = range_of(tensor, BATON_WRITES);
    tell(*core, place, pipe_bit(PIPE_V) | pipe_bit(PIPE_MTE3), uses, 2, &written, 1);
  }
  if constexpr (coalesce == Coalesce::Elem) {
    check_same_valid(place, "src", src, "idx", idx);
    if (kChecks && !is_packed(GlobalData::layout, extents)) {
      fail(place, BATON_KERNEL_INVALID_ARGUMENT, "indices count elements of dst, which is not contiguous");
    }
    int64_t count = 1;
    for (const int64_t extent : extents.shape) count *= extent;
    const auto scatter = [&](auto put) {
      for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < cols; ++col) {
          const int64_t at = scatter_place<outside>(place, static_cast<int64_t>(*element_at(idx, row, col)), count);
          if (at >= 0) put(at, element_at(src, row, col));
        }
      }
    };
    if (kFarMemory && is_far) {
      FarPieces pieces(place, tensor.data, int64_t{rows} * cols, sizeof(Element));
      scatter([&](int64_t at, const Element* from) { pieces.add(at * int64_t{sizeof(Element)}, from); });
      pieces.send(scatter_change<op, Element>());
      return {};
    }
    scatter([&](int64_t at, const Element* from) { scatter_one<op>(data_of(dst) + at, *from); });
  } else {
    check_equal(place, "the valid columns of idx", idx.GetValidCol(), "the valid rows of src", rows);
    check_equal(place, "the valid columns of src", cols, "the tensor's size of dimension 4", extents.shape[4]);
    check_inner_stride(place, Layout::ND, extents);
    check_equal(place, "the product of the tensor's first three sizes",
                extents.shape[0] * extents.shape[1] * extents.shape[2], "what rows are counted in", 1);
    const auto scatter = [&](auto put) {
      for (int row = 0; row < rows; ++row) {
        const auto index = static_cast<int64_t>(*element_at(idx, 0, row));
        const int64_t at = scatter_place<outside>(place, index, extents.shape[3]);
        if (at >= 0) put(at * extents.stride[3], element_at(src, row, 0));
      }
    };
    if (kFarMemory && is_far) {
      FarPieces pieces(place, tensor.data, rows, int64_t{cols} * int64_t{sizeof(Element)});
      scatter([&](int64_t at, const Element* from) { pieces.add(at * int64_t{sizeof(Element)}, from); });
      pieces.send(scatter_change<op, Element>());
      return {};
    }
    scatter([&](int64_t at, const Element* from) {
      for (int col = 0; col < cols; ++col) scatter_one<op>(data_of(dst) + at + col, from[col]);
    });
  }
  return {};
}

}  // namespace pto
