// Kernels and arguments of the module.
#pragma once

#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include <baton/graph.hpp>
#include <baton/kernel_source.hpp>

#include "array.hpp"

namespace baton::python {

/// IN, OUT, INOUT, SCALAR and NO_DEP: parts of signatures, and marks of arguments: OUT(x).
struct Direction {
  std::uint32_t number;  // BatonDirection, or kNoDependency
  static constexpr std::uint32_t kNoDependency = 4;

  [[nodiscard]] Access access() const;
};

/// OUT(x).
struct MarkedArgument {
  Direction direction;
  nb::object object;
};

/// The arguments of one call. Tensors keep their places: arguments refer to them.
class CallArguments {
 public:
  /// Arguments for a kernel with a signature take their directions from it, others from marks. `kernel` may be null:
  /// then all must be marked. `lies`: where tensors may be.
  CallArguments(const Kernel* kernel, const nb::args& given, Lies lies = Lies::anywhere);
  /// Arguments for the orchestration `name` of a library: tensors that are not marked may be written.
  CallArguments(const std::string& name, const nb::args& given);

  [[nodiscard]] std::span<const Argument> get() const noexcept { return arguments_; }
  [[nodiscard]] const std::vector<Array>& arrays() const noexcept { return arrays_; }

 private:
  void add(const Kernel* kernel, std::size_t position, nb::handle given);

  Lies lies_ = Lies::anywhere;
  std::vector<Array> arrays_;
  std::vector<Argument> arguments_;
};

}  // namespace baton::python
