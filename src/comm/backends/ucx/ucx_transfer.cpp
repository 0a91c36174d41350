#include "comm/backends/ucx/ucx_transfer.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace baton::ucx {

UcxPath::Message::Message(UcxPath& path, const wire::PathHeader& header, std::uint32_t rank, const char* what,
                          std::uint64_t bytes, const Deadline& deadline)
    : path_(path), rank_(rank), what_(what), bytes_(bytes), deadline_(deadline), sending_(std::make_unique<Sending>()) {
  sending_->header = header;
}

void UcxPath::Message::start() {
  const std::lock_guard lock(path_.mutex_);
  is_started_ = path_.start_or_keep(rank_, *sending_);
  // The time begins.
  static_cast<void>(deadline_.when());
  if (!is_started_) news_ = Deadline::after(kNewsTime);
}

bool UcxPath::Message::is_sent() const noexcept {
  // Pairs with the store in on_sent(); sequentially consistent because it is tested before sleeping.
  return sending_->done.load(std::memory_order_seq_cst) && sending_->status == UCS_OK;
}

bool UcxPath::Message::is_hopeless() const noexcept {
  const bool failed = sending_->done.load(std::memory_order_seq_cst) && sending_->status != UCS_OK;
  return !is_started_ || failed || path_.is_lost(rank_);
}

bool UcxPath::Message::is_over() noexcept {
  if (is_done()) return true;
  path_.progress();
  if (is_done()) return true;
  if (!is_hopeless()) return deadline_.passed();
  if (path_.is_gone(rank_)) return true;
  if (!news_) news_ = Deadline::after(kNewsTime);
  return news_->passed();
}

Deadline::Clock::time_point UcxPath::Message::latest() const noexcept {
  return news_ ? std::min(news_->when(), deadline_.when()) : deadline_.when();
}

void UcxPath::Message::settle() {
  const bool hopeless = is_hopeless();
  take_back();
  if (!hopeless) path_.throw_timeout(rank_, what_, bytes_);
  path_.settle_loss(rank_, what_, Deadline::after(std::chrono::nanoseconds(0)));
}

void UcxPath::Message::take_back() noexcept {
  // Pairs with the store in on_sent(), as in is_sent().
  const auto is_back = [this] { return sending_->done.load(std::memory_order_seq_cst); };
  if (!is_started_ || is_back()) return;
  {
    const std::lock_guard lock(path_.mutex_);
    is_started_ = std::erase(path_.peers_[rank_].unsent, sending_.get()) == 0;
    if (!is_started_) path_.count_sent(-1);
  }
  // To break it off costs the connection. What is sent is taken, whatever its rank does meanwhile.
  if (is_started_ && !is_hopeless() && !deadline_.passed()) path_.let_end(rank_, is_back);
  if (is_started_ && !is_back()) path_.abandon(rank_, is_back);
  // UCX still has it, and says so once more.
  if (is_started_ && !is_back()) static_cast<void>(sending_.release());
  is_started_ = false;
}

UcxPath::Put::Put(UcxPath& path, const comm::FarPlace& to, const void* source, std::size_t bytes,
                  const comm::FarSignal& signal, const Deadline& deadline)
    : Message(path, path.put_header(to, bytes, signal), to.rank, "a put", bytes, deadline) {
  sending().payload = source;
  start();
}

void UcxPath::Put::end() {
  if (!is_sent()) settle();
}

UcxPath::Get::Get(UcxPath& path, const comm::FarPlace& from, void* target, std::size_t bytes, const Deadline& deadline)
    : Message(path, path.header_for(wire::PathKind::get, from.rank), from.rank, "a get", bytes, deadline) {
  sending().header.window = from.window;
  sending().header.offset = from.offset;
  getting_->target = static_cast<std::byte*>(target);
  getting_->bytes = bytes;
  sending().header.value = static_cast<std::int64_t>(bytes);
  {
    const std::lock_guard lock(path_.mutex_);
    sending().header.request = path_.next_get_++;
    path_.gets_[sending().header.request] = getting_;
  }
  start();
}

bool UcxPath::Get::has_reply() const noexcept {
  // Pairs with the store in finish(); sequentially consistent because it is tested before sleeping.
  return getting_->done.load(std::memory_order_seq_cst);
}

bool UcxPath::Get::is_done() const noexcept { return is_sent() && has_reply(); }

void UcxPath::Get::end() {
  if (!is_done()) {
    take_reply_back();
    settle();
    fail(Code::peer_left, "rank {} wanted {} bytes of {}, which has left", path_.place_.rank, getting_->bytes,
         path_.describe(rank_));
  }
  if (!getting_->refused) return;
  fail(Code::released, "rank {} wanted {} bytes of a window that {} has released", path_.place_.rank, getting_->bytes,
       path_.describe(rank_));
}

void UcxPath::Get::take_reply_back() noexcept {
  if (has_reply()) return;
  bool arrives = false;
  {
    const std::lock_guard lock(path_.mutex_);
    arrives = getting_->arrives;
    if (!arrives) path_.gets_.erase(sending().header.request);
  }
  if (arrives) path_.abandon(rank_, [this] { return has_reply(); });
}

}  // namespace baton::ucx
