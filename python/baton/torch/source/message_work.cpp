#include "message_work.hpp"

#include <c10/util/Exception.h>

namespace baton::process_group {

MessageWork::MessageWork(std::shared_ptr<Group> group, std::shared_ptr<const Naming> naming, const CallInfo& info,
                         std::vector<at::Tensor> tensors, MessageHandle message)
    : Work(info.rank, info.type, info.title, tensors),
      group_(std::move(group)),
      naming_(std::move(naming)),
      info_(info),
      tensors_(std::move(tensors)),
      message_(std::move(message)) {}

void MessageWork::note_end() {
  {
    const std::lock_guard lock(mutex_);
    if (completed_) return;
  }
  std::exception_ptr failure;
  try {
    run_translated([&] { naming_->explain([&] { static_cast<void>(group_->wait(message_, info_.timeout)); }); });
  } catch (...) {
    failure = std::current_exception();
  }
  finish(failure);
}

bool MessageWork::isCompleted() {
  if (Work::isCompleted()) return true;
  bool ended = true;
  try {
    ended = group_->test(message_);
  } catch (const Failure&) {
    // Those who wait are told.
  }
  if (ended) note_end();
  return ended;
}

bool MessageWork::isSuccess() const {
  const std::lock_guard lock(mutex_);
  return completed_ && !exception_;
}

std::exception_ptr MessageWork::exception() const {
  const std::lock_guard lock(mutex_);
  return exception_;
}

int MessageWork::sourceRank() const { return Group::peer_of(message_); }

bool MessageWork::wait(std::chrono::milliseconds timeout) {
  if (!Work::isCompleted()) {
    const auto limit = timeout > std::chrono::milliseconds::zero() ? timeout : info_.timeout;
    bool ended = true;
    try {
      ended = group_->wait(message_, limit);
    } catch (const Failure&) {
      // Told below, as at every later wait.
    }
    if (!ended) {
      const int peer = Group::peer_of(message_);
      C10_THROW_ERROR(
          DistBackendError,
          c10::str("baton: rank ", info_.rank, " waited ", limit.count(), " ms for its ",
                   info_.type == c10d::OpType::SEND ? "message to " : "message from ",
                   peer == Group::kAnyRank ? std::string("any rank") : c10::str("rank ", peer), "; it goes on"));
    }
    note_end();
  }
  const std::lock_guard lock(mutex_);
  if (exception_) std::rethrow_exception(exception_);
  return true;
}

c10::intrusive_ptr<c10::ivalue::Future> MessageWork::getFuture() {
  {
    const std::lock_guard lock(mutex_);
    if (future_) return future_;
    future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
  }
  const auto self = c10::intrusive_ptr<MessageWork>::reclaim_copy(this);
  run_translated([&] {
    group_->when_ended(message_, [self] {
      self->note_end();
      if (const std::exception_ptr failure = self->exception()) return self->future_->setError(failure);
      self->future_->markCompleted(c10::IValue(self->tensors_));
    });
  });
  return future_;
}

}  // namespace baton::process_group
