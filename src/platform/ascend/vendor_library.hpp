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
  /// Throws Error (unsupported) that names the library and all functions that were not found.
  void check_all_found() const;

 private:
  [[nodiscard]] void* look_up(const char* function);

  const char* what_;
  std::string name_;
  void* handle_ = nullptr;
  std::vector<std::string> missing_;
};

}  // namespace baton::ascend
