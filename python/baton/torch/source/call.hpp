// How a process group makes a call: after those before it, now or later.
#pragma once

#include <utility>

#include "process_group.hpp"

namespace baton::process_group {

/// Whether the caller goes on before the call has ended. Older versions of PyTorch do not say.
template <class CallOptions>
[[nodiscard]] bool is_async(const CallOptions& options) {
  if constexpr (requires { options.asyncOp; }) return options.asyncOp;
  return true;
}

/// What PyTorch's tools call a call; older versions have fewer words.
template <class Type>
[[nodiscard]] constexpr Type coalesced_or(Type otherwise) {
  if constexpr (requires { Type::COALESCED; }) return Type::COALESCED;
  return otherwise;
}
template <class Type>
[[nodiscard]] constexpr Type sparse_or(Type otherwise) {
  if constexpr (requires { Type::_ALLREDUCE_SPARSE; }) return Type::_ALLREDUCE_SPARSE;
  return otherwise;
}

template <class CallOptions, class Body>
ProcessGroupBaton::Works ProcessGroupBaton::call(c10d::OpType type, const char* title, const CallOptions& options,
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

}  // namespace baton::process_group
