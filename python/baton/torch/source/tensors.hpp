// Tensors as what Baton moves and reduces.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <torch/csrc/distributed/c10d/Types.hpp>

#include "group.hpp"

namespace baton::process_group {

/// Throws unless Baton reaches the tensor's memory; `what` names the call.
void check_reachable(const char* what, const at::Tensor& tensor);
void check_reachable(const char* what, const std::vector<at::Tensor>& tensors);
/// Throws unless all tensors have the type and the number of elements of `like`.
void check_alike(const char* what, const at::Tensor& like, const std::vector<at::Tensor>& tensors);
/// Throws unless `whole` has a block like `block` for each of `size` ranks, or `list` has one tensor like it for each.
void check_blocks(const char* what, const at::Tensor& whole, const at::Tensor& block, int size);
void check_list(const char* what, const std::vector<at::Tensor>& list, const at::Tensor& block, int size);
/// The one tensor that a call takes in a list.
[[nodiscard]] at::Tensor& only_one(const char* what, std::vector<at::Tensor>& tensors);

/// The memory of a contiguous tensor. Complex numbers are pairs, types that Baton does not compute with are bytes.
[[nodiscard]] Elements elements_of(const at::Tensor& tensor);

/// How elements are combined: what Baton does, and by what they are multiplied before.
struct Reduction {
  ReduceOp op = ReduceOp::sum;
  std::optional<at::Tensor> factor;
};
/// Throws where tensors of this type cannot be combined so.
[[nodiscard]] Reduction reduction_of(const char* what, const c10d::ReduceOp& op, at::ScalarType type);

/// A tensor that a call reads: itself, or a copy where it is not contiguous.
[[nodiscard]] at::Tensor readable(const at::Tensor& tensor);
/// The same, multiplied as the reduction says.
[[nodiscard]] at::Tensor readable(const at::Tensor& tensor, const Reduction& reduction);

/// Tensors that a call writes, as one block: their own memory if that is contiguous, else memory that
/// give_back() copies from.
class Block {
 public:
  enum class Content { kept, none };

  /// `content`: whether the call reads what is there.
  Block(std::vector<at::Tensor> tensors, Content content);
  explicit Block(const at::Tensor& tensor, Content content) : Block(std::vector{tensor}, content) {}

  [[nodiscard]] Elements elements() const { return elements_; }
  [[nodiscard]] bool is_staged() const { return staged_.defined(); }
  /// What it is staged in.
  [[nodiscard]] at::Tensor& staged() { return staged_; }
  void give_back();

 private:
  std::vector<at::Tensor> tensors_;
  at::Tensor staged_;
  Elements elements_;
};

/// Tensors as blocks, one of each rank, that need not be contiguous.
class Blocks {
 public:
  Blocks() = default;
  Blocks(const std::vector<at::Tensor>& tensors, Block::Content content);

  [[nodiscard]] std::span<const Elements> elements() const { return elements_; }
  void give_back();

 private:
  std::vector<Block> blocks_;
  std::vector<Elements> elements_;
};

}  // namespace baton::process_group
