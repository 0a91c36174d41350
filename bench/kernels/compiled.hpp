// The kernels of sources/, compiled as a user's kernels are: at run time, with the default flags, into a cache.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

#include <pto/target/core.hpp>
#include <support/arguments.hpp>

#include "kernel/compile.hpp"
#include "kernel/library.hpp"

namespace bench {

/// Rows and columns of a tile of floats.
struct TileSize {
  int rows;
  int cols;
};

[[nodiscard]] inline TileSize tile_of(std::size_t bytes) {
  const auto floats = static_cast<int>(bytes / sizeof(float));
  constexpr int kMostCols = 1024;
  return floats <= kMostCols ? TileSize{1, floats} : TileSize{floats / kMostCols, kMostCols};
}

[[nodiscard]] inline baton::Options cache_options() {
  baton::Options options;
  options.cache_dir = BENCH_KERNEL_CACHE;
  return options;
}

/// The request for sources/NAME.cpp. The method "unchecked" compiles checks out.
[[nodiscard]] inline baton::kernel::CompileRequest request_for(const std::string& name, const Arguments& arguments) {
  const TileSize tile = tile_of(arguments.bytes);
  std::vector<std::string> defines = {"ROWS=" + std::to_string(tile.rows), "COLS=" + std::to_string(tile.cols),
                                      "SIDE=" + std::to_string(arguments.side)};
  if (arguments.method == "unchecked") defines.emplace_back("PTO_NO_CHECKS");
  return {.source = std::string(BENCH_KERNEL_SOURCES) + "/" + name + ".cpp",
          .text = std::nullopt,
          .include_dirs = {},
          .defines = std::move(defines),
          .flags = {}};
}

[[nodiscard]] inline baton::kernel::KernelLibrary compiled(const std::string& name, const Arguments& arguments) {
  auto library = baton::kernel::load(baton::kernel::compile(request_for(name, arguments), cache_options()).library);
  library.bind_core(baton_core_current);
  return library;
}

inline void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(what);
}

}  // namespace bench
