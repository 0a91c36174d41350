#include "chip/cores/sim/code_name.hpp"

#include <string_view>

#include "base/demangled.hpp"

namespace baton::chip {
namespace {

/// The name of a kernel that follows `prefix`; empty if there is none.
std::string_view kernel_after(std::string_view prefix, std::string_view text) {
  const auto at = text.find(prefix);
  const bool begins =
      at == 0 || (at != std::string_view::npos && std::string_view(":< ").find(text[at - 1]) != std::string_view::npos);
  if (!begins) return {};
  const std::string_view rest = text.substr(at + prefix.size());
  return rest.substr(0, rest.find_first_of(":(<"));
}

}  // namespace

std::string name_of_code(const char* symbol) {
  if (symbol == nullptr) return "?";
  // A function of C may be called "f", which is also the code for float.
  std::string name = std::string_view(symbol).starts_with("_Z") ? demangled(symbol) : symbol;
  // See BATON_TYPED_KERNEL: the function that holds its text, and the one that calls it.
  for (const std::string_view prefix : {"baton_body_of_", "baton_declaration_of_", "baton_kernel_"}) {
    if (const std::string_view kernel = kernel_after(prefix, name); !kernel.empty()) return std::string(kernel);
  }
  return name;
}

}  // namespace baton::chip
