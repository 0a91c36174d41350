#include "kernel/elf_file.hpp"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "base/text_file.hpp"

namespace baton::kernel {
namespace {

static_assert(std::endian::native == std::endian::little && sizeof(void*) == 8);

#if defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#elif defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#else
#error "Baton does not know the ELF number of this machine"
#endif

std::string name_of_machine(Elf64_Half machine) {
  switch (machine) {
    case EM_AARCH64: return "aarch64";
    case EM_X86_64: return "x86-64";
    case EM_386: return "x86";
    case EM_ARM: return "32-bit ARM";
    case EM_RISCV: return "RISC-V";
    case EM_PPC64: return "POWER";
    default: return fmt::format("machine {}", machine);
  }
}

/// A copy of the struct at `offset`; nothing if the file ends before its end.
template <class Struct>
std::optional<Struct> at(std::string_view content, std::uint64_t offset) noexcept {
  if (offset > content.size() || content.size() - offset < sizeof(Struct)) return std::nullopt;
  Struct value;
  std::memcpy(&value, content.data() + offset, sizeof value);
  return value;
}

/// The text that begins at `offset` of a table of texts.
std::string_view text_at(std::string_view table, std::uint64_t offset) noexcept {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

std::string_view bytes_of(std::string_view content, const Elf64_Shdr& section) noexcept {
  if (section.sh_offset > content.size()) return {};
  return content.substr(section.sh_offset, section.sh_size);
}

}  // namespace

ElfFile::ElfFile(const std::string& path, Form form) : path_(path), form_(form) {
  auto content = read_text_file(path);
  if (!content) fail_system(fmt::format("reading the kernel library {}", path));
  content_ = *std::move(content);
  check_header();
  read_symbols();
}

void ElfFile::check_header() const {
  if (!content_.starts_with(ELFMAG)) {
    const std::string begin = content_.empty() ? "is empty" : "begins with " + quote(content_.substr(0, 16));
    throw Error(Code::not_a_kernel, fmt::format("{} is not a library: it {}", path_, begin));
  }
  const auto header = at<Elf64_Ehdr>(content_, 0);
  if (header && header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_machine != kMachine) {
    fail(Code::not_a_kernel, "{} was built for {}, and this machine is {}", path_, name_of_machine(header->e_machine),
         name_of_machine(kMachine));
  }
  if (header && header->e_ident[EI_CLASS] != ELFCLASS64) {
    fail(Code::not_a_kernel, "{} is not a 64-bit library", path_);
  }
  if (header && form_ == Form::library && header->e_type != ET_DYN) {
    fail(Code::not_a_kernel, "{} is not a shared library, but {}", path_,
         header->e_type == ET_REL    ? "an object file, which is yet to be linked with -shared"
         : header->e_type == ET_EXEC ? "a program"
                                     : "another kind of ELF file");
  }
  const std::uint64_t sections_end =
      header ? header->e_shoff + std::uint64_t{header->e_shnum} * sizeof(Elf64_Shdr) : sizeof(Elf64_Ehdr);
  if (!header || sections_end > content_.size()) {
    fail(Code::not_a_kernel, "{} is cut off: it has {} bytes and should have {} or more", path_, content_.size(),
         sections_end);
  }
}

void ElfFile::read_symbols() {
  const auto header = *at<Elf64_Ehdr>(content_, 0);
  const auto section = [&](std::uint64_t index) {
    return at<Elf64_Shdr>(content_, header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  const Elf64_Word kind = form_ == Form::library ? SHT_DYNSYM : SHT_SYMTAB;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto symbols = section(i);
    if (!symbols || symbols->sh_type != kind || symbols->sh_link >= header.e_shnum) continue;
    const auto names = section(symbols->sh_link);
    if (!names) continue;
    const std::string_view table = bytes_of(content_, *symbols);
    const std::string_view texts = bytes_of(content_, *names);
    for (std::uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= table.size(); offset += sizeof(Elf64_Sym)) {
      const auto symbol = *at<Elf64_Sym>(table, offset);
      if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
      const std::string_view name = text_at(texts, symbol.st_name);
      if (name.empty()) continue;
      exported_.push_back({std::string(name), ELF64_ST_TYPE(symbol.st_info) == STT_FUNC,
                           ELF64_ST_VISIBILITY(symbol.st_other) != STV_DEFAULT, symbol.st_value});
    }
  }
}

const ElfSymbol* ElfFile::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(exported_, name, &ElfSymbol::name);
  return found == exported_.end() ? nullptr : &*found;
}

std::optional<std::uint32_t> ElfFile::number_at(std::uint64_t address) const noexcept {
  const auto header = at<Elf64_Ehdr>(content_, 0);
  for (std::uint64_t i = 0; header && i < header->e_phnum; ++i) {
    const auto segment = at<Elf64_Phdr>(content_, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (!segment || segment->p_type != PT_LOAD || address < segment->p_vaddr) continue;
    const std::uint64_t offset = address - segment->p_vaddr;
    if (offset < segment->p_filesz) return at<std::uint32_t>(content_, segment->p_offset + offset);
  }
  return std::nullopt;
}

}  // namespace baton::kernel
