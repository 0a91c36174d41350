#include "base/imports.hpp"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace baton {
namespace {

#if defined(__x86_64__)
constexpr std::uint64_t kSlotOfCall = R_X86_64_JUMP_SLOT;
constexpr std::uint64_t kSlotOfAddress = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr std::uint64_t kSlotOfCall = R_AARCH64_JUMP_SLOT;
constexpr std::uint64_t kSlotOfAddress = R_AARCH64_GLOB_DAT;
#else
constexpr std::uint64_t kSlotOfCall = ~std::uint64_t{0};
constexpr std::uint64_t kSlotOfAddress = ~std::uint64_t{0};
#endif

/// What the loader needs to know of a library, as its file says it.
struct Library {
  std::uintptr_t base = 0;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * calls = nullptr;
  std::size_t call_bytes = 0;
  const ElfW(Rela) * others = nullptr;
  std::size_t other_bytes = 0;
  // What the loader made read-only when it had filled it.
  std::uintptr_t sealed_begin = 0;
  std::uintptr_t sealed_end = 0;
};

std::uintptr_t page_of(std::uintptr_t address) {
  return address & ~(static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)) - 1);
}

void read_dynamic(Library& library, const ElfW(Dyn) * entry) {
  // The C library has turned what the file has into addresses on most machines, but not on all.
  const auto at = [&](const ElfW(Dyn) * one) {
    const std::uintptr_t value = one->d_un.d_ptr;
    return reinterpret_cast<const void*>(value < library.base ? library.base + value : value);
  };
  for (; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB: library.symbols = static_cast<const ElfW(Sym)*>(at(entry)); break;
      case DT_STRTAB: library.names = static_cast<const char*>(at(entry)); break;
      case DT_JMPREL: library.calls = static_cast<const ElfW(Rela)*>(at(entry)); break;
      case DT_PLTRELSZ: library.call_bytes = entry->d_un.d_val; break;
      case DT_RELA: library.others = static_cast<const ElfW(Rela)*>(at(entry)); break;
      case DT_RELASZ: library.other_bytes = entry->d_un.d_val; break;
      default: break;
    }
  }
}

struct Search {
  std::uintptr_t inside;
  Library found;
};

int take_if_inside(dl_phdr_info* info, std::size_t /*bytes*/, void* search) {
  auto& wanted = *static_cast<Search*>(search);
  bool is_it = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    is_it = is_it || (part.p_type == PT_LOAD && wanted.inside >= begin && wanted.inside < begin + part.p_memsz);
  }
  if (!is_it) return 0;
  Library& library = wanted.found;
  library.base = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_DYNAMIC) read_dynamic(library, reinterpret_cast<const ElfW(Dyn)*>(begin));
    if (part.p_type != PT_GNU_RELRO) continue;
    library.sealed_begin = page_of(begin);
    library.sealed_end = page_of(begin + part.p_memsz);
  }
  return 1;
}

bool write_slot(const Library& library, std::uintptr_t slot, void* replacement) noexcept {
  const bool is_sealed = slot >= library.sealed_begin && slot < library.sealed_end;
  auto* const page = reinterpret_cast<void*>(page_of(slot));
  const auto bytes = static_cast<std::size_t>(slot - page_of(slot)) + sizeof replacement;
  if (is_sealed && ::mprotect(page, bytes, PROT_READ | PROT_WRITE) != 0) return false;
  // Relaxed: a thread of the library calls the one function or the other.
  std::atomic_ref(*reinterpret_cast<void**>(slot)).store(replacement, std::memory_order_relaxed);
  if (is_sealed) ::mprotect(page, bytes, PROT_READ);
  return true;
}

}  // namespace

bool replace_import(const void* inside, const char* name, void* replacement) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(inside), {}};
  if (::dl_iterate_phdr(&take_if_inside, &search) != 1) return false;
  const Library& library = search.found;
  if (library.symbols == nullptr || library.names == nullptr) return false;
  bool any = false;
  const auto replace_in = [&](const ElfW(Rela) * slots, std::size_t bytes) {
    for (std::size_t i = 0; slots != nullptr && i < bytes / sizeof(ElfW(Rela)); ++i) {
      const std::uint64_t kind = ELF64_R_TYPE(slots[i].r_info);
      if (kind != kSlotOfCall && kind != kSlotOfAddress) continue;
      const ElfW(Sym)& symbol = library.symbols[ELF64_R_SYM(slots[i].r_info)];
      if (std::strcmp(library.names + symbol.st_name, name) != 0) continue;
      any = write_slot(library, library.base + slots[i].r_offset, replacement) || any;
    }
  };
  replace_in(library.calls, library.call_bytes);
  replace_in(library.others, library.other_bytes);
  return any;
}

}  // namespace baton
