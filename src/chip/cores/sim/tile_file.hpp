// Tiles in files of NumPy's.
#pragma once

#include <string>

#include <pto/target/core.hpp>

namespace baton::chip {

/// What stands in a path for where a kernel runs.
struct DumpOrigin {
  std::string rank;    // {rank}
  std::string core;    // {core}
  std::string kernel;  // {kernel}
  std::string block;   // {block}
};

/// Writes `dump` into the file that its path names. Throws Error (system, no_space).
void write_tile_file(const BatonDump& dump, const DumpOrigin& origin);

}  // namespace baton::chip
