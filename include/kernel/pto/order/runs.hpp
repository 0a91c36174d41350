// The bytes that an instruction touches, as runs without gaps at equal distances.
#pragma once

#include <pto/target/compiler.hpp>
#include <pto/target/core.hpp>

namespace baton::kernel {

struct RunDimension {
  int64_t extent;
  int64_t stride_bytes;
};

/// The dimensions of an access that are left when those which continue a run without gaps are merged into it.
struct Runs {
  uint64_t address;
  int64_t bytes;  // of a run
  uint32_t count;
  uint32_t reserved;
  RunDimension dimensions[5];  // the innermost first
};

/// None if nothing is touched: then `bytes` is 0.
PTO_ANYWHERE inline Runs runs_of(const BatonTileRange& range) {
  Runs runs{reinterpret_cast<uint64_t>(range.address), 0, 0, 0, {}};
  if (range.rows == 0) return runs;  // an empty tile
  const bool is_one = range.row_bytes == range.pitch_bytes || range.rows == 1;
  runs.bytes = static_cast<int64_t>(is_one ? (range.rows - 1) * range.pitch_bytes + range.row_bytes : range.row_bytes);
  if (!is_one) {
    runs.dimensions[runs.count++] = {static_cast<int64_t>(range.rows), static_cast<int64_t>(range.pitch_bytes)};
  }
  return runs;
}

PTO_ANYWHERE inline Runs runs_of(const BatonGlobalRange& range) {
  Runs runs{reinterpret_cast<uint64_t>(range.address), range.element_bytes, 0, 0, {}};
  for (uint32_t d = 5; d-- > 0;) {
    if (range.shape[d] > 1) runs.dimensions[runs.count++] = {range.shape[d], range.stride_bytes[d]};
  }
  for (uint32_t i = 0; i < runs.count;) {
    if (runs.dimensions[i].stride_bytes != runs.bytes) {
      ++i;
      continue;
    }
    runs.bytes *= runs.dimensions[i].extent;
    for (uint32_t j = i + 1; j < runs.count; ++j) runs.dimensions[j - 1] = runs.dimensions[j];
    --runs.count;
    i = 0;
  }
  return runs;
}

/// [begin, end)
struct Bytes {
  uint64_t begin;
  uint64_t end;
};

/// From the first byte to behind the last one.
PTO_ANYWHERE inline Bytes span_of(const Runs& runs) {
  Bytes span{runs.address, runs.address + static_cast<uint64_t>(runs.bytes)};
  for (uint32_t i = 0; i < runs.count; ++i) {
    const int64_t reach = (runs.dimensions[i].extent - 1) * runs.dimensions[i].stride_bytes;
    (reach < 0 ? span.begin : span.end) += static_cast<uint64_t>(reach);
  }
  return span;
}

/// Calls visit(begin) for each run of the dimensions from `first` on, as long as it is false. Whether it was true.
template <typename Visit>
PTO_ANYWHERE bool any_run(const Runs& runs, uint32_t first, Visit visit) {
  int64_t at[5] = {};
  uint64_t begin = runs.address;
  while (true) {
    if (visit(begin)) return true;
    uint32_t dim = first;
    for (; dim < runs.count; ++dim) {
      begin += static_cast<uint64_t>(runs.dimensions[dim].stride_bytes);
      if (++at[dim] < runs.dimensions[dim].extent) break;
      begin -= static_cast<uint64_t>(runs.dimensions[dim].extent * runs.dimensions[dim].stride_bytes);
      at[dim] = 0;
    }
    if (dim >= runs.count) return false;
  }
}

/// A piece that some run of `runs` has in common with `bytes`, if there is one.
PTO_ANYWHERE inline bool meet(const Runs& runs, Bytes bytes, Bytes& piece) {
  const auto length = static_cast<uint64_t>(runs.bytes);
  return any_run(runs, 1, [&](uint64_t begin) {
    RunDimension line = runs.count == 0 ? RunDimension{1, 0} : runs.dimensions[0];
    if (line.stride_bytes < 0) {
      begin += static_cast<uint64_t>((line.extent - 1) * line.stride_bytes);
      line.stride_bytes = -line.stride_bytes;
    }
    // The first run that ends behind the beginning of the bytes.
    int64_t first = 0;
    if (begin + length <= bytes.begin) {
      if (line.stride_bytes == 0) return false;
      first = static_cast<int64_t>((bytes.begin - begin - length) / static_cast<uint64_t>(line.stride_bytes) + 1);
    }
    if (first >= line.extent) return false;
    const uint64_t at = begin + static_cast<uint64_t>(first * line.stride_bytes);
    if (at >= bytes.end) return false;
    piece.begin = at > bytes.begin ? at : bytes.begin;
    piece.end = at + length < bytes.end ? at + length : bytes.end;
    return true;
  });
}

/// Whether two accesses have a byte in common; if so, one piece of those.
PTO_ANYWHERE inline bool share_bytes(const Runs& a, const Runs& b, Bytes& shared) {
  const auto count_of = [](const Runs& runs) {
    int64_t count = 1;
    for (uint32_t i = 0; i < runs.count; ++i) count *= runs.dimensions[i].extent;
    return count;
  };
  const bool swapped = count_of(b) < count_of(a);
  const Runs& fewer = swapped ? b : a;
  const Runs& more = swapped ? a : b;
  return any_run(fewer, 0, [&](uint64_t begin) {
    const uint64_t end = begin + static_cast<uint64_t>(fewer.bytes);
    if (!meet(more, {begin, end}, shared)) return false;
    // As far as the other one goes on without a gap.
    for (Bytes next{}; shared.end < end && meet(more, {shared.end, end}, next) && next.begin == shared.end;) {
      shared.end = next.end;
    }
    return true;
  });
}

}  // namespace baton::kernel
