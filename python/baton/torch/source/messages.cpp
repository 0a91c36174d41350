// Messages from rank to rank, and the barrier that is made of them.
#include <limits>

#include "call.hpp"
#include "tensors.hpp"

namespace baton::process_group {

using c10d::OpType;

namespace {

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

}  // namespace baton::process_group
