#include "tensors.hpp"

#include <ATen/ATen.h>
#include <torch/version.h>

namespace baton::process_group {
namespace {

/// How many elements for Baton an element of a tensor is.
struct Mapped {
  Element element = Element::uint8;
  std::size_t times = 1;
  bool computes = true;
};

Mapped mapped(at::ScalarType type) {
  switch (type) {
    case at::kDouble: return {Element::float64};
    case at::kFloat: return {Element::float32};
    case at::kHalf: return {Element::float16};
    case at::kBFloat16: return {Element::bfloat16};
    case at::kChar: return {Element::int8};
    case at::kShort: return {Element::int16};
    case at::kInt: return {Element::int32};
    case at::kLong: return {Element::int64};
    case at::kByte:
    case at::kBool: return {Element::uint8};
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 3
    case at::kUInt16: return {Element::uint16};
    case at::kUInt32: return {Element::uint32};
    case at::kUInt64: return {Element::uint64};
#endif
    case at::kComplexDouble: return {Element::float64, 2};
    case at::kComplexFloat: return {Element::float32, 2};
    case at::kComplexHalf: return {Element::float16, 2};
    default: return {Element::uint8, c10::elementSize(type), false};
  }
}

/// A boolean is a byte that is 0 or 1, and stays one.
std::optional<ReduceOp> of_booleans(c10d::ReduceOp::RedOpType op) {
  switch (op) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::MAX:
    case c10d::ReduceOp::BOR: return ReduceOp::max;
    case c10d::ReduceOp::PRODUCT:
    case c10d::ReduceOp::MIN:
    case c10d::ReduceOp::BAND: return ReduceOp::min;
    case c10d::ReduceOp::BXOR: return ReduceOp::bit_xor;
    default: return std::nullopt;
  }
}

std::optional<ReduceOp> of_numbers(c10d::ReduceOp::RedOpType op) {
  switch (op) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::PREMUL_SUM: return ReduceOp::sum;
    case c10d::ReduceOp::AVG: return ReduceOp::avg;
    case c10d::ReduceOp::PRODUCT: return ReduceOp::prod;
    case c10d::ReduceOp::MIN: return ReduceOp::min;
    case c10d::ReduceOp::MAX: return ReduceOp::max;
    case c10d::ReduceOp::BAND: return ReduceOp::bit_and;
    case c10d::ReduceOp::BOR: return ReduceOp::bit_or;
    case c10d::ReduceOp::BXOR: return ReduceOp::bit_xor;
    default: return std::nullopt;
  }
}

const char* name_of(c10d::ReduceOp::RedOpType op) {
  switch (op) {
    case c10d::ReduceOp::SUM: return "SUM";
    case c10d::ReduceOp::AVG: return "AVG";
    case c10d::ReduceOp::PRODUCT: return "PRODUCT";
    case c10d::ReduceOp::MIN: return "MIN";
    case c10d::ReduceOp::MAX: return "MAX";
    case c10d::ReduceOp::BAND: return "BAND";
    case c10d::ReduceOp::BOR: return "BOR";
    case c10d::ReduceOp::BXOR: return "BXOR";
    case c10d::ReduceOp::PREMUL_SUM: return "PREMUL_SUM";
    default: return "an unknown operation";
  }
}

// Its old name, which later versions keep as another one.
using Premul = c10d::NCCLPreMulSumSupplement;

at::Tensor factor_of(const c10d::ReduceOp& op) {
  const auto* supplement = static_cast<const Premul*>(op.supplement_.get());
  TORCH_CHECK(supplement != nullptr, "baton: PREMUL_SUM has no factor");
  if (supplement->tensor_factor.defined()) return supplement->tensor_factor;
  return at::scalar_tensor(supplement->double_factor, at::kDouble);
}

/// Whether the memory has the elements, all of them, in order, as they are.
bool lies_plain(const at::Tensor& tensor) { return tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg(); }

}  // namespace

void check_reachable(const char* what, const at::Tensor& tensor) {
  TORCH_CHECK_VALUE(tensor.defined(), "baton: ", what, " of an undefined tensor");
  TORCH_CHECK_VALUE(tensor.device().is_cpu(), "baton: ", what, " of a tensor on ", tensor.device().str(),
                    "; Baton's process group works with tensors of the CPU");
  TORCH_CHECK_VALUE(tensor.layout() == at::kStrided, "baton: ", what, " of a tensor that is not dense");
}

void check_reachable(const char* what, const std::vector<at::Tensor>& tensors) {
  for (const at::Tensor& tensor : tensors) check_reachable(what, tensor);
}

