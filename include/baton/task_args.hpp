// What a node hands to a chip: something to run, and the arguments for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <baton/chip_args.hpp>
#include <baton/chip_program.hpp>
#include <baton/export.hpp>
#include <baton/graph.hpp>
#include <baton/kernel_handle.hpp>
#include <baton/tensor.hpp>

namespace baton {

/// What a task of a node does with a tensor.
enum class TensorArgType : std::uint8_t {
  input,
  output,           // writes it, whatever it held
  inout,            // reads and writes it
  output_existing,  // as output
  no_dep,           // uses it, but nobody waits for anybody because of it
};

/// The arguments of one task, in the order of the callable's parameters. Of a kernel without a signature: tensors come
/// first, then scalars.
class TaskArgs {
 public:
  struct Arg {
    Tensor tensor;  // without dimensions for a scalar
    std::int64_t scalar = 0;
    TensorArgType type = TensorArgType::input;
    bool is_tensor = false;
  };

  TaskArgs& add_tensor(const Tensor& tensor, TensorArgType type) {
    Arg& arg = args_.emplace_back();
    arg.tensor = tensor;
    arg.type = type;
    arg.is_tensor = true;
    return *this;
  }
  /// At most 8 bytes.
  template <class Scalar>
  TaskArgs& add_scalar(Scalar value) {
    return add_slot(scalar_slot(value));
  }
  /// A scalar as the kernel receives it.
  TaskArgs& add_slot(std::int64_t slot) {
    args_.emplace_back().scalar = slot;
    return *this;
  }
  void clear() noexcept { args_.clear(); }

  [[nodiscard]] std::span<const Arg> all() const noexcept { return args_; }
  [[nodiscard]] std::size_t size() const noexcept { return args_.size(); }

 private:
  std::vector<Arg> args_;
};

/// What a chip can run: a kernel or an orchestration. A value; cheap to make for what is linked into the program.
class BATON_API Callable {
 public:
  enum class Kind : std::uint8_t { kernel, orchestration, program };

  /// A kernel of this program, or of a library that it is linked with. Not explicit: kernels are callables.
  Callable(const Kernel& kernel) : kernel_(kernel) {}  // NOLINT(google-explicit-constructor)
  /// A function of this program, or of a library that it is linked with.
  Callable(ChipOrchestration orchestration) noexcept  // NOLINT(google-explicit-constructor)
      : kind_(Kind::orchestration), function_(orchestration) {}
  /// A kernel of a kernel library (`baton compile`, KernelFile); chips load it from `path` when they first use it.
  [[nodiscard]] static Callable in_library(std::string path, std::string name, BatonCoreType core = BATON_CORE_VECTOR);
  /// The same for one that is loaded here: its calls are checked against its signature at submission.
  [[nodiscard]] static Callable in_library(std::string path, const Kernel& kernel);
  /// An orchestration of such a library: what BATON_ORCHESTRATION defines there under that name.
  [[nodiscard]] static Callable orchestration_in_library(std::string path, std::string name);

  /// A chip program: an orchestration that knows its kernels by numbers, with these. Chips load its libraries when they
  /// first use it.
  [[nodiscard]] static Callable program(ChipProgramParts parts);

  [[nodiscard]] Kind kind() const noexcept { return kind_; }
  /// Of a kernel in a library that is not loaded here: without function.
  [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }
  [[nodiscard]] ChipOrchestration function() const noexcept { return function_; }
  /// Empty: it is linked.
  [[nodiscard]] const std::string& library() const noexcept { return library_; }
  [[nodiscard]] std::string name() const;
  /// Of a program.
  [[nodiscard]] const ChipProgramParts& parts() const noexcept { return *parts_; }

 private:
  Kind kind_ = Kind::kernel;
  Kernel kernel_{};
  ChipOrchestration function_ = nullptr;
  std::string library_;
  std::string name_;
  std::shared_ptr<const ChipProgramParts> parts_;
};

/// How a chip runs a kernel.
struct TaskConfig {
  /// As in TaskOptions.
  std::uint32_t blocks = 1;
  bool start_together = false;
  std::int32_t priority = 0;
  /// As in TaskOptions, for all callables: it waits for the tasks that output these, and does not see them.
  std::vector<Tensor> tokens = {};
};

}  // namespace baton
