#include "process_group.hpp"

#include <limits>
#include <numeric>

#include <ATen/ATen.h>
#include <Python.h>

#include "meeting.hpp"
#include "tensors.hpp"

namespace baton::process_group {
namespace {

using c10d::OpType;

/// Whether the caller goes on before the call has ended. Older versions of PyTorch do not say.
template <class CallOptions>
bool is_async(const CallOptions& options) {
  if constexpr (requires { options.asyncOp; }) return options.asyncOp;
  return true;
}

/// What only some versions of PyTorch have: the name of a group that is split off, and a connection of its own.
template <class GroupOptions>
std::string name_in(const GroupOptions& options) {
  if constexpr (requires { options.group_name; }) return options.group_name;
  return {};
}
template <class StorePointer>
StorePointer own_connection(const StorePointer& store) {
  if constexpr (requires { store->clone(); }) return store->clone();
  return store;
}

/// Python's lock, if this thread has it, is not held while it waits: callbacks of futures need it.
class WithoutPython {
 public:
  WithoutPython() : state_(Py_IsInitialized() != 0 && PyGILState_Check() != 0 ? PyEval_SaveThread() : nullptr) {}
  WithoutPython(const WithoutPython&) = delete;
  WithoutPython& operator=(const WithoutPython&) = delete;
  ~WithoutPython() {
    if (state_ != nullptr) PyEval_RestoreThread(state_);
  }

 private:
  PyThreadState* state_;
};

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

/// The tensor of a message, whose memory is used as it is.
at::Tensor message_tensor(const char* what, std::vector<at::Tensor>& tensors) {
  at::Tensor tensor = only_one(what, tensors);
  TORCH_CHECK_VALUE(tensor.is_contiguous() && !tensor.is_conj() && !tensor.is_neg(), "baton: ", what,
                    " of a tensor that is not contiguous");
  return tensor;
}

void check_partner(const char* what, int partner, int rank, int size) {
  TORCH_CHECK_VALUE(partner >= 0 && partner < size && partner != rank, "baton: ", what, ": rank ", partner,
                    " is not another rank of ", size);
}

}  // namespace

ProcessGroupBaton::ProcessGroupBaton(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                                     std::chrono::milliseconds timeout, Naming naming)
    : Backend(rank, size),
      timeout_(timeout),
      naming_(std::make_shared<const Naming>(std::move(naming))),
      group_(std::make_shared<Group>(meet(*store, rank, size, timeout).c_str(), rank, size)),
      queue_(std::make_shared<CallQueue>()) {
  init();
}

ProcessGroupBaton::~ProcessGroupBaton() {
  const WithoutPython released;
  queue_->close();
  group_->leave();
}

void ProcessGroupBaton::shutdown() {
  const WithoutPython released;
  queue_->drain();
  group_->leave();
}

void ProcessGroupBaton::abort() {
  const WithoutPython released;
  group_->abort("the process group was aborted");
  queue_->drain();
}

c10::intrusive_ptr<c10d::Backend::Options> ProcessGroupBaton::getBackendOptions() {
  return c10::make_intrusive<Options>(getBackendName(), timeout_.load());
}

c10::intrusive_ptr<c10d::Backend> ProcessGroupBaton::split(const c10::intrusive_ptr<c10d::Store>& store,
                                                           const std::vector<int>& ranks,
                                                           const c10::intrusive_ptr<Options>& options) {
  const auto found = std::find(ranks.begin(), ranks.end(), getRank());
  if (found == ranks.end()) return nullptr;
  Naming naming{name_in(*options), {}};
  for (const int rank : ranks) {
    naming.ranks.push_back(naming_->ranks.empty() ? rank : naming_->ranks.at(static_cast<std::size_t>(rank)));
  }
  return c10::make_intrusive<ProcessGroupBaton>(own_connection(store), static_cast<int>(found - ranks.begin()),
                                                static_cast<int>(ranks.size()), options->timeout, std::move(naming));
}

ProcessGroupBaton::Timeout ProcessGroupBaton::timeout_of(Timeout asked) const {
  return asked > Timeout::zero() ? asked : timeout_.load();
}

template <class CallOptions, class Body>
ProcessGroupBaton::Works ProcessGroupBaton::call(OpType type, const char* title, const CallOptions& options,
                                                 Tensors inputs, TensorLists outputs, Body body) {
  const Timeout timeout = timeout_of(options.timeout);
  const CallInfo info{getRank(), type, title, ++calls_, timeout};
  auto work = c10::make_intrusive<QueuedWork>(
      queue_, info, std::move(inputs), std::move(outputs),
      [this, timeout, body = std::move(body)]() mutable { naming_->explain([&] { body(timeout); }, timeout); });
  // Keeps the work until it is done.
  const CallQueue::Owned owned(work.get(), [work](QueuedCall* /*call*/) {});
  if (is_async(options)) {
    queue_->start(owned);
  } else {
    queue_->make(owned);
  }
  return work;
}

ProcessGroupBaton::Works ProcessGroupBaton::broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) {
  const at::Tensor tensor = only_one("broadcast", tensors);
  const auto root = static_cast<int>(options.rootRank);
  return call(OpType::BROADCAST, "baton:broadcast", options, tensors, {tensors}, [this, tensor, root](Timeout timeout) {
    Block x(tensor, Block::Content::kept);
    group_->broadcast(x.elements(), root, timeout);
    x.give_back();
  });
}

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

