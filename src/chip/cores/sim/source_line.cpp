#include "chip/cores/sim/source_line.hpp"

#if defined(BATON_HAS_LIBDW)

#include <elfutils/libdwfl.h>
#include <unistd.h>

#include <memory>

#include <fmt/format.h>

namespace baton::chip {
namespace {

/// Lines come from the binary itself: no search for files with debug information elsewhere, let alone on the network.
int find_nothing(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word, char**) {
  return -1;
}

struct End {
  void operator()(Dwfl* session) const noexcept { ::dwfl_end(session); }
};

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
  return fmt::format("{}:{}", file, number);
}

}  // namespace baton::chip

#else

namespace baton::chip {

std::optional<std::string> source_line(const void* /*address*/) { return std::nullopt; }

}  // namespace baton::chip

#endif
