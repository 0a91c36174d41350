// A library of the vendor, under one of its names.
#pragma once

#include <span>
#include <string>

namespace baton::ascend {

class VendorLibrary {
 public:
  /// The first of `names` that can be loaded; never closed, because it has threads of its own. Throws Error
  /// (unsupported) with what the loader said about each of them.
  VendorLibrary(const char* what, std::span<const char* const> names);

  /// Throws Error (unsupported) that names the function and the library.
  [[nodiscard]] void* require(const char* function) const;
  template <class Function>
  void find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(require(name));
  }

 private:
  const char* what_;
  std::string name_;
  void* handle_ = nullptr;
};

}  // namespace baton::ascend
