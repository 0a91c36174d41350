// Who waits, who moves packets, and what ends messages that cannot end well.
#include "mailbox.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <baton/error.hpp>

namespace baton::process_group {
namespace {

/// After this long a wait looks whether those it waits for have left, then after twice as long, and so on.
constexpr std::chrono::milliseconds kFirstLook{100};
constexpr std::chrono::seconds kLastLook{10};

}  // namespace

Mailbox::Mailbox(Domain me)
    : me_(std::move(me)),
      layout_(me_.size()),
      window_(me_.raw_window("messages", layout_.bytes())),
      outgoing_(static_cast<std::size_t>(me_.size())),
      incoming_(static_cast<std::size_t>(me_.size())) {}

Mailbox::~Mailbox() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  work_.notify_all();
  if (!thread_.joinable()) return;
  // It may sleep at the bell.
  window_.notify(me_.rank(), MailboxLayout::kBell);
  thread_.join();
}

Mailbox::Handle Mailbox::send(int to, int tag, const void* data, std::uint64_t bytes, Element element,
                              std::shared_ptr<void> owner) {
  auto message = std::make_shared<Message>();
  message->direction = Message::Direction::send;
  message->peer = to;
  message->tag = tag;
  message->element = element;
  // Only read.
  message->data = static_cast<std::byte*>(const_cast<void*>(data));
  message->bytes = bytes;
  message->owner = std::move(owner);
  Lock lock(mutex_);
  if (failure_) {
    end(message, failure_);
    return message;
  }
  outgoing_[static_cast<std::size_t>(to)].announced_next.push_back(message);
  move_packets();
  attend(message);
  call_back(lock);
  return message;
}

Mailbox::Handle Mailbox::receive(int from, int tag, void* data, std::uint64_t bytes, Element element,
                                 std::shared_ptr<void> owner) {
  auto message = std::make_shared<Message>();
  message->direction = Message::Direction::receive;
  message->peer = from;
  message->tag = tag;
  message->element = element;
  message->data = static_cast<std::byte*>(data);
  message->bytes = bytes;
  message->owner = std::move(owner);
  Lock lock(mutex_);
  move_packets();
  const auto found = std::find_if(unclaimed_.begin(), unclaimed_.end(), [&](const Unclaimed& one) {
    return one.header.tag == tag && (from == kAnyRank || one.from == from);
  });
  // What came before something failed can still be had.
  if (failure_ && (found == unclaimed_.end() || found->header.kind == PacketKind::offer)) {
    end(message, failure_);
  } else if (found == unclaimed_.end()) {
    asked_.push_back(message);
  } else {
    const Unclaimed one = std::move(*found);
    unclaimed_.erase(found);
    deliver(message, one.from, one.header, one.content.data());
    move_packets();
  }
  attend(message);
  call_back(lock);
  return message;
}

bool Mailbox::test(const Handle& message) {
  Lock lock(mutex_);
  if (!message->ended) move_packets();
  const bool ended = message->ended;
  call_back(lock);
  return ended;
}

bool Mailbox::wait_until(const Handle& message, Clock::time_point deadline) {
  Lock lock(mutex_);
  const auto ended = [&] { return message->ended; };
  while (!ended() && Clock::now() < deadline) {
    if (driven_) {
      changed_.wait_until(lock, deadline, [&] { return ended() || !driven_; });
    } else {
      drive(lock, ended, deadline);
    }
  }
  call_back(lock);
  if (message->failure) std::rethrow_exception(message->failure);
  return message->ended;
}

void Mailbox::when_ended(const Handle& message, std::function<void()> at_end) {
  Lock lock(mutex_);
  if (message->ended) {
    lock.unlock();
    return at_end();
  }
  message->at_end = std::move(at_end);
  attended_.push_back(message);
  if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  work_.notify_one();
}

/// The other side of a large message waits for this one, whatever its program does meanwhile.
bool Mailbox::needs_thread(const Message& message) const { return message.bytes > layout_.content; }

void Mailbox::attend(const Handle& message) {
  if (message->ended || !needs_thread(*message)) return;
  attended_.push_back(message);
  if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  work_.notify_one();
}