void check_alike(const char* what, const at::Tensor& like, const std::vector<at::Tensor>& tensors) {
  check_reachable(what, tensors);
  for (const at::Tensor& tensor : tensors) {
    TORCH_CHECK_VALUE(tensor.scalar_type() == like.scalar_type() && tensor.numel() == like.numel(), "baton: ", what,
                      ": a tensor has ", tensor.numel(), " elements of ", tensor.scalar_type(), ", another ",
                      like.numel(), " of ", like.scalar_type());
  }
}

void check_blocks(const char* what, const at::Tensor& whole, const at::Tensor& block, int size) {
  check_reachable(what, whole);
  check_reachable(what, block);
  TORCH_CHECK_VALUE(whole.scalar_type() == block.scalar_type() && whole.numel() == block.numel() * size,
                    "baton: ", what, ": ", whole.numel(), " elements of ", whole.scalar_type(), " are not ", size,
                    " blocks of ", block.numel(), " of ", block.scalar_type());
}

void check_list(const char* what, const std::vector<at::Tensor>& list, const at::Tensor& block, int size) {
  TORCH_CHECK_VALUE(list.size() == static_cast<std::size_t>(size), "baton: ", what, ": a list of ", list.size(),
                    " tensors for ", size, " ranks");
  check_alike(what, block, list);
}

at::Tensor& only_one(const char* what, std::vector<at::Tensor>& tensors) {
  TORCH_CHECK_VALUE(tensors.size() == 1, "baton: ", what, " takes one tensor, and got ", tensors.size());
  check_reachable(what, tensors[0]);
  return tensors[0];
}

Elements elements_of(const at::Tensor& tensor) {
  const Mapped type = mapped(tensor.scalar_type());
  return {tensor.data_ptr(), static_cast<std::size_t>(tensor.numel()) * type.times, type.element};
}

Reduction reduction_of(const char* what, const c10d::ReduceOp& op, at::ScalarType type) {
  const auto kind = static_cast<c10d::ReduceOp::RedOpType>(op);
  const Mapped element = mapped(type);
  std::optional<ReduceOp> found;
  if (type == at::kBool) {
    found = of_booleans(kind);
  } else if (element.computes) {
    found = of_numbers(kind);
  }
  if (found && is_bitwise(*found) && !is_integer(element.element)) found.reset();
  const bool adds = found == ReduceOp::sum || found == ReduceOp::avg;
  if (at::isComplexType(type) && !adds) found.reset();
  TORCH_CHECK_VALUE(found, "baton: ", what, ": there is no ", name_of(kind), " of ", type);
  if (kind == c10d::ReduceOp::PREMUL_SUM) return {*found, factor_of(op)};
  return {*found, std::nullopt};
}

at::Tensor readable(const at::Tensor& tensor) {
  if (lies_plain(tensor)) return tensor;
  return tensor.resolve_conj().resolve_neg().contiguous();
}

at::Tensor readable(const at::Tensor& tensor, const Reduction& reduction) {
  if (!reduction.factor) return readable(tensor);
  return readable(tensor.mul(*reduction.factor).to(tensor.scalar_type()));
}

Block::Block(std::vector<at::Tensor> tensors, Content content) : tensors_(std::move(tensors)) {
  const at::Tensor& first = tensors_.front();
  std::int64_t count = 0;
  bool in_a_row = true;
  const auto* next = static_cast<const char*>(first.data_ptr());
  for (const at::Tensor& tensor : tensors_) {
    in_a_row = in_a_row && lies_plain(tensor) && tensor.data_ptr() == next;
    next += tensor.nbytes();
    count += tensor.numel();
  }
  if (!in_a_row) {
    staged_ = at::empty({count}, first.options());
    std::int64_t at = 0;
    for (const at::Tensor& tensor : tensors_) {
      if (content == Content::kept) staged_.narrow(0, at, tensor.numel()).copy_(tensor.reshape(-1));
      at += tensor.numel();
    }
  }
  elements_ = elements_of(is_staged() ? staged_ : first);
  elements_.count = static_cast<std::size_t>(count) * mapped(first.scalar_type()).times;
}

Blocks::Blocks(const std::vector<at::Tensor>& tensors, Block::Content content) {
  blocks_.reserve(tensors.size());
  elements_.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) elements_.push_back(blocks_.emplace_back(tensor, content).elements());
}

void Blocks::give_back() {
  for (Block& block : blocks_) block.give_back();
}

void Block::give_back() {
  if (!is_staged()) return;
  std::int64_t at = 0;
  for (const at::Tensor& tensor : tensors_) {
    tensor.copy_(staged_.narrow(0, at, tensor.numel()).view(tensor.sizes()));
    at += tensor.numel();
  }
}

}  // namespace baton::process_group
