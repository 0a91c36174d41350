// Kernels for Ascend chips: the vendor's compiler and linker, and the entries by which a chip starts kernels.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/compile.hpp"
#include "kernel/compiler.hpp"

namespace baton::kernel {

/// a2a3 and a5.
[[nodiscard]] bool is_ascend(std::string_view platform) noexcept;

/// The first ccec on the `search_path`. Throws Error (unsupported) if there is none, or no ld.lld beside it.
[[nodiscard]] Compiler find_ccec(const std::string& search_path, const Cache& cache, const Deadline& deadline);
/// The linker that belongs to it.
[[nodiscard]] std::string linker_of(const Compiler& ccec);

/// Tile headers are the vendor's: folders of the request come before ours.
[[nodiscard]] std::vector<std::string> ccec_flags(const CompileRequest& request, const std::string& include_root);
/// The same flags for another kind of core.
[[nodiscard]] std::vector<std::string> flags_for(CoreType core, std::vector<std::string> flags);

/// What a chip's loader knows code for these cores by.
[[nodiscard]] std::uint32_t magic_of(CoreType core) noexcept;

/// A source that includes `source` and has, for each of the functions, what a chip can start: `baton_launch_NAME`,
/// which takes the address of the arguments of all blocks and calls NAME with those of its own, or of its core of
/// the cluster; and `baton_tell_NAME`, which writes there at which address NAME lies.
[[nodiscard]] std::string entries_for(const std::string& source, const std::vector<std::string>& functions,
                                      CoreType core);

}  // namespace baton::kernel
