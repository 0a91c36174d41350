// Kernels for devices that are not the host: nvcc, and how its code becomes a part of a kernel library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <baton/options.hpp>

#include "kernel/compile.hpp"
#include "kernel/compiler.hpp"

namespace baton::kernel {

/// The platforms that kernels are compiled for beside the simulated ones.
inline constexpr std::string_view kCuda = "cuda";

/// Throws Error (invalid_argument) if kernels cannot be compiled for it. Empty, and simulated ones: nothing to do.
[[nodiscard]] bool is_for_device(const std::string& platform);

/// nvcc: what BATON_NVCC names, or the first of the one on the `search_path`, that of `scripts/setup --cuda` and that
/// of the usual folder. Throws Error (unsupported) if there is none, or if it is older than 13.
[[nodiscard]] Compiler find_nvcc(const Options& options, const std::string& search_path,
                                 const std::string& include_root, const Cache& cache, const Deadline& deadline);

[[nodiscard]] std::vector<std::string> nvcc_flags(const CompileRequest& request, const Options& options,
                                                  const std::string& include_root);

/// Of code that runs on the matrix unit: a file of its own, because it takes more registers than kernels may have.
inline constexpr std::string_view kSessions = "_sessions";
[[nodiscard]] std::string sessions_source();
/// `flags` are those of the kernels that it is linked with.
[[nodiscard]] std::vector<std::string> sessions_flags(std::vector<std::string> flags);

/// An assembler's text that makes the file `image` a part of a library, for the platform to find. `magic`: which cores
/// the code is for, where the platform wants to know.
[[nodiscard]] std::string embedding_of(const std::string& image, const std::string& platform, std::uint32_t magic);

}  // namespace baton::kernel
