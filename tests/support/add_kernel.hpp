// A kernel for tests of platforms: out = a + b, of at most kTile elements.
#pragma once

#include <baton_kernel.hpp>

namespace {

constexpr int kTile = 4096;
using Line = pto::Tile<pto::TileType::Vec, float, 1, kTile, pto::BLayout::RowMajor, 1, pto::DYNAMIC>;

}  // namespace

BATON_KERNEL(add, In<float> a, In<float> b, Out<float> out) {
  const auto count = static_cast<unsigned>(out.size());
  Line x(count);
  Line y(count);
  TASSIGN(x, 0);
  TASSIGN(y, kTile * sizeof(float));
  auto a_line = a.line();
  auto b_line = b.line();
  auto out_line = out.line();
  TLOAD(x, a_line);
  TLOAD(y, b_line);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TADD(x, x, y);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(out_line, x);
}
