// Calls that combine what the ranks have.
#include <numeric>

#include <ATen/ATen.h>

#include "call.hpp"
#include "tensors.hpp"

namespace baton::process_group {

using c10d::OpType;

ProcessGroupBaton::Works ProcessGroupBaton::allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) {
  if (tensors.size() == 1 && tensors[0].is_sparse()) return allreduce_sparse(tensors, options);
  const at::Tensor tensor = only_one("allreduce", tensors);
  const Reduction reduction = reduction_of("allreduce", options.reduceOp, tensor.scalar_type());
  return call(OpType::ALLREDUCE, "baton:all_reduce", options, tensors, {tensors},
              [this, tensor, reduction](Timeout timeout) {
                if (reduction.factor) tensor.mul_(*reduction.factor);
                Block x(tensor, Block::Content::kept);
                group_->allreduce(x.elements(), reduction.op, timeout);
                x.give_back();
              });
}

ProcessGroupBaton::Works ProcessGroupBaton::allreduce_coalesced(Tensors& tensors,
                                                                const c10d::AllreduceCoalescedOptions& options) {
  TORCH_CHECK_VALUE(!tensors.empty(), "baton: allreduce_coalesced of no tensors");
  check_reachable("allreduce_coalesced", tensors);
  for (const at::Tensor& tensor : tensors) {
    TORCH_CHECK_VALUE(tensor.scalar_type() == tensors[0].scalar_type(), "baton: allreduce_coalesced of ",
                      tensors[0].scalar_type(), " and ", tensor.scalar_type(), " at once");
  }
  const Reduction reduction = reduction_of("allreduce_coalesced", options.reduceOp, tensors[0].scalar_type());
  return call(OpType::ALLREDUCE_COALESCED, "baton:all_reduce", options, tensors, {tensors},
              [this, tensors, reduction](Timeout timeout) {
                if (reduction.factor) {
                  for (const at::Tensor& tensor : tensors) tensor.mul_(*reduction.factor);
                }
                Block x(tensors, Block::Content::kept);
                group_->allreduce(x.elements(), reduction.op, timeout);
                x.give_back();
              });
}

ProcessGroupBaton::Works ProcessGroupBaton::reduce(Tensors& tensors, const c10d::ReduceOptions& options) {
  const at::Tensor tensor = only_one("reduce", tensors);
  const Reduction reduction = reduction_of("reduce", options.reduceOp, tensor.scalar_type());
  const auto root = static_cast<int>(options.rootRank);
  return call(OpType::REDUCE, "baton:reduce", options, tensors, {tensors},
              [this, tensor, reduction, root](Timeout timeout) {
                // Only the root's tensor changes.
                const at::Tensor x = readable(tensor, reduction);
                group_->reduce(elements_of(x), root, reduction.op, timeout);
                if (getRank() == root && !x.is_same(tensor)) tensor.copy_(x);
              });
}

ProcessGroupBaton::Works ProcessGroupBaton::reduce_scatter(Tensors& outputs, TensorLists& inputs,
                                                           const c10d::ReduceScatterOptions& options) {
  const at::Tensor output = only_one("reduce_scatter", outputs);
  TORCH_CHECK_VALUE(inputs.size() == 1, "baton: reduce_scatter takes one list of tensors, and got ", inputs.size());
  check_list("reduce_scatter", inputs[0], output, getSize());
  const Reduction reduction = reduction_of("reduce_scatter", options.reduceOp, output.scalar_type());
  return call(OpType::REDUCE_SCATTER, "baton:reduce_scatter", options, inputs[0], {outputs},
              [this, output, list = inputs[0], reduction](Timeout timeout) mutable {
                if (reduction.factor) {
                  for (at::Tensor& tensor : list) tensor = readable(tensor, reduction);
                }
                const Block in(std::move(list), Block::Content::kept);
                Block out(output, Block::Content::none);
                group_->reduce_scatter(in.elements(), out.elements(), reduction.op, timeout);
                out.give_back();
              });
}

