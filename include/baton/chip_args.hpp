// The arguments of an orchestration that somebody else calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include <baton/export.hpp>
#include <baton/graph.hpp>
#include <baton/tensor.hpp>

namespace baton {

/// The arguments of an orchestration: tensors over memory of the process that runs it, and scalars.
class BATON_API ChipArgs {
 public:
  ChipArgs(std::span<const Tensor> tensors, std::span<const std::int64_t> scalars) noexcept
      : tensors_(tensors), scalars_(scalars) {}

  /// Number `i`, from 0, of the tensors; of the scalars. Throws Error (out_of_range) if there are fewer.
  [[nodiscard]] const Tensor& tensor(std::size_t i) const;
  template <class Scalar>
  [[nodiscard]] Scalar scalar(std::size_t i) const {
    static_assert(std::is_trivially_copyable_v<Scalar> && sizeof(Scalar) <= sizeof(std::int64_t));
    const std::int64_t slot = scalar_slot_at(i);
    Scalar value;
    std::memcpy(&value, &slot, sizeof value);
    return value;
  }
  [[nodiscard]] std::size_t tensor_count() const noexcept { return tensors_.size(); }
  [[nodiscard]] std::size_t scalar_count() const noexcept { return scalars_.size(); }

 private:
  [[nodiscard]] std::int64_t scalar_slot_at(std::size_t i) const;

  std::span<const Tensor> tensors_;
  std::span<const std::int64_t> scalars_;
};

/// An orchestration of a chip with arguments: what a node submits to it, and what libraries hold.
using ChipOrchestration = void (*)(Graph& graph, const ChipArgs& args);

}  // namespace baton
