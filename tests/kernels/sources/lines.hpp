// What the kernels of this folder share: lines of floats of any length, through tiles, and barriers among ranks.
#pragma once

#include <pto/comm/comm_types.hpp>
#include <pto/comm/pto_comm_inst.hpp>
#include <pto/pto-inst.hpp>

#include "platform_comm/comm_context.h"
#include "tensor.h"

using namespace pto;

constexpr int kPiece = 1024;
using Piece = Tile<TileType::Vec, float, 1, kPiece, BLayout::RowMajor, 1, DYNAMIC>;
using LineShape = Shape<1, 1, 1, 1, DYNAMIC>;
using LineStride = Stride<DYNAMIC, DYNAMIC, DYNAMIC, DYNAMIC, 1>;
using Line = GlobalTensor<float, LineShape, LineStride, Layout::ND>;

AICORE inline Line line_at(float* data, int64_t count) {
  return Line(data, LineShape(count), LineStride(count, count, count, count));
}

AICORE inline float* data_of(int64_t argument) {
  auto* tensor = reinterpret_cast<__gm__ Tensor*>(argument);
  return reinterpret_cast<float*>(tensor->buffer.addr) + tensor->start_offset;
}
AICORE inline int64_t count_of(int64_t argument) { return reinterpret_cast<__gm__ Tensor*>(argument)->shapes[0]; }

template <typename T>
AICORE inline __gm__ T* CommRemotePtr(__gm__ CommContext* ctx, __gm__ T* local, int rank) {
  const uint64_t offset = reinterpret_cast<uint64_t>(local) - ctx->windowsIn[ctx->rankId];
  return reinterpret_cast<__gm__ T*>(ctx->windowsIn[rank] + offset);
}

/// to = from.
AICORE inline void copy_line(float* to, float* from, int64_t count) {
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t n = count - i < kPiece ? count - i : kPiece;
    Piece piece(n);
    TASSIGN(piece, 0);
    Line source = line_at(from + i, n), target = line_at(to + i, n);
    TLOAD(piece, source);
    set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
    TSTORE(target, piece);
    pipe_barrier(PIPE_ALL);
  }
}

/// to = a + b.
AICORE inline void add_lines(float* to, float* a, float* b, int64_t count) {
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t n = count - i < kPiece ? count - i : kPiece;
    Piece left(n), right(n);
    TASSIGN(left, 0x0);
    TASSIGN(right, 0x4000);
    Line from_a = line_at(a + i, n), from_b = line_at(b + i, n), target = line_at(to + i, n);
    TLOAD(left, from_a);
    TLOAD(right, from_b);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(left, left, right);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(target, left);
    pipe_barrier(PIPE_ALL);
  }
}

/// Puts a line into a peer's window.
AICORE inline void put_line(float* to, float* from, int64_t count) {
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t n = count - i < kPiece ? count - i : kPiece;
    Piece piece(n);
    TASSIGN(piece, 0);
    Line source = line_at(from + i, n), target = line_at(to + i, n);
    comm::TPUT(target, source, piece);
    pipe_barrier(PIPE_ALL);
  }
}

/// Returns when every rank has called it as often as this one. `signal` counts arrivals and is never reset; `epoch` is
/// the number of this call, from 1 on.
AICORE inline void meet(__gm__ CommContext* ctx, int32_t* signal, int32_t epoch) {
  const int ranks = static_cast<int>(ctx->rankNum);
  pipe_barrier(PIPE_ALL);
  for (int peer = 0; peer < ranks; ++peer) {
    comm::Signal there(CommRemotePtr(ctx, signal, peer));
    comm::TNOTIFY(there, 1, comm::NotifyOp::AtomicAdd);
  }
  comm::Signal here(signal);
  comm::TWAIT(here, epoch * ranks, comm::WaitCmp::GE);
  pipe_barrier(PIPE_ALL);
}
