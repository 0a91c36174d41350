#include "work.hpp"

#include <utility>

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/util/Exception.h>

#include "group.hpp"

namespace baton::process_group {

void run_translated(const std::function<void()>& body) {
  try {
    body();
  } catch (const Failure& failure) {
    if (failure.kind() == Failure::Kind::wrong_use) C10_THROW_ERROR(ValueError, failure.what());
    C10_THROW_ERROR(DistBackendError, failure.what());
  }
}

QueuedWork::QueuedWork(std::weak_ptr<CallQueue> queue, const CallInfo& info, std::vector<at::Tensor> inputs,
                       std::vector<std::vector<at::Tensor>> outputs, std::function<void()> body)
    : Work(info.rank, info.type, info.title, std::move(inputs)),
      queue_(std::move(queue)),
      info_(info),
      outputs_(std::move(outputs)),
      body_(std::move(body)) {}

void QueuedWork::make() noexcept {
  std::exception_ptr failure;
  try {
    // Results are written behind the back of autograd, as every backend does.
    const at::AutoDispatchBelowADInplaceOrView guard;
    run_translated(body_);
  } catch (...) {
    failure = std::current_exception();
  }
  body_ = nullptr;  // tensors that only the call needs
  finish(failure);
  bool asked = false;
  {
    const std::lock_guard lock(mutex_);
    asked = future_ && !std::exchange(future_ended_, true);
  }
  if (asked) end_future();
}

void QueuedWork::end_future() const {
  if (exception_) return future_->setError(exception_);
  if (outputs_.size() == 1) return future_->markCompleted(c10::IValue(outputs_[0]));
  future_->markCompleted(c10::IValue(outputs_));
}

bool QueuedWork::wait(std::chrono::milliseconds timeout) {
  if (const std::shared_ptr<CallQueue> queue = isCompleted() ? nullptr : queue_.lock()) {
    if (timeout <= std::chrono::milliseconds::zero()) {
      queue->wait(*this);
    } else if (!queue->wait_until(*this, CallQueue::Clock::now() + timeout)) {
      C10_THROW_ERROR(DistBackendError,
                      c10::str("baton: ", c10d::opTypeToString(info_.type), " number ", info_.number, " of rank ",
                               info_.rank, " has not ended within ", timeout.count(), " ms; it goes on"));
    }
  }
  const std::lock_guard lock(mutex_);
  if (exception_) std::rethrow_exception(exception_);
  return true;
}

std::vector<at::Tensor> QueuedWork::result() {
  TORCH_CHECK(isCompleted(), "baton: the result of a call that has not ended; wait() for it");
  TORCH_CHECK(outputs_.size() <= 1, "baton: the call has ", outputs_.size(), " lists of results");
  return outputs_.empty() ? std::vector<at::Tensor>{} : outputs_[0];
}

c10::intrusive_ptr<c10::ivalue::Future> QueuedWork::getFuture() {
  {
    const std::lock_guard lock(mutex_);
    if (!future_) {
      const c10::TypePtr list = c10::ListType::create(c10::TensorType::get());
      future_ = c10::make_intrusive<c10::ivalue::Future>(outputs_.size() == 1 ? list : c10::ListType::create(list));
    }
    // Otherwise make() ends it, or somebody has.
    if (!completed_ || std::exchange(future_ended_, true)) return future_;
  }
  end_future();
  return future_;
}

}  // namespace baton::process_group
