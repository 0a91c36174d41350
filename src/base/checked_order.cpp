#include "base/checked_order.hpp"

#include <unistd.h>

#include <atomic>

#include "base/ticks.hpp"

namespace baton {
namespace {

EventRecord event_of(EventKind kind, const CheckedActor& by, std::uint64_t a, std::uint64_t b = 0) noexcept {
  return {.end = by.activity, .kind = kind, .rank = by.rank, .a = a, .b = b};
}

}  // namespace

void note_hand(const CheckedActor& by, std::uint64_t token) noexcept {
  events::record(event_of(EventKind::hand, by, token));
}

void note_take(const CheckedActor& by, std::uint64_t token) noexcept {
  events::record(event_of(EventKind::take, by, token));
}

CheckedTasks CheckedTasks::of_this_process() noexcept {
  static std::atomic<std::uint64_t> last{0};
  return {mix(static_cast<std::uint64_t>(::getpid()), last.fetch_add(1, std::memory_order_relaxed) + 1)};
}

void CheckedTasks::waits_for(std::uint32_t rank, std::uint64_t task, std::uint64_t earlier) const noexcept {
  EventRecord event = event_of(EventKind::edge, {.rank = rank}, task, earlier);
  event.c = id;
  // Traces have edges, too, by the clock.
  event.begin = event.end = ticks();
  events::record(event);
}

void CheckedTasks::begun(const CheckedActor& by, std::uint64_t task) const noexcept {
  events::record(event_of(EventKind::begun, by, task, id));
}

void CheckedTasks::ended(const CheckedActor& by, std::uint64_t task) const noexcept {
  note_hand(by, task_token(id, task, TaskMoment::ended));
  note_hand(by, tasks_token(id));
}

}  // namespace baton
