// Calls that move what one rank or all ranks have.
#include "call.hpp"
#include "tensors.hpp"

namespace baton::process_group {

using c10d::OpType;

ProcessGroupBaton::Works ProcessGroupBaton::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  const at::Tensor tensor = only_one("broadcast", tensors);
  const auto root = static_cast<int>(options.rootRank);
  return call(OpType::BROADCAST, "baton:broadcast", options, tensors, {tensors}, [this, tensor, root](Timeout timeout) {
    Block x(tensor, Block::Content::kept);
    group_->broadcast(x.elements(), root, timeout);
    x.give_back();
  });
}

ProcessGroupBaton::Works ProcessGroupBaton::allgather(TensorLists& outputs, Tensors& inputs,
                                                      const c10d::AllgatherOptions& options) {
  const at::Tensor input = only_one("allgather", inputs);
  TORCH_CHECK_VALUE(outputs.size() == 1, "baton: allgather takes one list of tensors, and got ", outputs.size());
  check_list("allgather", outputs[0], input, getSize());
  return call(OpType::ALLGATHER, "baton:all_gather", options, inputs, outputs,
              [this, input, list = outputs[0]](Timeout timeout) {
                Blocks out(list, Block::Content::none);
                group_->allgather(elements_of(readable(input)), out.elements(), timeout);
                out.give_back();
              });
}

ProcessGroupBaton::Works ProcessGroupBaton::_allgather_base(at::Tensor& output, at::Tensor& input,
                                                            const c10d::AllgatherOptions& options) {
  check_blocks("allgather", output, input, getSize());
  return call(OpType::_ALLGATHER_BASE, "baton:_all_gather_base", options, {input}, {{output}},
              [this, output, input](Timeout timeout) {
                Block out(output, Block::Content::none);
                group_->allgather(elements_of(readable(input)), out.elements(), timeout);
                out.give_back();
              });
}

ProcessGroupBaton::Works ProcessGroupBaton::allgather_coalesced(TensorLists& outputs, Tensors& inputs,
                                                                const c10d::AllgatherOptions& options) {
  TORCH_CHECK_VALUE(outputs.size() == static_cast<std::size_t>(getSize()) && !inputs.empty(),
                    "baton: allgather_coalesced takes a list for each of ", getSize(), " ranks, and got ",
                    outputs.size(), " and ", inputs.size(), " tensors");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (const Tensors& of_rank : outputs) {
      TORCH_CHECK_VALUE(of_rank.size() == inputs.size(), "baton: allgather_coalesced: ", of_rank.size(),
                        " results for ", inputs.size(), " tensors");
      check_alike("allgather_coalesced", inputs[i], {of_rank[i]});
    }
  }
  check_reachable("allgather_coalesced", inputs);
  return call(OpType::ALLGATHER_COALESCED, "baton:all_gather", options, inputs, outputs,
              [this, outputs, inputs](Timeout timeout) {
                for (std::size_t i = 0; i < inputs.size(); ++i) {
                  Tensors list;
                  for (const Tensors& of_rank : outputs) list.push_back(of_rank[i]);
                  Blocks out(list, Block::Content::none);
                  group_->allgather(elements_of(readable(inputs[i])), out.elements(), timeout);
                  out.give_back();
                }
              });
}

ProcessGroupBaton::Works ProcessGroupBaton::allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                                            const c10d::AllgatherOptions& options) {
  TORCH_CHECK_VALUE(outputs.size() == inputs.size(), "baton: allgather_into_tensor_coalesced: ", outputs.size(),
                    " results for ", inputs.size(), " tensors");
  for (std::size_t i = 0; i < inputs.size(); ++i)
    check_blocks("allgather_into_tensor_coalesced", outputs[i], inputs[i], getSize());
  return call(coalesced_or(OpType::_ALLGATHER_BASE), "baton:_all_gather_base", options, inputs, {outputs},
              [this, outputs, inputs](Timeout timeout) {
                for (std::size_t i = 0; i < inputs.size(); ++i) {
                  Block out(outputs[i], Block::Content::none);
                  group_->allgather(elements_of(readable(inputs[i])), out.elements(), timeout);
                  out.give_back();
                }
              });
}

ProcessGroupBaton::Works ProcessGroupBaton::gather(TensorLists& outputs, Tensors& inputs,
                                                   const c10d::GatherOptions& options) {
  const at::Tensor input = only_one("gather", inputs);
  const auto root = static_cast<int>(options.rootRank);
  if (getRank() == root) {
    TORCH_CHECK_VALUE(outputs.size() == 1, "baton: gather takes one list of tensors, and got ", outputs.size());
    check_list("gather", outputs[0], input, getSize());
  } else {
    TORCH_CHECK_VALUE(outputs.empty(), "baton: gather: only the root, rank ", root, ", gets something");
  }
  return call(OpType::GATHER, "baton:gather", options, inputs, outputs, [this, outputs, input, root](Timeout timeout) {
    Blocks out(outputs.empty() ? Tensors{} : outputs[0], Block::Content::none);
    group_->gather(elements_of(readable(input)), out.elements(), root, timeout);
    out.give_back();
  });
}

ProcessGroupBaton::Works ProcessGroupBaton::gather_into_tensor(at::Tensor& output, at::Tensor& input,
                                                               const c10d::GatherOptions& options) {
  const auto root = static_cast<int>(options.rootRank);
  check_reachable("gather", input);
  if (getRank() == root) check_blocks("gather", output, input, getSize());
  return call(OpType::GATHER, "baton:gather", options, {input}, {{output}},
              [this, output, input, root](Timeout timeout) {
                const at::Tensor in = readable(input);
                if (getRank() != root)
                  return group_->gather(elements_of(in), {nullptr, 0, elements_of(in).element}, root, timeout);
                Block out(output, Block::Content::none);
                group_->gather(elements_of(in), out.elements(), root, timeout);
                out.give_back();
              });
}

ProcessGroupBaton::Works ProcessGroupBaton::scatter(Tensors& outputs, TensorLists& inputs,
                                                    const c10d::ScatterOptions& options) {
  const at::Tensor output = only_one("scatter", outputs);
  const auto root = static_cast<int>(options.rootRank);
  if (getRank() == root) {
    TORCH_CHECK_VALUE(inputs.size() == 1, "baton: scatter takes one list of tensors, and got ", inputs.size());
    check_list("scatter", inputs[0], output, getSize());
  } else {
    TORCH_CHECK_VALUE(inputs.empty(), "baton: scatter: only the root, rank ", root, ", gives something");
  }
  return call(OpType::SCATTER, "baton:scatter", options, inputs.empty() ? Tensors{} : inputs[0], {outputs},
              [this, inputs, output, root](Timeout timeout) {
                const Blocks in(inputs.empty() ? Tensors{} : inputs[0], Block::Content::kept);
                Block out(output, Block::Content::none);
                group_->scatter(in.elements(), out.elements(), root, timeout);
                out.give_back();
              });
}

}  // namespace baton::process_group
