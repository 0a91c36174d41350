// What the kernels of this project share: lines of floats through tiles.
#pragma once

#include <pto/comm/comm_types.hpp>
#include <pto/comm/pto_comm_inst.hpp>
#include <pto/pto-inst.hpp>

#include "platform_comm/comm_context.h"
#include "tensor.h"

using namespace pto;

constexpr int kPiece = 1024;
constexpr int kSecond = 0x4000;  // where a second piece lies in the buffer of the core
using Piece = Tile<TileType::Vec, float, 1, kPiece, BLayout::RowMajor, 1, DYNAMIC>;
using LineShape = Shape<1, 1, 1, 1, DYNAMIC>;
using LineStride = Stride<DYNAMIC, DYNAMIC, DYNAMIC, DYNAMIC, 1>;
using Line = GlobalTensor<float, LineShape, LineStride, Layout::ND>;

AICORE inline Line line_at(__gm__ float* data, int64_t count) {
  return Line(data, LineShape(count), LineStride(count, count, count, count));
}

AICORE inline __gm__ float* data_of(int64_t argument) {
  auto* tensor = reinterpret_cast<__gm__ Tensor*>(argument);
  return reinterpret_cast<__gm__ float*>(tensor->buffer.addr) + tensor->start_offset;
}

AICORE inline int64_t count_of(int64_t argument) { return reinterpret_cast<__gm__ Tensor*>(argument)->shapes[0]; }
