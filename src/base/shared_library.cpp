#include "base/shared_library.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <string_view>

#include "base/fail.hpp"

namespace baton {

SharedLibrary::SharedLibrary(const std::string& path, Code code)
    : SharedLibrary(code, std::filesystem::absolute(path).string()) {}

SharedLibrary::SharedLibrary(Code code, std::string name) : path_(std::move(name)), code_(code) {
  // Not global: libraries of two versions may be loaded at once.
  void* handle = ::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* said = ::dlerror();
    std::string_view reason = said == nullptr ? "no reason given" : said;
    const std::string begin = path_ + ": ";
    if (reason.starts_with(begin)) reason.remove_prefix(begin.size());
    fail(code, "{} cannot be loaded: {}", path_, reason);
  }
  handle_ = std::shared_ptr<void>(handle, [](void* loaded) { ::dlclose(loaded); });
}

void* SharedLibrary::find(const char* name) const noexcept { return ::dlsym(handle_.get(), name); }

void* SharedLibrary::find_required(const char* name) const {
  void* const symbol = find(name);
  if (symbol == nullptr) fail(code_, "{} has no function {}, which every such library must have", path_, name);
  return symbol;
}

}  // namespace baton
