// Loaded kernels.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <baton/kernel_abi.hpp>

namespace baton::kernel {

/// The name of the kernel in a source that has only one.
inline constexpr std::string_view kDefaultEntry = "kernel_entry";

/// A library of kernels. Copies share it; it is unloaded with the last one, and its functions vanish then. Any thread.
class KernelLibrary {
 public:
  /// The kernel of that name: one that the library registered, or any `extern "C"` function. Throws Error
  /// (not_a_kernel) that lists the names there are.
  [[nodiscard]] BatonKernelFunction entry(std::string_view name = kDefaultEntry) const { return kernel(name).function; }

  /// The same with its signature and core. What it points to lives as long as the library. A kernel that the library
  /// did not register has no signature and says `vector`: nothing in the file tells.
  [[nodiscard]] BatonKernelEntry kernel(std::string_view name = kDefaultEntry) const;

  /// What the kernel takes; null if its author did not write it down (a raw kernel).
  [[nodiscard]] const BatonKernelSignature* signature(std::string_view name = kDefaultEntry) const {
    return kernel(name).signature;
  }

  /// What BATON_ORCHESTRATION defined under that name. Throws Error (not_a_kernel) that lists the names there are.
  [[nodiscard]] void* orchestration(std::string_view name) const;

  /// The address of what it exports under that name; null if it exports no such thing.
  [[nodiscard]] void* symbol(const std::string& name) const noexcept;

  /// What can be asked for: the registered kernels, or, if there are none, the functions with plain names.
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return state_->names; }
  [[nodiscard]] const std::string& path() const noexcept { return state_->path; }

  /// Tells the kernels whom to ask for their core. Before the first of them runs.
  void bind_core(BatonCoreProvider provider) const;

 private:
  friend KernelLibrary load(const std::string& path);
  struct Closer {
    void operator()(void* handle) const noexcept;
  };
  struct State {
    std::string path;
    std::unique_ptr<void, Closer> handle;
    std::vector<BatonKernelEntry> registered;
    std::vector<std::string> exported;   // sorted
    std::vector<std::string> functions;  // those of them, sorted
    std::vector<std::string> names;
  };
  explicit KernelLibrary(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

/// Loads a library that compile() or `baton compile` made. Checks before any of its code runs. Throws Error:
/// not_a_kernel, wrong_abi, system.
[[nodiscard]] KernelLibrary load(const std::string& path);

}  // namespace baton::kernel
