// Reading a shared library without loading it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace baton::kernel {

struct ElfSymbol {
  std::string name;
  bool function = false;
  bool hidden = false;  // of an object file
  std::uint64_t address = 0;
};

/// A shared library, or an object file, of this machine's kind. Every offset in it is checked: the file may be
/// anything.
class ElfFile {
 public:
  enum class Form : std::uint8_t { library, object };

  /// Throws Error (not_a_kernel) that says what the file is instead; (system) if it cannot be read.
  explicit ElfFile(const std::string& path, Form form = Form::library);

  /// What it offers to others: defined, global or weak.
  [[nodiscard]] const std::vector<ElfSymbol>& exported() const noexcept { return exported_; }
  [[nodiscard]] const ElfSymbol* find(std::string_view name) const noexcept;

  /// The 32-bit number that the file has for this address; nothing if it has none.
  [[nodiscard]] std::optional<std::uint32_t> number_at(std::uint64_t address) const noexcept;

 private:
  void check_header() const;
  void read_symbols();

  std::string path_;
  Form form_;
  std::string content_;
  std::vector<ElfSymbol> exported_;
};

/// Not mangled, not the compiler's, not ours.
[[nodiscard]] inline bool is_plain_name(std::string_view name) {
  return !name.starts_with('_') && !name.starts_with("baton_");
}

}  // namespace baton::kernel
