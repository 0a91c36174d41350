#include "chip/cores/sim/source_line.hpp"

#if defined(BATON_HAS_LIBDW)

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string_view>

#include <fmt/format.h>

namespace baton::chip {
namespace {

/// Lines come from the binary itself: no search for files with debug information elsewhere, let alone on the network.
int find_nothing(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) {
  return -1;
}

struct End {
  void operator()(Dwfl* session) const noexcept { ::dwfl_end(session); }
  void operator()(Dwarf_Die* scopes) const noexcept { std::free(scopes); }  // NOLINT(cppcoreguidelines-no-malloc)
};

struct Line {
  std::string_view file;
  int number = 0;
};

/// A header of Baton's or of the system, which no author of kernels has written.
bool is_of_others(std::string_view file) {
  constexpr std::string_view kOthers[] = {"/include/kernel/", "/include/c++/", "/usr/include/", "/usr/lib/"};
  for (const std::string_view folder : kOthers) {
    if (file.find(folder) != std::string_view::npos) return true;
  }
  return false;
}

/// Of code that was moved into its caller, the line of the first caller that an author of kernels has written.
std::optional<Line> line_of_author(Dwfl_Module* module, Dwarf_Addr at) {
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = ::dwfl_module_addrdie(module, at, &bias);
  if (unit == nullptr) return std::nullopt;
  Dwarf_Die* found = nullptr;
  const int count = ::dwarf_getscopes(unit, at - bias, &found);
  const std::unique_ptr<Dwarf_Die, End> scopes(found);
  Dwarf_Files* files = nullptr;
  if (count <= 0 || ::dwarf_getsrcfiles(unit, &files, nullptr) != 0) return std::nullopt;
  for (int i = 0; i < count; ++i) {
    Dwarf_Die* const scope = scopes.get() + i;
    if (::dwarf_tag(scope) != DW_TAG_inlined_subroutine) continue;
    Dwarf_Attribute attribute;
    Dwarf_Word file = 0;
    Dwarf_Word number = 0;
    if (::dwarf_formudata(::dwarf_attr(scope, DW_AT_call_file, &attribute), &file) != 0 ||
        ::dwarf_formudata(::dwarf_attr(scope, DW_AT_call_line, &attribute), &number) != 0) {
      continue;
    }
    const char* const name = ::dwarf_filesrc(files, file, nullptr, nullptr);
    if (name != nullptr && !is_of_others(name)) return Line{name, static_cast<int>(number)};
  }
  return std::nullopt;
}

/// The name of a text that is in no file has no folder, though compilers give it the one where they ran.
std::string_view without_invented_folder(std::string_view file) {
  const std::size_t text = file.rfind("/<");
  return text != std::string_view::npos && file.ends_with('>') ? file.substr(text + 1) : file;
}

}  // namespace

std::optional<std::string> source_line(const void* address) {
  static const Dwfl_Callbacks callbacks = {.find_elf = ::dwfl_linux_proc_find_elf,
                                           .find_debuginfo = find_nothing,
                                           .section_address = nullptr,
                                           .debuginfo_path = nullptr};
  const std::unique_ptr<Dwfl, End> session(::dwfl_begin(&callbacks));
  if (session == nullptr || ::dwfl_linux_proc_report(session.get(), ::getpid()) != 0 ||
      ::dwfl_report_end(session.get(), nullptr, nullptr) != 0) {
    return std::nullopt;
  }
  const auto at = reinterpret_cast<Dwarf_Addr>(address);
  Dwfl_Module* const module = ::dwfl_addrmodule(session.get(), at);
  Dwfl_Line* const line = module == nullptr ? nullptr : ::dwfl_module_getsrc(module, at);
  if (line == nullptr) return std::nullopt;
  int number = 0;
  const char* const file = ::dwfl_lineinfo(line, nullptr, &number, nullptr, nullptr, nullptr);
  if (file == nullptr || number == 0) return std::nullopt;
  Line shown{file, number};
  if (is_of_others(file)) shown = line_of_author(module, at).value_or(shown);
  return fmt::format("{}:{}", without_invented_folder(shown.file), shown.number);
}

}  // namespace baton::chip

#else

namespace baton::chip {

std::optional<std::string> source_line(const void* /*address*/) { return std::nullopt; }

}  // namespace baton::chip

#endif
