#include "platform/ascend/vendor_library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <vector>

#include <fmt/ranges.h>

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

void* VendorLibrary::symbol(const char* function) const { return ::dlsym(handle_, function); }

void* VendorLibrary::look_up(const char* function) {
  void* const found = symbol(function);
  if (found == nullptr) missing_.emplace_back(function);
  return found;
}

void VendorLibrary::check_all_found() const {
  if (!missing_.empty()) refuse(fmt::format("no {}", fmt::join(missing_, ", ")));
}

void VendorLibrary::refuse(const std::string& what) const {
  const link_map* file = nullptr;
  const bool known = ::dlinfo(handle_, RTLD_DI_LINKMAP, static_cast<void*>(&file)) == 0 && file != nullptr;
  throw Error(
      Code::unsupported, fmt::format("the {} does not fit: {} has {}", what_, name_, what),
      {fmt::format("this platform is written for CANN 9; what was loaded is {}", known ? file->l_name : name_)});
}

}  // namespace baton::ascend
