#include "cli/kernel_listing.hpp"

#include <fmt/format.h>

#include "kernel/signature.hpp"

namespace baton::cli {

std::string list_kernels(const kernel::KernelLibrary& library) {
  std::string text;
  for (const std::string& name : library.names()) {
    const BatonKernelEntry kernel = library.kernel(name);
    if (kernel.signature == nullptr) {
      text += fmt::format("  {}(int64_t* args)\n", name);
      continue;
    }
    text +=
        fmt::format("  {}  [{} core, {}:{}]\n", kernel::describe(name, *kernel.signature),
                    kernel.core == BATON_CORE_CUBE ? "cube" : "vector", kernel.signature->file, kernel.signature->line);
  }
  return text;
}

bool is_library_path(const std::string& path) { return path.ends_with(".so"); }

}  // namespace baton::cli
