// Brings notifications to other ranks late, as a seed says.
//
// Notifications of one chip arrive in the order in which it sent them, so that a rank that observes one observes all
// that the chip did before it. Data a kernel wrote is in place when it notifies, so nothing overtakes it. A kernel
// counts as finished when its notifications have arrived.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <exception>
#include <string>

#include "chip/cores/event_log.hpp"
#include "chip/cores/global_memory.hpp"
#include "chip/cores/seed.hpp"

namespace baton::chip {

/// Who sent a notification. For `baton check` the one that brings it does so apart from its sender, who goes on: it
/// takes the first token before, and hands over the second after it. 0: it is not checked.
struct CarriedNotification {
  EventSource from{};
  std::uint64_t sent = 0;
  std::uint64_t arrived = 0;
};

/// Used by fibers of one thread, one of which runs serve(); stop() by any.
class LateNotifier {
 public:
  LateNotifier(GlobalMemory& memory, const Chance& chance, EventLog* events)
      : memory_(memory), chance_(chance), events_(events) {}
  LateNotifier(const LateNotifier&) = delete;
  LateNotifier& operator=(const LateNotifier&) = delete;

  /// Takes a notification of another rank's signal, which arrives at once or later. Gives its number.
  std::uint64_t send(std::int32_t* signal, std::int32_t value, NotifyOp op, const CarriedNotification& carried);
  [[nodiscard]] std::uint64_t last_sent() const noexcept { return sent_; }

  /// Waits until the notification `number` and all before it have arrived. Throws what went wrong with any of them.
  void wait_for(std::uint64_t number) const;
  /// As wait_for(), for those of one signal: a chip sees its own changes.
  void wait_for_signal(const std::int32_t* signal) const;

  /// Delivers until stop(), and then what is left. On a fiber of its own.
  void serve();
  void stop();

 private:
  struct Notification {
    std::int32_t* signal;
    std::int32_t value;
    NotifyOp op;
    CarriedNotification carried;
  };
  void deliver(const Notification& notification);

  GlobalMemory& memory_;
  Chance chance_;
  EventLog* events_;
  std::deque<Notification> queue_;
  std::uint64_t sent_ = 0;
  std::uint64_t arrived_ = 0;
  std::exception_ptr failure_;
  std::atomic<bool> stop_{false};
};

/// Notifies at once if there is no notifier or the signal is of this rank; else through the notifier, and waits until
/// it has arrived.
void notify_through(LateNotifier* notifier, GlobalMemory& memory, std::int32_t* signal, std::int32_t value, NotifyOp op,
                    const EventSource& from);

/// "add 1" or "set 1"
[[nodiscard]] std::string describe_change(std::int32_t value, NotifyOp op);

}  // namespace baton::chip
