// A message, as PyTorch sees it.
#pragma once

#include "group.hpp"
#include "naming.hpp"
#include "work.hpp"

namespace baton::process_group {

class MessageWork final : public c10d::Work {
 public:
  MessageWork(std::shared_ptr<Group> group, std::shared_ptr<const Naming> naming, const CallInfo& info,
              std::vector<at::Tensor> tensors, MessageHandle message);

  bool isCompleted() override;
  bool isSuccess() const override;
  std::exception_ptr exception() const override;
  int sourceRank() const override;
  bool wait(std::chrono::milliseconds timeout) override;
  std::vector<at::Tensor> result() override { return tensors_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override;
  virtual std::uint64_t getSequencenumber() const { return info_.number; }  // not in all versions of PyTorch

 private:
  /// Notes how the message ended.
  void note_end();

  std::shared_ptr<Group> group_;
  std::shared_ptr<const Naming> naming_;
  CallInfo info_;
  std::vector<at::Tensor> tensors_;
  MessageHandle message_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;  // guarded by the mutex of Work
};

}  // namespace baton::process_group
