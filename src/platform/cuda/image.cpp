#include "platform/cuda/image.hpp"

#include <elf.h>

#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include <baton/error.hpp>

namespace baton::cuda {
namespace {

/// Of what BATON_KERNEL makes.
constexpr std::string_view kTypedPrefix = "baton_kernel_";

/// A copy of what lies at `offset`; false if the file ends before.
template <class Record>
bool read_at(const unsigned char* file, std::size_t bytes, std::size_t offset, Record& record) {
  if (offset > bytes || bytes - offset < sizeof record) return false;
  std::memcpy(&record, file + offset, sizeof record);
  return true;
}

}  // namespace

std::set<std::string> functions_of(const unsigned char* file, std::size_t bytes) {
  std::set<std::string> names;
  Elf64_Ehdr header{};
  if (!read_at(file, bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return names;
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr symbols{};
    if (!read_at(file, bytes, header.e_shoff + i * header.e_shentsize, symbols) || symbols.sh_type != SHT_SYMTAB) {
      continue;
    }
    Elf64_Shdr texts{};
    if (!read_at(file, bytes, header.e_shoff + std::size_t{symbols.sh_link} * header.e_shentsize, texts)) continue;
    for (std::size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol{};
      if (!read_at(file, bytes, symbols.sh_offset + at, symbol)) break;
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
      const std::size_t name = texts.sh_offset + symbol.st_name;
      if (name >= bytes) continue;
      names.emplace(reinterpret_cast<const char*>(file) + name,
                    ::strnlen(reinterpret_cast<const char*>(file) + name, bytes - name));
    }
  }
  return names;
}

Image::Image(const std::string& path) : code_(path, "cuda"), functions_(functions_of(code_.data(), code_.bytes())) {
  if (code_.symbol("baton_cuda_sessions_image") != nullptr) sessions_.emplace(path, "cuda", "_sessions");
}

std::vector<std::string> Image::typed_kernels() const {
  std::vector<std::string> names;
  for (const std::string& name : functions_) {
    if (name.starts_with(kTypedPrefix)) names.push_back(name.substr(kTypedPrefix.size()));
  }
  return names;
}

std::string Image::symbol_of(const std::string& kernel) const {
  for (const std::string& name : {std::string(kTypedPrefix) + kernel, kernel}) {
    if (functions_.contains(name)) return name;
  }
  throw Error(Code::not_a_kernel, fmt::format("the code for NVIDIA GPUs in {} has no kernel '{}'", path(), kernel));
}

}  // namespace baton::cuda