template <class Done>
void Mailbox::drive(Lock& lock, Done done, Clock::time_point deadline) {
  driven_ = true;
  std::chrono::nanoseconds look = kFirstLook;
  while (true) {
    // Pairs with notify(): what was put before it is seen below, or the bell has changed when this thread lies down.
    const std::int32_t seen = std::atomic_ref(*reinterpret_cast<std::int32_t*>(window_.local() + MailboxLayout::kBell))
                                  .load(std::memory_order_seq_cst);
    if (move_packets()) look = kFirstLook;
    if (!to_call_.empty()) call_back(lock);
    if (done() || stopped_) break;
    const Clock::time_point now = Clock::now();
    if (now >= deadline) break;
    rest(lock, seen, std::min(deadline, now + std::chrono::duration_cast<Clock::duration>(look)));
    if (Clock::now() >= now + look) {
      look_for_departures();
      look = std::min<std::chrono::nanoseconds>(2 * look, kLastLook);
    }
  }
  driven_ = false;
  changed_.notify_all();
  if (!attended_.empty()) work_.notify_one();
}

void Mailbox::rest(Lock& lock, std::int32_t seen, Clock::time_point until) {
  lock.unlock();
  std::exception_ptr failure;
  try {
    const auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - Clock::now());
    window_.wait(MailboxLayout::kBell, WaitCmp::ne, seen, std::max(left, std::chrono::nanoseconds(1)));
  } catch (const Error& error) {
    if (error.code() != Code::wait_timeout) failure = std::current_exception();
  }
  lock.lock();
  if (!failure) return;
  // What has come before counts.
  move_packets();
  fail_all(failure);
}

void Mailbox::look_for_departures() {
  for (const int peer : awaited_peers()) {
    try {
      static_cast<void>(
          window_.reaches_within(peer, MailboxLayout::kNever, 1, Needed::owner, std::chrono::nanoseconds(1)));
    } catch (const Error& error) {
      // What it put before it left counts.
      move_packets();
      const std::string text =
          fmt::format("rank {} waited for a message from or to rank {}, which has left", me_.rank(), peer);
      fail_those_with(peer, std::make_exception_ptr(Error(error.code(), text, error.notes())));
    }
  }
}

std::vector<int> Mailbox::awaited_peers() const {
  std::vector<int> peers;
  for (int peer = 0; peer < me_.size(); ++peer) {
    const auto index = static_cast<std::size_t>(peer);
    const Outgoing& out = outgoing_[index];
    const bool sends = !out.announced_next.empty() || !out.offered.empty() || !out.in_pieces.empty();
    const bool receives =
        !incoming_[index].in_pieces.empty() ||
        std::any_of(asked_.begin(), asked_.end(), [&](const Handle& one) { return one->peer == peer; });
    if (sends || receives) peers.push_back(peer);
  }
  return peers;
}

void Mailbox::end(const Handle& message, std::exception_ptr failure) {
  if (message->ended) return;
  message->failure = std::move(failure);
  message->ended = true;
  message->data = nullptr;
  message->owner.reset();
  if (message->at_end) to_call_.push_back(std::move(message->at_end));
  changed_.notify_all();
}

void Mailbox::fail_those_with(int peer, const std::exception_ptr& failure) {
  const auto index = static_cast<std::size_t>(peer);
  Outgoing& out = outgoing_[index];
  for (const Handle& message : out.announced_next) end(message, failure);
  for (const auto& [id, message] : out.offered) end(message, failure);
  for (const auto& [id, message] : out.in_pieces) end(message, failure);
  out.announced_next.clear();
  out.offered.clear();
  out.in_pieces.clear();
  for (const auto& [id, message] : incoming_[index].in_pieces) end(message, failure);
  incoming_[index].in_pieces.clear();
  asked_.remove_if([&](const Handle& message) {
    if (message->peer != peer) return false;
    end(message, failure);
    return true;
  });
}

void Mailbox::fail_all(const std::exception_ptr& failure) {
  failure_ = failure;
  for (int peer = 0; peer < me_.size(); ++peer) fail_those_with(peer, failure);
  for (const Handle& message : asked_) end(message, failure);
  asked_.clear();
}

void Mailbox::serve() {
  Lock lock(mutex_);
  const auto idle = [&] {
    std::erase_if(attended_, [](const std::weak_ptr<Message>& one) {
      const Handle message = one.lock();
      return !message || message->ended;
    });
    return attended_.empty();
  };
  while (!stopped_) {
    work_.wait(lock, [&] { return stopped_ || (!driven_ && !idle()); });
    if (!stopped_) drive(lock, idle, Clock::time_point::max());
  }
}

void Mailbox::call_back(Lock& lock) {
  while (!to_call_.empty()) {
    const std::vector<std::function<void()>> now = std::exchange(to_call_, {});
    lock.unlock();
    for (const std::function<void()>& one : now) one();
    lock.lock();
  }
}

}  // namespace baton::process_group
