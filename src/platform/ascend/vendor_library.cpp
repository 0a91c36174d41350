#include "platform/ascend/vendor_library.hpp"

#include <dlfcn.h>

#include <vector>

#include <fmt/format.h>

#include <baton/error.hpp>

namespace baton::ascend {

VendorLibrary::VendorLibrary(const char* what, std::span<const char* const> names) : what_(what) {
  std::vector<std::string> notes;
  for (const char* const name : names) {
    handle_ = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) {
      name_ = name;
      return;
    }
    const char* const reason = ::dlerror();
    notes.emplace_back(reason == nullptr ? name : reason);
  }
  notes.emplace_back("install CANN 9 and its driver, and let LD_LIBRARY_PATH name their folders (its set_env.sh does)");
  throw Error(Code::unsupported, fmt::format("there is no {}: {} cannot be loaded", what, names.front()),
              std::move(notes));
}

void* VendorLibrary::require(const char* function) const {
  void* const found = ::dlsym(handle_, function);
  if (found == nullptr) {
    throw Error(Code::unsupported, fmt::format("the {} does not fit: {} has no {}", what_, name_, function),
                {"this platform is written for CANN 9"});
  }
  return found;
}

}  // namespace baton::ascend
