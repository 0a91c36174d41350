#include "chip/cores/sim/late_notifier.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "base/fiber.hpp"
#include "chip/cores/checked_chip.hpp"

namespace baton::chip {
namespace {

/// Turns that a notification is under way, at the most.
constexpr std::uint64_t kLongestWay = 16;

}  // namespace

std::string describe_change(std::int32_t value, NotifyOp op) {
  return fmt::format("{} {}", op == NotifyOp::add ? "add" : "set", value);
}

std::uint64_t LateNotifier::send(std::int32_t* signal, std::int32_t value, NotifyOp op,
                                 const CarriedNotification& carried) {
  if (queue_.empty() && chance_.one_in(2)) {
    deliver({signal, value, op, carried});
    ++arrived_;
  } else {
    queue_.push_back({signal, value, op, carried});
  }
  return ++sent_;
}

void LateNotifier::wait_for(std::uint64_t number) const {
  const auto arrived = [&] { return arrived_ >= number; };
  const auto timeout = memory_.wait_timeout();
  if (!arrived() && !wait_until(memory_.parking_place(), arrived, Deadline::within(timeout), [] {})) {
    fail(Code::wait_timeout, "a notification was not delivered after {} ms",
         std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count());
  }
  if (failure_) std::rethrow_exception(failure_);
}

void LateNotifier::wait_for_signal(const std::int32_t* signal) const {
  for (std::size_t i = queue_.size(); i > 0; --i) {
    if (queue_[i - 1].signal == signal) return wait_for(sent_ - (queue_.size() - i));
  }
}

void LateNotifier::serve() {
  const auto called = [this] {
    // Pairs with stop(). The queue belongs to this thread.
    return !queue_.empty() || stop_.load(std::memory_order_seq_cst);
  };
  while (true) {
    // A notifier has no deadline of its own: it ends when it is stopped.
    if (!wait_until(memory_.parking_place(), called, Deadline::at(Deadline::Clock::time_point::max()), [] {})) continue;
    if (queue_.empty()) return;
    for (std::uint64_t turns = chance_.below(kLongestWay); turns > 0; --turns) yield_fiber();
    deliver(queue_.front());
    queue_.pop_front();
    ++arrived_;
    memory_.parking_place().doorbell->ring(memory_.parking_place().scope);
  }
}

void LateNotifier::deliver(const Notification& notification) {
  try {
    if (events_ != nullptr) {
      events_->add(fmt::format("{} notifier - delivers {} {}", memory_.rank(), memory_.name_of(notification.signal),
                               describe_change(notification.value, notification.op)));
    }
    const CarriedNotification& carried = notification.carried;
    EventSource from = carried.from;
    from.lane = engine_lane(1);
    if (carried.sent != 0) memory_.checked().take(from.activity, carried.sent);
    memory_.notify(notification.signal, notification.value, notification.op, from);
    if (carried.arrived != 0) memory_.checked().hand(from.activity, carried.arrived);
  } catch (...) {
    if (!failure_) failure_ = std::current_exception();
  }
}

void LateNotifier::stop() {
  // Pairs with the load in serve(). Sequentially consistent because the doorbell is rung after it.
  stop_.store(true, std::memory_order_seq_cst);
  memory_.parking_place().doorbell->ring(memory_.parking_place().scope);
}

void notify_through(LateNotifier* notifier, GlobalMemory& memory, std::int32_t* signal, std::int32_t value, NotifyOp op,
                    const EventSource& from) {
  if (notifier == nullptr || memory.holder_of(signal) != Holder::peer_window) {
    memory.notify(signal, value, op, from);
    return;
  }
  notifier->wait_for(notifier->send(signal, value, op, {.from = from}));
}

}  // namespace baton::chip
