// Scatters a tile to the window of a peer: elements, or rows that lie apart, in each way that MSCATTER has.
// args: values, of kRows x kCols; int32 indices; the peer's floats, kPlaces of them, or as many rows; rows or elements;
// the operation.
#include "lines.hpp"

constexpr int kRows = 8, kCols = 16, kPlaces = 64, kApart = 24;
using Values = Tile<TileType::Vec, float, kRows, kCols>;

template <Coalesce coalesce, ScatterAtomicOp op, typename Target, typename Index>
AICORE void scatter(Target& target, Values& values, Index& index) {
  MSCATTER<coalesce, op, ScatterOOB::Skip>(target, values, index);
}

template <Coalesce coalesce, typename Target, typename Index>
AICORE void scatter(Target& target, Values& values, Index& index, int64_t op) {
  switch (op) {
    case 0: return scatter<coalesce, ScatterAtomicOp::None>(target, values, index);
    case 1: return scatter<coalesce, ScatterAtomicOp::Add>(target, values, index);
    case 2: return scatter<coalesce, ScatterAtomicOp::Max>(target, values, index);
    default: return scatter<coalesce, ScatterAtomicOp::Min>(target, values, index);
  }
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t* args) {
  Values values;
  TASSIGN(values, 0);
  GlobalTensor<float, Shape<1, 1, 1, kRows, kCols>, Stride<0, 0, 0, kCols, 1>> from(data_of(args[0]));
  TLOAD(values, from);
  auto* indices = reinterpret_cast<int32_t*>(args[1]);
  auto* there = reinterpret_cast<float*>(args[2]);
  if (args[3] == 0) {
    Tile<TileType::Vec, int32_t, kRows, kCols> index;
    TASSIGN(index, 0x1000);
    GlobalTensor<int32_t, Shape<1, 1, 1, kRows, kCols>, Stride<0, 0, 0, kCols, 1>> where(indices);
    TLOAD(index, where);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    GlobalTensor<float, Shape<1, 1, 1, 1, kPlaces>, Stride<0, 0, 0, 0, 1>> target(there);
    scatter<Coalesce::Elem>(target, values, index, args[4]);
  } else {
    Tile<TileType::Vec, int32_t, 1, kRows> index;
    TASSIGN(index, 0x1000);
    GlobalTensor<int32_t, Shape<1, 1, 1, 1, kRows>, Stride<0, 0, 0, 0, 1>> where(indices);
    TLOAD(index, where);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    GlobalTensor<float, Shape<1, 1, 1, kPlaces, kCols>, Stride<0, 0, 0, kApart, 1>> target(there);
    scatter<Coalesce::Row>(target, values, index, args[4]);
  }
  pipe_barrier(PIPE_ALL);
}
