// Kernels of one chip: code that it has loaded, of kernel libraries and for tasks of whole clusters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <baton/kernel_source.hpp>

#include "platform/ascend/cann.hpp"
#include "platform/shared/embedded_code.hpp"

namespace baton::ascend {

class Npu;

/// Which cores a kernel runs on; also which stream it goes through. Those of a cluster go with cube cores.
enum class Kind : std::uint8_t { vector, cube };
inline constexpr std::size_t kKinds = 2;
/// A cube core and two vector cores.
inline constexpr std::size_t kCoresOfCluster = 3;

struct LoadedKernel {
  Handle function;
  std::string name;
  Kind kind;
  bool may_defer;  // register conditions for the time after it has returned
  Handle binary;
  std::string symbol;
  std::uint64_t address = 0;  // on the chip; 0: nobody has asked
  /// Of the kernels of a cluster: where they lie; 0: that core has nothing to do.
  std::optional<std::array<std::uint64_t, kCoresOfCluster>> cores{};
};

/// Used by one thread at a time, which works with the chip.
class Kernels {
 public:
  explicit Kernels(Npu& npu) : npu_(npu) {}
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;
  ~Kernels() = default;

  /// Kernel `name` of the library at `path`.
  [[nodiscard]] LoadedKernel* load(const std::string& path, const std::string& name);
  /// The kernels of a cube core and of two vector cores as one; null: none. Throws Error (invalid_argument) for one
  /// whose code is for another kind of core.
  [[nodiscard]] const LoadedKernel* cluster(const std::array<LoadedKernel*, kCoresOfCluster>& kernels);

  void unload(Ending& ending);
  /// The same where the chip has forgotten them.
  void forget();

 private:
  /// A library's code for one kind of core, on this chip.
  struct Binary {
    platforms::EmbeddedCode code;
    Handle handle;
    Kind kind;
  };

  [[nodiscard]] Binary& binary_of(const std::string& path, std::optional<Kind> wanted);
  [[nodiscard]] std::unique_ptr<LoadedKernel> loaded(const Binary& binary, const std::string& name) const;
  [[nodiscard]] std::uint64_t address_of(LoadedKernel& kernel);
  /// What all clusters run: it calls the kernel of its core.
  [[nodiscard]] const LoadedKernel& caller();

  Npu& npu_;
  std::map<std::pair<std::string, std::string>, Binary> binaries_;  // by path and kind of code
  std::map<std::pair<std::string, std::string>, std::unique_ptr<LoadedKernel>> kernels_;
  std::map<std::array<LoadedKernel*, kCoresOfCluster>, std::unique_ptr<LoadedKernel>> clusters_;
  std::optional<KernelFile> caller_file_;
};

}  // namespace baton::ascend
