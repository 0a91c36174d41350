#include "chip/cores/sim/byte_runs.hpp"

#include <array>

namespace baton::chip {
namespace {

constexpr std::size_t kDimensions = 5;

struct Dimension {
  std::int64_t extent;
  std::int64_t stride_bytes;
};

/// The dimensions of an access that are left when those which continue a run without gaps are merged into it.
struct Runs {
  std::array<Dimension, kDimensions> dimensions;
  std::size_t count = 0;
  std::int64_t bytes;
};

Runs merged(const BatonGlobalRange& range) {
  Runs runs{{}, 0, range.element_bytes};
  for (std::size_t d = kDimensions; d-- > 0;) {
    if (range.shape[d] > 1) runs.dimensions[runs.count++] = {range.shape[d], range.stride_bytes[d]};
  }
  for (std::size_t i = 0; i < runs.count;) {
    if (runs.dimensions[i].stride_bytes != runs.bytes) {
      ++i;
      continue;
    }
    runs.bytes *= runs.dimensions[i].extent;
    for (std::size_t j = i + 1; j < runs.count; ++j) runs.dimensions[j - 1] = runs.dimensions[j];
    --runs.count;
    i = 0;
  }
  return runs;
}

bool walk(const Runs& runs, std::size_t dimensions, std::uintptr_t at, FunctionRef<bool(ByteRange)> visit) {
  if (dimensions == 0) return visit({at, at + static_cast<std::uintptr_t>(runs.bytes)});
  const auto [extent, stride] = runs.dimensions[dimensions - 1];
  for (std::int64_t i = 0; i < extent; ++i) {
    if (!walk(runs, dimensions - 1, at + static_cast<std::uintptr_t>(i * stride), visit)) return false;
  }
  return true;
}

}  // namespace

bool for_each_run(const BatonTileRange& range, FunctionRef<bool(ByteRange)> visit) {
  const auto at = reinterpret_cast<std::uintptr_t>(range.address);
  if (range.rows == 0) return true;  // an empty tile
  if (range.row_bytes == range.pitch_bytes || range.rows == 1) {
    return visit({at, at + (range.rows - 1) * range.pitch_bytes + range.row_bytes});
  }
  for (std::uint64_t row = 0; row < range.rows; ++row) {
    const std::uintptr_t begin = at + row * range.pitch_bytes;
    if (!visit({begin, begin + range.row_bytes})) return false;
  }
  return true;
}

bool for_each_run(const BatonGlobalRange& range, FunctionRef<bool(ByteRange)> visit) {
  const Runs runs = merged(range);
  return walk(runs, runs.count, reinterpret_cast<std::uintptr_t>(range.address), visit);
}

void for_each_rows(const BatonGlobalRange& range, FunctionRef<void(std::uintptr_t, const CheckedRows&)> visit) {
  Runs runs = merged(range);
  CheckedRows rows{.rows = 1, .row_bytes = static_cast<std::uint64_t>(runs.bytes), .pitch_bytes = 0};
  if (runs.count > 0) {
    // The innermost of those that are left.
    const CheckedRows several{.rows = static_cast<std::uint64_t>(runs.dimensions[0].extent),
                              .row_bytes = rows.row_bytes,
                              .pitch_bytes = static_cast<std::uint64_t>(runs.dimensions[0].stride_bytes)};
    if (several.fit()) {
      rows = several;
      for (std::size_t i = 1; i < runs.count; ++i) runs.dimensions[i - 1] = runs.dimensions[i];
      --runs.count;
    }
  }
  walk(runs, runs.count, reinterpret_cast<std::uintptr_t>(range.address), [&](ByteRange run) {
    visit(run.begin, rows);
    return true;
  });
}

}  // namespace baton::chip
