// The device code of a kernel library: an ELF file inside of it.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/shared/embedded_code.hpp"

namespace baton::cuda {

class Image {
 public:
  /// Of the library at `path`. Throws Error (not_a_kernel) if it has none.
  explicit Image(const std::string& path);

  [[nodiscard]] const std::string& path() const noexcept { return code_.path(); }
  [[nodiscard]] const void* data() const noexcept { return code_.data(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return code_.bytes(); }
  /// Of kernels for cube cores: what they are linked with to use the matrix unit.
  [[nodiscard]] const std::optional<platforms::EmbeddedCode>& sessions() const noexcept { return sessions_; }
  /// The function behind a kernel's name. Throws Error (not_a_kernel) if there is none.
  [[nodiscard]] std::string symbol_of(const std::string& kernel) const;
  [[nodiscard]] bool has(const std::string& function) const { return functions_.contains(function); }
  /// The names of those that BATON_KERNEL made.
  [[nodiscard]] std::vector<std::string> typed_kernels() const;

 private:
  platforms::EmbeddedCode code_;
  std::optional<platforms::EmbeddedCode> sessions_;
  std::set<std::string> functions_;
};

/// The names of global functions of an ELF file; of anything else none.
[[nodiscard]] std::set<std::string> functions_of(const unsigned char* file, std::size_t bytes);

}  // namespace baton::cuda