ProcessGroupBaton::Works ProcessGroupBaton::_reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                                                 const c10d::ReduceScatterOptions& options) {
  check_blocks("reduce_scatter", input, output, getSize());
  const Reduction reduction = reduction_of("reduce_scatter", options.reduceOp, output.scalar_type());
  return call(OpType::_REDUCE_SCATTER_BASE, "baton:_reduce_scatter_base", options, {input}, {{output}},
              [this, output, input, reduction](Timeout timeout) {
                Block out(output, Block::Content::none);
                group_->reduce_scatter(elements_of(readable(input, reduction)), out.elements(), reduction.op, timeout);
                out.give_back();
              });
}

ProcessGroupBaton::Works ProcessGroupBaton::reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                            const c10d::ReduceScatterOptions& options) {
  TORCH_CHECK_VALUE(outputs.size() == inputs.size(), "baton: reduce_scatter_tensor_coalesced: ", outputs.size(),
                    " results for ", inputs.size(), " tensors");
  std::vector<Reduction> reductions;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    check_blocks("reduce_scatter_tensor_coalesced", inputs[i], outputs[i], getSize());
    reductions.push_back(reduction_of("reduce_scatter_tensor_coalesced", options.reduceOp, inputs[i].scalar_type()));
  }
  return call(coalesced_or(OpType::_REDUCE_SCATTER_BASE), "baton:_reduce_scatter_base", options, inputs, {outputs},
              [this, outputs, inputs, reductions](Timeout timeout) {
                for (std::size_t i = 0; i < inputs.size(); ++i) {
                  Block out(outputs[i], Block::Content::none);
                  group_->reduce_scatter(elements_of(readable(inputs[i], reductions[i])), out.elements(),
                                         reductions[i].op, timeout);
                  out.give_back();
                }
              });
}

ProcessGroupBaton::Works ProcessGroupBaton::allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& options) {
  TORCH_CHECK_VALUE(tensors.size() == 1 && tensors[0].is_sparse() && tensors[0].device().is_cpu(),
                    "baton: allreduce of sparse tensors takes one sparse tensor of the CPU");
  const at::Tensor tensor = tensors[0];
  TORCH_CHECK_VALUE(static_cast<c10d::ReduceOp::RedOpType>(options.reduceOp) == c10d::ReduceOp::SUM,
                    "baton: sparse tensors can only be summed");
  return call(sparse_or(OpType::ALLREDUCE), "baton:sparse_all_reduce", options, tensors, {tensors},
              [this, tensor](Timeout timeout) { sum_of_sparse(tensor, timeout); });
}

/// Ranks have different numbers of elements, so these are gathered and added by everybody.
void ProcessGroupBaton::sum_of_sparse(const at::Tensor& tensor, Timeout timeout) {
  const at::Tensor own = tensor.is_coalesced() ? tensor : tensor.coalesce();
  const auto ranks = static_cast<std::size_t>(getSize());
  std::vector<std::int64_t> counts(ranks);
  std::int64_t count = own._nnz();
  group_->allgather({&count, 1, Element::int64}, {counts.data(), counts.size(), Element::int64}, timeout);
  // What everybody gets of one part, indices or values: rows of a rank behind those of the rank before.
  const auto gathered = [&](const at::Tensor& rows) {
    const at::Tensor mine = rows.contiguous();
    auto sizes = mine.sizes().vec();
    const std::size_t row = mine.numel() == 0 ? 0 : elements_of(mine).count / static_cast<std::size_t>(count);
    sizes[0] = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    at::Tensor all = at::empty(sizes, mine.options());
    const std::size_t width = sizes[0] == 0 ? row : elements_of(all).count / static_cast<std::size_t>(sizes[0]);
    std::vector<std::size_t> receives;
    for (const std::int64_t of_rank : counts) receives.push_back(static_cast<std::size_t>(of_rank) * width);
    // Everybody sends all it has to everybody.
    Tensors copies(ranks, mine);
    const Block in(copies, Block::Content::kept);
    const std::vector<std::size_t> sends(ranks, elements_of(mine).count);
    group_->all_to_all_v(in.elements(), sends, elements_of(all), receives, timeout);
    return all;
  };
  const at::Tensor indices = gathered(own._indices().t());
  const at::Tensor values = gathered(own._values());
  at::Tensor sum = at::sparse_coo_tensor(indices.t(), values, own.sizes(), own.options()).coalesce();
  tensor.copy_(sum);
}

}  // namespace baton::process_group
