// Telling the core which instruction runs on which pipe and which bytes it touches.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <pto/target/fail.hpp>

namespace baton::kernel {

constexpr AICORE uint32_t pipe_bit(int pipe) { return uint32_t{1} << pipe; }

/// Tile operands only.
template <typename... Ranges>
PTO_INLINE AICORE void issue(const BatonPlace& place, uint32_t pipes, const Ranges&... ranges) {
  PTO_INSTRUCTION_BOUNDARY();
  if (!kChecks) return;
  BatonCore& core = current_core();
  if ((core.watches & BATON_WATCH_ISSUE) == 0) return;
  const BatonTileRange tiles[] = {ranges...};
  const BatonIssue issue{&place, pipes, sizeof...(Ranges), tiles, nullptr, 0, 0};
  core.table->issue(&core, &issue);
}

/// Global operands, and a tile that they are copied to or from.
template <typename... Globals>
PTO_INLINE AICORE void issue_with_tile(const BatonPlace& place, uint32_t pipes, const BatonTileRange& tile,
                                       const Globals&... globals) {
  PTO_INSTRUCTION_BOUNDARY();
  if (!kChecks) return;
  BatonCore& core = current_core();
  if ((core.watches & BATON_WATCH_ISSUE) == 0) return;
  const BatonGlobalRange ranges[] = {globals...};
  const BatonIssue issue{&place, pipes, 1, &tile, ranges, sizeof...(Globals), 0};
  core.table->issue(&core, &issue);
}

/// Any operands.
template <uint32_t tile_count, uint32_t global_count>
PTO_INLINE AICORE void issue_all(const BatonPlace& place, uint32_t pipes, const BatonTileRange (&tiles)[tile_count],
                                 const BatonGlobalRange (&globals)[global_count]) {
  PTO_INSTRUCTION_BOUNDARY();
  if (!kChecks) return;
  BatonCore& core = current_core();
  if ((core.watches & BATON_WATCH_ISSUE) == 0) return;
  const BatonIssue issue{&place, pipes, tile_count, tiles, globals, global_count, 0};
  core.table->issue(&core, &issue);
}

}  // namespace baton::kernel