ProcessGroupBaton::Works ProcessGroupBaton::allgather(TensorLists& outputs, Tensors& inputs,
                                                      const c10d::AllgatherOptions& options) {
  const at::Tensor input = only_one("allgather", inputs);
  TORCH_CHECK_VALUE(outputs.size() == 1, "baton: allgather takes one list of tensors, and got ", outputs.size());
  check_list("allgather", outputs[0], input, getSize());
  return call(OpType::ALLGATHER, "baton:all_gather", options, inputs, outputs,
              [this, input, list = outputs[0]](Timeout timeout) {
                Block out(list, Block::Content::none);
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
                  Block out(list, Block::Content::none);
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
  return call(OpType::COALESCED, "baton:_all_gather_base", options, inputs, {outputs},
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
    const at::Tensor in = readable(input);
    if (outputs.empty()) return group_->gather(elements_of(in), {nullptr, 0, elements_of(in).element}, root, timeout);
    Block out(outputs[0], Block::Content::none);
    group_->gather(elements_of(in), out.elements(), root, timeout);
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
                Block out(output, Block::Content::none);
                if (inputs.empty()) {
                  group_->scatter({nullptr, 0, out.elements().element}, out.elements(), root, timeout);
                } else {
                  const Block in(inputs[0], Block::Content::kept);
                  group_->scatter(in.elements(), out.elements(), root, timeout);
                }
                out.give_back();
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
  return call(OpType::COALESCED, "baton:_reduce_scatter_base", options, inputs, {outputs},
              [this, outputs, inputs, reductions](Timeout timeout) {
                for (std::size_t i = 0; i < inputs.size(); ++i) {
                  Block out(outputs[i], Block::Content::none);
                  group_->reduce_scatter(elements_of(readable(inputs[i], reductions[i])), out.elements(),
                                         reductions[i].op, timeout);
                  out.give_back();
                }
              });
}

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

ProcessGroupBaton::Works ProcessGroupBaton::barrier(const c10d::BarrierOptions& options) {
  return call(OpType::BARRIER, "baton:barrier", options, {}, {}, [this](Timeout timeout) { group_->barrier(timeout); });
}

ProcessGroupBaton::Works ProcessGroupBaton::send(Tensors& tensors, int to, int tag) {
  const at::Tensor tensor = message_tensor("send", tensors);
  check_partner("send", to, getRank(), getSize());
  const CallInfo info{getRank(), OpType::SEND, "baton:send", ++calls_, timeout_.load()};
  return message_call(info, tensors,
                      [&] { return group_->send(to, tag, elements_of(tensor), std::make_shared<at::Tensor>(tensor)); });
}

ProcessGroupBaton::Works ProcessGroupBaton::recv(Tensors& tensors, int from, int tag) {
  check_partner("recv", from, getRank(), getSize());
  return receive(tensors, from, tag, OpType::RECV, "baton:recv");
}

ProcessGroupBaton::Works ProcessGroupBaton::recvAnysource(Tensors& tensors, int tag) {
  return receive(tensors, Group::kAnyRank, tag, OpType::RECVANYSOURCE, "baton:recvAnySource");
}

ProcessGroupBaton::Works ProcessGroupBaton::receive(Tensors& tensors, int from, int tag, OpType type,
                                                    const char* title) {
  const at::Tensor tensor = message_tensor("recv", tensors);
  const CallInfo info{getRank(), type, title, ++calls_, timeout_.load()};
  return message_call(info, tensors, [&] {
    return group_->receive(from, tag, elements_of(tensor), std::make_shared<at::Tensor>(tensor));
  });
}

template <class Post>
ProcessGroupBaton::Works ProcessGroupBaton::message_call(const CallInfo& info, const Tensors& tensors, Post post) {
  MessageHandle message;
  run_translated([&] { message = naming_->explain(post); });
  return c10::make_intrusive<MessageWork>(group_, naming_, info, tensors, std::move(message));
}

/// Every rank reports to rank 0, which answers when all have. The messages are in the words of Gloo: people look for
/// them.
void ProcessGroupBaton::monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all_ranks) {
  const Timeout timeout = options.timeout == c10d::kUnsetTimeout ? timeout_.load() : options.timeout;
  const auto deadline = CallQueue::Clock::now() + timeout;
  const auto left = [&] { return std::chrono::ceil<Timeout>(deadline - CallQueue::Clock::now()); };
  // Not a tag that users of PyTorch have.
  constexpr int kTag = std::numeric_limits<int>::min();
  const auto send = [&](int to) {
    const auto word = std::make_shared<std::uint8_t>();
    static_cast<void>(group_->send(to, kTag, {word.get(), 1, Element::uint8}, word));
  };
  const auto receive = [&](int from) {
    const auto word = std::make_shared<std::uint8_t>();
    return group_->receive(from, kTag, {word.get(), 1, Element::uint8}, word);
  };
  if (getRank() != 0) {
    std::string why = c10::str("it has not answered within ", timeout.count(), " ms");
    try {
      send(0);
      if (group_->wait(receive(0), left())) return;
    } catch (const Failure& failure) {
      why = failure.what();
    }
    C10_THROW_ERROR(DistBackendError, c10::str("baton: Rank ", getRank(),
                                               " successfully reached monitoredBarrier, but received errors "
                                               "while waiting for send/recv from rank 0: ",
                                               why));
  }
  std::vector<MessageHandle> reports;
  for (int rank = 1; rank < getSize(); ++rank) reports.push_back(receive(rank));
  std::string missing;
  for (int rank = 1; rank < getSize(); ++rank) {
    try {
      if (group_->wait(reports[static_cast<std::size_t>(rank - 1)], std::max(left(), Timeout::zero()))) continue;
    } catch (const Failure&) {
      // It is missing, too.
    }
    missing += c10::str(missing.empty() ? "" : ", ", rank);
    if (timeout <= Timeout::zero())
      C10_THROW_ERROR(DistBackendError,
                      c10::str("baton: Rank 0 timed out in monitoredBarrier after ", timeout.count(), " ms"));
    if (!wait_all_ranks) break;
  }
  if (!missing.empty()) {
    C10_THROW_ERROR(DistBackendError,
                    c10::str("baton: ", missing.find(',') == std::string::npos ? "Rank " : "Ranks ", missing,
                             " failed to pass monitoredBarrier in ", timeout.count(), " ms"));
  }
  for (int rank = 1; rank < getSize(); ++rank) send(rank);
}

ProcessGroupBaton::Works ProcessGroupBaton::allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& options) {
  TORCH_CHECK_VALUE(tensors.size() == 1 && tensors[0].is_sparse() && tensors[0].device().is_cpu(),
                    "baton: allreduce of sparse tensors takes one sparse tensor of the CPU");
  const at::Tensor tensor = tensors[0];
  TORCH_CHECK_VALUE(static_cast<c10d::ReduceOp::RedOpType>(options.reduceOp) == c10d::ReduceOp::SUM,
                    "baton: sparse tensors can only be summed");
  return call(OpType::_ALLREDUCE_SPARSE, "baton:sparse_all_reduce", options, tensors, {tensors},
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
