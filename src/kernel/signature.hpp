// Signatures of kernels: what a call passes, held against what the kernel takes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <baton/kernel_abi.hpp>

namespace baton::kernel {

/// One argument of a call.
struct GivenArgument {
  enum class Kind : std::uint8_t { tensor, scalar };

  Kind kind = Kind::tensor;
  std::uint32_t type = BATON_TYPE_ANY;  ///< BatonType. Of a scalar: ANY if the caller's language does not know it.
  std::uint32_t dims = 0;               ///< Of a tensor.

  [[nodiscard]] static GivenArgument tensor(std::uint32_t type, std::uint32_t dims) {
    return {Kind::tensor, type, dims};
  }
  [[nodiscard]] static GivenArgument scalar(std::uint32_t type = BATON_TYPE_ANY) { return {Kind::scalar, type, 0}; }
};

/// Throws Error (invalid_argument) if a call of `kernel` cannot be right, with the argument's place and name:
///   scale: argument 2 'y' is Out<float>, got a tensor of int32
/// `given` is in the order of the parameters. Scalars are not held against their types: numbers convert.
void check_arguments(std::string_view kernel, const BatonKernelSignature& signature,
                     std::span<const GivenArgument> given);

/// "In<float> x", "float factor"; "In<float, 2> x" if the number of dimensions is fixed.
[[nodiscard]] std::string describe(const BatonKernelParameter& parameter);

/// "scale(In<float> x, Out<float> y, float factor)".
[[nodiscard]] std::string describe(std::string_view kernel, const BatonKernelSignature& signature);

/// A signature that its user writes down for a raw kernel. Immovable parts: copies share them.
class WrittenSignature {
 public:
  /// One parameter. A tensor of `type` ANY takes every element type.
  struct Parameter {
    BatonDirection direction = BATON_DIRECTION_SCALAR;
    std::string name{};  ///< Empty: "argument 1" and so on name it.
    std::uint32_t type = BATON_TYPE_ANY;
    std::int32_t dims = BATON_ANY_DIMS;
  };

  /// Tensors and scalars in the order of the call; the kernel gets tensors first. Throws Error (invalid_argument) for
  /// more than a kernel can take.
  explicit WrittenSignature(std::vector<Parameter> parameters);

  [[nodiscard]] const BatonKernelSignature& get() const noexcept { return parts_->signature; }

 private:
  struct Parts {
    std::vector<Parameter> written;
    std::vector<BatonKernelParameter> parameters;
    BatonKernelSignature signature{};
  };
  std::shared_ptr<const Parts> parts_;
};

}  // namespace baton::kernel
