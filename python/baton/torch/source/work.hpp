// A call on a group, as PyTorch sees it.
#pragma once

#include <functional>

#include <torch/csrc/distributed/c10d/Work.hpp>

#include "call_queue.hpp"

namespace baton::process_group {

/// What PyTorch's profiler and debugging tools show of a call.
struct CallInfo {
  int rank = -1;
  c10d::OpType type = c10d::OpType::UNKNOWN;
  const char* title = nullptr;
  std::uint64_t number = 0;
  std::chrono::milliseconds timeout{0};
};

class QueuedWork final : public c10d::Work, public QueuedCall {
 public:
  /// `outputs`: the result of its future. `body` runs once, without a lock, on any thread.
  QueuedWork(std::weak_ptr<CallQueue> queue, const CallInfo& info, std::vector<at::Tensor> inputs,
             std::vector<std::vector<at::Tensor>> outputs, std::function<void()> body);

  void make() noexcept override;

  bool wait(std::chrono::milliseconds timeout) override;
  std::vector<at::Tensor> result() override;
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  virtual std::uint64_t getSequencenumber() const { return info_.number; }  // not in all versions of PyTorch
  virtual std::chrono::milliseconds getTimeout() const { return info_.timeout; }

 private:
  /// By the thread that has set future_ended_, once the call has ended.
  void end_future() const;

  std::weak_ptr<CallQueue> queue_;
  CallInfo info_;
  std::vector<std::vector<at::Tensor>> outputs_;
  std::function<void()> body_;
  // Guarded by the mutex of Work. The future is made when it is asked for.
  c10::intrusive_ptr<c10::ivalue::Future> future_;
  bool future_ended_ = false;
};

/// Runs `body` with what Baton throws as exceptions that PyTorch translates for Python.
void run_translated(const std::function<void()>& body);

}  // namespace baton::process_group
