// Code for a device that is a part of a kernel library: what lies between two symbols of it.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <baton/error.hpp>

namespace baton::platforms {

/// Keeps the library loaded.
class EmbeddedCode {
 public:
  /// Of the library at `path`, for `platform`. Throws Error (not_a_kernel) if it has none. Of several kinds of code,
  /// `kind` says which: "_cube".
  EmbeddedCode(std::string path, const std::string& platform, const std::string& kind = "")
      : path_(std::move(path)), library_(::dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!library_) {
      const char* reason = ::dlerror();
      throw Error(Code::not_a_kernel, fmt::format("{} cannot be loaded: {}", path_, reason == nullptr ? "?" : reason));
    }
    const std::string name = "baton_" + platform + kind + "_image";
    begin_ = static_cast<const unsigned char*>(symbol(name));
    const auto* end = static_cast<const unsigned char*>(symbol(name + "_end"));
    if (begin_ == nullptr || end == nullptr) {
      throw Error(Code::not_a_kernel, fmt::format("{} has no code for platform {}", path_, platform),
                  {fmt::format("compile its kernels for it: baton compile --platform {}, or KernelSource::platform",
                               platform)});
    }
    bytes_ = static_cast<std::size_t>(end - begin_);
  }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const unsigned char* data() const noexcept { return begin_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Null if the library has no such symbol.
  [[nodiscard]] const void* symbol(const std::string& name) const { return ::dlsym(library_.get(), name.c_str()); }

 private:
  struct Close {
    void operator()(void* library) const noexcept { ::dlclose(library); }
  };

  std::string path_;
  std::unique_ptr<void, Close> library_;
  const unsigned char* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace baton::platforms
