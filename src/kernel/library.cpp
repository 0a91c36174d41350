#include "kernel/library.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/fail.hpp"
#include "base/quote.hpp"
#include "kernel/elf_file.hpp"

namespace baton::kernel {
namespace {

constexpr const char* kAbiVersion = "baton_kernel_abi_version";
/// Of BATON_ORCHESTRATION.
constexpr std::string_view kOrchestrationPrefix = "baton_orchestration_";

void check_abi(const ElfFile& file, const std::string& path) {
  const ElfSymbol* symbol = file.find(kAbiVersion);
  const auto version = symbol == nullptr ? std::nullopt : file.number_at(symbol->address);
  if (!version) {
    throw Error(
        Code::wrong_abi, fmt::format("{} does not say for which version of Baton it was built", path),
        {fmt::format("a library of kernels exports {}; `-include baton/kernel_library.hpp` adds it", kAbiVersion)});
  }
  if (*version != BATON_KERNEL_ABI_VERSION) {
    fail(Code::wrong_abi, "{} was built for version {} of the kernel ABI, and this Baton has version {}", path,
         *version, static_cast<std::uint32_t>(BATON_KERNEL_ABI_VERSION));
  }
}

/// A library may call functions of Baton itself: orchestrations do. The dynamic linker finds them if Baton is global,
/// which it is not where another library, such as a Python module, brought it in.
void make_baton_global() {
  static const bool done = [] {
    Dl_info info{};
    if (::dladdr(reinterpret_cast<const void*>(&make_baton_global), &info) == 0 || info.dli_fname == nullptr)
      return false;
    // Not closed: it stays global.
    return ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL) != nullptr;
  }();
  static_cast<void>(done);
}

template <class Function>
Function function_at(void* handle, const char* name) {
  return reinterpret_cast<Function>(::dlsym(handle, name));
}

}  // namespace

void KernelLibrary::Closer::operator()(void* handle) const noexcept { ::dlclose(handle); }

KernelLibrary load(const std::string& path) {
  const ElfFile file(path);
  check_abi(file, path);
  make_baton_global();
  auto state = std::make_shared<KernelLibrary::State>();
  state->path = std::filesystem::absolute(path).string();
  state->handle.reset(::dlopen(state->path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!state->handle) {
    const char* reason = ::dlerror();
    fail(Code::not_a_kernel, "{} cannot be loaded: {}", path, reason == nullptr ? "no reason given" : reason);
  }
  const auto* table = static_cast<const BatonKernelTable*>(::dlsym(state->handle.get(), "baton_kernel_table"));
  if (table != nullptr) {
    if (table->abi_version != BATON_KERNEL_ABI_VERSION || table->entry_bytes != sizeof(BatonKernelEntry)) {
      fail(Code::wrong_abi, "{} registers kernels in the form of version {}, and this Baton has version {}", path,
           table->abi_version, static_cast<std::uint32_t>(BATON_KERNEL_ABI_VERSION));
    }
    for (const BatonKernelEntry* entry = table->begin; entry != table->end; ++entry) {
      state->registered.push_back(*entry);
      state->names.emplace_back(entry->name);
    }
  }
  for (const ElfSymbol& symbol : file.exported()) {
    state->exported.push_back(symbol.name);
    if (symbol.function) state->functions.push_back(symbol.name);
  }
  std::ranges::sort(state->exported);
  std::ranges::sort(state->functions);
  if (state->names.empty()) std::ranges::copy_if(state->functions, std::back_inserter(state->names), is_plain_name);
  std::ranges::sort(state->names);
  return KernelLibrary(std::move(state));
}

BatonKernelEntry KernelLibrary::kernel(std::string_view name) const {
  for (const BatonKernelEntry& entry : state_->registered) {
    if (name == entry.name) return entry;
  }
  const auto found = std::ranges::lower_bound(state_->functions, name, std::ranges::less{},
                                              [](const std::string& function) { return std::string_view(function); });
  if (found != state_->functions.end() && *found == name) {
    if (const auto function = function_at<BatonKernelFunction>(state_->handle.get(), found->c_str())) {
      return {found->c_str(), function, nullptr, BATON_CORE_VECTOR, 0};
    }
  }
  throw Error(Code::not_a_kernel, fmt::format("{} has no kernel {}", state_->path, quote(name)),
              {names().empty() ? "it has none; a kernel is a function extern \"C\" void kernel_entry(int64_t* args)"
                               : fmt::format("it has {}", fmt::join(names(), ", "))});
}

void* KernelLibrary::orchestration(std::string_view name) const {
  const std::string symbol = std::string(kOrchestrationPrefix) + std::string(name);
  if (std::ranges::binary_search(state_->functions, symbol)) return ::dlsym(state_->handle.get(), symbol.c_str());
  std::vector<std::string_view> known;
  for (const std::string_view function : state_->functions) {
    if (function.starts_with(kOrchestrationPrefix)) known.push_back(function.substr(kOrchestrationPrefix.size()));
  }
  throw Error(Code::not_a_kernel, fmt::format("{} has no orchestration {}", state_->path, quote(name)),
              {known.empty() ? "it has none; BATON_ORCHESTRATION of baton/orchestration.hpp defines one"
                             : fmt::format("it has {}", fmt::join(known, ", "))});
}

void* KernelLibrary::symbol(const std::string& name) const noexcept {
  // The dynamic linker would also look into the libraries that it needs.
  if (!std::ranges::binary_search(state_->exported, name)) return nullptr;
  return ::dlsym(state_->handle.get(), name.c_str());
}

void KernelLibrary::bind_core(BatonCoreProvider provider) const {
  using Bind = void (*)(BatonCoreProvider);
  // A library without this function calls whatever baton_core_current the program exports.
  if (const auto bind = function_at<Bind>(state_->handle.get(), "baton_kernel_bind_core")) bind(provider);
}

}  // namespace baton::kernel
