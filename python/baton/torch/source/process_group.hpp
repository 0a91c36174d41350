// A backend of torch.distributed over a group of Baton.
//
// The functions are those of c10d::Backend, where PyTorch describes them. Those that only some versions of PyTorch have
// are not marked `override`.
#pragma once

#include <atomic>
#include <string>

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include "group.hpp"
#include "message_work.hpp"
#include "naming.hpp"
#include "work.hpp"

namespace baton::process_group {

class ProcessGroupBaton final : public c10d::Backend {
 public:
  using Works = c10::intrusive_ptr<c10d::Work>;
  using Tensors = std::vector<at::Tensor>;
  using TensorLists = std::vector<Tensors>;

  /// Blocks until all ranks have come. They meet through `store`.
  ProcessGroupBaton(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, std::chrono::milliseconds timeout,
                    Naming naming);
  ~ProcessGroupBaton() override;

  const std::string getBackendName() const override { return "baton"; }  // NOLINT: the base has it so
  virtual c10::intrusive_ptr<Options> getBackendOptions();
  virtual void setTimeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }
  virtual bool supportsSplitting() const { return true; }
  virtual c10::intrusive_ptr<c10d::Backend> split(const c10::intrusive_ptr<c10d::Store>& store,
                                                  const std::vector<int>& ranks,
                                                  const c10::intrusive_ptr<Options>& options);
  virtual void abort();
  virtual void shutdown();
  void setSequenceNumberForGroup() override {}
  std::uint64_t getSequenceNumberForGroup() override { return calls_; }

  Works broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  Works allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  virtual Works allreduce_sparse(Tensors& tensors, const c10d::AllreduceOptions& options);
  Works allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) override;
  Works reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  Works allgather(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override;
  Works _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) override;
  Works allgather_coalesced(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override;
  virtual Works allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                const c10d::AllgatherOptions& options);
  Works gather(TensorLists& outputs, Tensors& inputs, const c10d::GatherOptions& options) override;
  virtual Works gather_into_tensor(at::Tensor& output, at::Tensor& input, const c10d::GatherOptions& options);
  Works scatter(Tensors& outputs, TensorLists& inputs, const c10d::ScatterOptions& options) override;
  Works reduce_scatter(Tensors& outputs, TensorLists& inputs, const c10d::ReduceScatterOptions& options) override;
  Works _reduce_scatter_base(at::Tensor& output, at::Tensor& input, const c10d::ReduceScatterOptions& options) override;
  virtual Works reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                                const c10d::ReduceScatterOptions& options);
  Works alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<std::int64_t>& output_splits,
                      std::vector<std::int64_t>& input_splits, const c10d::AllToAllOptions& options) override;
  Works alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) override;
  Works barrier(const c10d::BarrierOptions& options) override;
  void monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all_ranks) override;
  Works send(Tensors& tensors, int to, int tag) override;
  Works recv(Tensors& tensors, int from, int tag) override;
  Works recvAnysource(Tensors& tensors, int tag) override;

 private:
  using Timeout = std::chrono::milliseconds;

  /// The timeout of a call: its own, or that of the group.
  [[nodiscard]] Timeout timeout_of(Timeout asked) const;
  /// Makes `body(timeout)` after the calls before it: now, if PyTorch waits for it anyway.
  template <class CallOptions, class Body>
  Works call(c10d::OpType type, const char* title, const CallOptions& options, Tensors inputs, TensorLists outputs,
             Body body);
  Works receive(Tensors& tensors, int from, int tag, c10d::OpType type, const char* title);
  template <class Post>
  Works message_call(const CallInfo& info, const Tensors& tensors, Post post);
  void sum_of_sparse(const at::Tensor& tensor, Timeout timeout);

  std::atomic<Timeout> timeout_;
  std::atomic<std::uint64_t> calls_{0};
  std::shared_ptr<const Naming> naming_;
  /// Messages may outlive this object.
  std::shared_ptr<Group> group_;
  /// Behind the group, which its calls use.
  std::shared_ptr<CallQueue> queue_;
};

}  // namespace baton::process_group
