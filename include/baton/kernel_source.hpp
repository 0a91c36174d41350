// Kernels from source files and kernel libraries, at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <baton/chip_args.hpp>
#include <baton/export.hpp>
#include <baton/kernel_handle.hpp>
#include <baton/source_form.hpp>

namespace baton {

struct KernelSource {
  /// The path of the source; if `text` is given, only the name that messages show.
  std::string source;
  std::optional<std::string> text{};
  BatonCoreType core = BATON_CORE_VECTOR;  ///< Of kernels.
  SourceForm form = SourceForm::kernels;
  /// "cuda": also for NVIDIA GPUs, which takes nvcc. "a2a3", "a5": also for Ascend chips, which takes ccec. Empty, or a
  /// simulated one: for the host alone.
  std::string platform{};
  /// For "a2a3" and "a5": the three cores of a cluster run its kernels together, each with arguments of its own.
  bool for_clusters = false;
  std::vector<std::string> include_dirs{};
  std::vector<std::string> defines{};  ///< NAME or NAME=value.
  std::vector<std::string> flags{};    ///< For the compiler, as they are.
  /// For a debugger: not optimised, with all that it needs to know (-O0 -g).
  bool debug = false;
};

/// One parameter of a raw kernel, as its user writes it down. Tensors of type ANY take every element type.
struct WrittenParameter {
  BatonDirection direction = BATON_DIRECTION_SCALAR;
  std::string name{};
  std::uint32_t type = BATON_TYPE_ANY;
  std::int32_t dims = BATON_ANY_DIMS;
};

/// A kernel together with the library it lives in. Copies share it.
class BATON_API LoadedKernel {
 public:
  LoadedKernel(const Kernel& kernel, std::shared_ptr<const void> keep, std::string library)
      : kernel_(kernel), keep_(std::move(keep)), library_(std::move(library)) {}

  /// For Graph::submit(). Lives as long as a copy of this one.
  [[nodiscard]] const Kernel& get() const noexcept { return kernel_; }
  /// It keeps the kernel loaded while it is held: tasks that are not complete need it.
  [[nodiscard]] const std::shared_ptr<const void>& keep() const noexcept { return keep_; }
  /// The path of the library.
  [[nodiscard]] const std::string& library() const noexcept { return library_; }
  /// "scale(In<float> x, Out<float> y, float factor)"; the name alone if nobody wrote the signature down.
  [[nodiscard]] std::string describe() const;
  /// The same kernel, whose calls are checked against these parameters.
  [[nodiscard]] LoadedKernel with_signature(std::vector<WrittenParameter> parameters) const;

 private:
  Kernel kernel_;
  std::shared_ptr<const void> keep_;
  std::string library_;
};

/// An orchestration for a chip together with the library it lives in. Copies share it.
class BATON_API LoadedOrchestration {
 public:
  LoadedOrchestration(ChipOrchestration function, std::shared_ptr<const void> keep, std::string library,
                      std::string name)
      : function_(function), keep_(std::move(keep)), library_(std::move(library)), name_(std::move(name)) {}

  /// Lives as long as a copy of this one.
  [[nodiscard]] ChipOrchestration get() const noexcept { return function_; }
  void operator()(Graph& graph, const ChipArgs& args) const { function_(graph, args); }
  [[nodiscard]] const std::string& library() const noexcept { return library_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  ChipOrchestration function_;
  std::shared_ptr<const void> keep_;
  std::string library_;
  std::string name_;
};

/// The kernels of one source or library. Any thread.
class BATON_API KernelFile {
 public:
  /// Compiles, or finds in the cache. Throws Error: compile_failed with the compiler's messages.
  [[nodiscard]] static KernelFile compile(const KernelSource& source);
  /// A library that `baton compile` made.
  [[nodiscard]] static KernelFile load(const std::string& path);

  [[nodiscard]] const std::vector<std::string>& names() const;
  /// The kernel of that name; the only one if the name is empty. Throws Error (not_a_kernel) that lists the names.
  [[nodiscard]] LoadedKernel kernel(std::string_view name = {}) const;
  /// What BATON_ORCHESTRATION defines there under that name. Throws Error (not_a_kernel) that lists the names.
  [[nodiscard]] LoadedOrchestration orchestration(std::string_view name) const;
  [[nodiscard]] const std::string& path() const;
  /// What the compiler said although it succeeded.
  [[nodiscard]] const std::string& messages() const;

  struct State;

 private:
  explicit KernelFile(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace baton
