// Libraries that are loaded at run time, and functions that older ones lack.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <baton/error.hpp>

namespace baton {

template <class Signature>
class OptionalFunction;

/// A function of a library that may not have it: loading works all the same, and only a call fails.
template <class Result, class... Args>
class OptionalFunction<Result(Args...)> {
 public:
  /// Of a library that was never loaded.
  OptionalFunction() = default;
  OptionalFunction(Result (*function)(Args...), std::string name, std::string library)
      : function_(function), name_(std::move(name)), library_(std::move(library)) {}

  [[nodiscard]] explicit operator bool() const noexcept { return function_ != nullptr; }

  /// Throws Error (unsupported) that names the function and the library if it is missing.
  Result operator()(Args... args) const {
    if (function_ == nullptr) fail_missing();
    return function_(std::forward<Args>(args)...);
  }

 private:
  [[noreturn]] void fail_missing() const {
    throw Error(Code::unsupported, library_.empty() ? "no library is loaded" : library_ + " has no function " + name_,
                {"the library is older than this Baton, or was built without this part"});
  }

  Result (*function_)(Args...) = nullptr;
  std::string name_;
  std::string library_;
};

/// A loaded library. Copies share it; it is unloaded with the last one, and its functions vanish then.
class SharedLibrary {
 public:
  /// Throws Error with this code if the file is missing, is no library, or needs what is not there.
  SharedLibrary(const std::string& path, Code code);
  /// The library of the system that has this name, such as "libucp.so.0".
  [[nodiscard]] static SharedLibrary of_system(const std::string& name, Code code) { return {code, name}; }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Nothing if the library has no such symbol.
  [[nodiscard]] void* find(const char* name) const noexcept;

  /// Throws Error with the code of the constructor if the library lacks it.
  template <class Signature>
  [[nodiscard]] Signature* required(const char* name) const {
    static_assert(std::is_function_v<Signature>);
    return reinterpret_cast<Signature*>(find_required(name));
  }

  template <class Signature>
  [[nodiscard]] OptionalFunction<Signature> optional(const char* name) const {
    return {reinterpret_cast<Signature*>(find(name)), name, path_};
  }

 private:
  SharedLibrary(Code code, std::string name);
  [[nodiscard]] void* find_required(const char* name) const;

  std::string path_;
  Code code_;
  std::shared_ptr<void> handle_;
};

}  // namespace baton
