// Every rank has something for every rank.
#include "call.hpp"
#include "tensors.hpp"

namespace baton::process_group {

using c10d::OpType;

namespace {

/// The blocks of a tensor that is split along its first dimension, in elements for Baton.
std::vector<std::size_t> counts_of(const at::Tensor& tensor, const std::vector<std::int64_t>& splits,
                                   std::size_t size) {
  const auto rows = static_cast<std::size_t>(tensor.dim() == 0 ? 1 : tensor.size(0));
  const std::size_t row = rows == 0 ? 0 : elements_of(tensor).count / rows;
  if (splits.empty()) {
    TORCH_CHECK_VALUE(rows % size == 0, "baton: all_to_all: ", rows, " rows are not a multiple of ", size, " ranks");
    return std::vector<std::size_t>(size, rows / size * row);
  }
  TORCH_CHECK_VALUE(splits.size() == size, "baton: all_to_all: ", splits.size(), " splits for ", size, " ranks");
  std::vector<std::size_t> counts;
  std::int64_t sum = 0;
  for (const std::int64_t split : splits) {
    TORCH_CHECK_VALUE(split >= 0, "baton: all_to_all: a split of ", split, " rows");
    sum += split;
    counts.push_back(static_cast<std::size_t>(split) * row);
  }
  TORCH_CHECK_VALUE(sum == static_cast<std::int64_t>(rows), "baton: all_to_all: splits of ", sum, " rows for ", rows);
  return counts;
}

std::vector<std::size_t> counts_of(const std::vector<at::Tensor>& tensors) {
  std::vector<std::size_t> counts;
  for (const at::Tensor& tensor : tensors) counts.push_back(elements_of(tensor).count);
  return counts;
}

}  // namespace

ProcessGroupBaton::Works ProcessGroupBaton::alltoall_base(at::Tensor& output, at::Tensor& input,
                                                          std::vector<std::int64_t>& output_splits,
                                                          std::vector<std::int64_t>& input_splits,
                                                          const c10d::AllToAllOptions& options) {
  check_reachable("all_to_all", output);
  check_reachable("all_to_all", input);
  TORCH_CHECK_VALUE(output.scalar_type() == input.scalar_type(), "baton: all_to_all from ", input.scalar_type(), " to ",
                    output.scalar_type());
  const auto size = static_cast<std::size_t>(getSize());
  const bool equal = output_splits.empty() && input_splits.empty();
  TORCH_CHECK_VALUE(!equal || input.numel() == output.numel(), "baton: all_to_all: ", input.numel(),
                    " elements become ", output.numel());
  const std::vector<std::size_t> sends = counts_of(input, input_splits, size);
  const std::vector<std::size_t> receives = counts_of(output, output_splits, size);
  return call(OpType::ALLTOALL_BASE, "baton:all_to_all", options, {input}, {{output}},
              [this, output, input, sends, receives, equal](Timeout timeout) {
                Block out(output, Block::Content::none);
                const at::Tensor in = readable(input);
                if (equal) {
                  group_->all_to_all(elements_of(in), out.elements(), timeout);
                } else {
                  group_->all_to_all_v(elements_of(in), sends, out.elements(), receives, timeout);
                }
                out.give_back();
              });
}

ProcessGroupBaton::Works ProcessGroupBaton::alltoall(Tensors& outputs, Tensors& inputs,
                                                     const c10d::AllToAllOptions& options) {
  const auto size = static_cast<std::size_t>(getSize());
  TORCH_CHECK_VALUE(outputs.size() == size && inputs.size() == size, "baton: all_to_all: lists of ", inputs.size(),
                    " and ", outputs.size(), " tensors for ", size, " ranks");
  check_reachable("all_to_all", inputs);
  check_reachable("all_to_all", outputs);
  for (std::size_t i = 0; i < size; ++i) {
    TORCH_CHECK_VALUE(
        inputs[i].scalar_type() == inputs[0].scalar_type() && outputs[i].scalar_type() == inputs[0].scalar_type(),
        "baton: all_to_all of ", inputs[0].scalar_type(), " from ", inputs[i].scalar_type(), " to ",
        outputs[i].scalar_type());
  }
  return call(OpType::ALLTOALL, "baton:all_to_all", options, inputs, {outputs},
              [this, outputs, inputs](Timeout timeout) {
                const Block in(inputs, Block::Content::kept);
                Block out(outputs, Block::Content::none);
                group_->all_to_all_v(in.elements(), counts_of(inputs), out.elements(), counts_of(outputs), timeout);
                out.give_back();
              });
}

}  // namespace baton::process_group
