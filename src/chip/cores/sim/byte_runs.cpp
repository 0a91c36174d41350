#include "chip/cores/sim/byte_runs.hpp"

#include <pto/order/runs.hpp>

namespace baton::chip {
namespace {

using kernel::Runs;

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
  if (range.rows == 0) return true;  // an empty tile
  const Runs runs = kernel::runs_of(range);
  return walk(runs, runs.count, runs.address, visit);
}

bool for_each_run(const BatonGlobalRange& range, FunctionRef<bool(ByteRange)> visit) {
  const Runs runs = kernel::runs_of(range);
  return walk(runs, runs.count, runs.address, visit);
}

void for_each_rows(const BatonGlobalRange& range, FunctionRef<void(std::uintptr_t, const CheckedRows&)> visit) {
  Runs runs = kernel::runs_of(range);
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
  walk(runs, runs.count, runs.address, [&](ByteRange run) {
    visit(run.begin, rows);
    return true;
  });
}

}  // namespace baton::chip
