// A library of the vendor, under one of its names.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace baton::ascend {

class VendorLibrary {
 public:
  /// The first of `names` that can be loaded; never closed, because it has threads of its own. Throws Error
  /// (unsupported) with what the loader said about each of them.
  VendorLibrary(const char* what, std::span<const char* const> names);

  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(look_up(name));
  }
  /// The same, null where the library does not have it.
  template <class Function>
  void find_if_there(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(symbol(name));
  }
  /// Throws Error (unsupported) that names the library and all functions that were not found.
  void check_all_found() const;
  /// Throws Error (unsupported): `what` of this library is not what the platform is written for.
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  [[nodiscard]] void* look_up(const char* function);
  [[nodiscard]] void* symbol(const char* function) const;

  const char* what_;
  std::string name_;
  void* handle_ = nullptr;
  std::vector<std::string> missing_;
};

}  // namespace baton::ascend
