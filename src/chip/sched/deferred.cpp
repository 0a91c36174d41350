#include "chip/sched/deferred.hpp"

#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "chip/cores/checked_chip.hpp"
#include "chip/sched/captured_tasks.hpp"
#include "chip/sched/failure.hpp"

namespace baton::chip {
namespace {

std::int64_t nanoseconds(Deadline::Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

}  // namespace

bool DeferredTasks::add(const Condition& condition, Task& task) {
  if (test(condition)) {
    note_met(condition, task);
    return false;
  }
  if (condition.operation == nullptr && memory_.holder_of(condition.address) == Holder::peer_window) {
    fail(Code::invalid_argument, "{} is a word of another rank ({}): only its owner learns when it changes",
         describe(condition), memory_.name_of(condition.address));
  }
  const auto now = Deadline::Clock::now();
  const Spot spot = memory_.spot_of(condition.address);
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (condition.kind == ConditionKind::counter) {
      if (given_up_) throw GivenUp();
      // Ranks that end from now on, look() sees.
      if (memory_.deaths() != 0) throw_if_hopeless(condition);
    }
    // Changes of the word are announced from now on; earlier ones the test sees.
    memory_.watch(condition.address, 1);
    bool holds = false;
    try {
      holds = test(condition);
    } catch (...) {
      memory_.watch(condition.address, -1);
      throw;
    }
    if (holds) {
      memory_.watch(condition.address, -1);
      note_met(condition, task);
      return false;
    }
    waiting_[spot].push_back({condition, &task, now});
    count_.fetch_add(1, std::memory_order_relaxed);
    const std::int64_t deadline = nanoseconds(now + memory_.wait_timeout());
    if (deadline < deadline_ns_.load(std::memory_order_relaxed)) {
      first = deadline_ns_.exchange(deadline, std::memory_order_relaxed) == INT64_MAX;
      // Pairs with due(), which is tested before sleeping.
      if (first) must_look_.store(true, std::memory_order_seq_cst);
    }
  }
  // The fiber that looks may be asleep without a deadline, on another thread.
  if (first) ring();
  return true;
}

void DeferredTasks::note_met(const Condition& condition, const Task& task) const {
  if (!is_checked()) return;
  CheckedChip& chip = memory_.checked();
  const Activity by = chip.next_activity();
  if (condition.operation != nullptr) {
    chip.take(by, condition.operation->token);
  } else if (condition.kind == ConditionKind::counter) {
    memory_.note_seen(static_cast<const std::int32_t*>(condition.address), WaitCmp::ge,
                      static_cast<std::int32_t>(condition.expected), "condition",
                      {.where = task.where, .activity = by});
  }
  chip.ended(by, event_number(task));
}

void DeferredTasks::ring() const {
  const ParkingPlace place = memory_.parking_place();
  place.doorbell->ring(place.scope);
}

void DeferredTasks::throw_if_hopeless(const Condition& condition) const {
  memory_.throw_if_hopeless(static_cast<const std::int32_t*>(condition.address),
                            static_cast<std::int32_t>(condition.expected));
}

void DeferredTasks::go_on() {
  const std::lock_guard lock(mutex_);
  given_up_ = false;
}

void DeferredTasks::give_up() {
  {
    const std::lock_guard lock(mutex_);
    given_up_ = true;
    must_look_.store(true, std::memory_order_seq_cst);
  }
  ring();
}

bool DeferredTasks::due() const noexcept {
  return must_look_.load(std::memory_order_seq_cst) || memory_.any_changes() || memory_.deaths() != deaths_seen_;
}

Deadline::Clock::time_point DeferredTasks::next_deadline() const noexcept {
  const std::int64_t when = deadline_ns_.load(std::memory_order_relaxed);
  if (when == INT64_MAX) return Deadline::Clock::time_point::max();
  return Deadline::Clock::time_point(std::chrono::nanoseconds(when));
}

void DeferredTasks::take_out(const Waiting& waiting) {
  memory_.watch(waiting.condition.address, -1);
  count_.fetch_sub(1, std::memory_order_relaxed);
}

void DeferredTasks::look_at(Spot spot, Ready& ready) {
  const auto found = waiting_.find(spot);
  if (found == waiting_.end()) return;
  std::erase_if(found->second, [&](const Waiting& waiting) {
    try {
      if (!test(waiting.condition)) return false;
      note_met(waiting.condition, *waiting.task);
      ready.emplace_back(waiting.task, nullptr);
    } catch (...) {
      ready.emplace_back(waiting.task, std::current_exception());
    }
    take_out(waiting);
    return true;
  });
  if (found->second.empty()) waiting_.erase(found);
}

void DeferredTasks::look_at_all(Ready& ready, FunctionRef<void(const Waiting&)> judge) {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    std::erase_if(at->second, [&](const Waiting& waiting) {
      try {
        judge(waiting);
        return false;
      } catch (...) {
        ready.emplace_back(waiting.task, std::current_exception());
        take_out(waiting);
        return true;
      }
    });
    at = at->second.empty() ? waiting_.erase(at) : std::next(at);
  }
}

void DeferredTasks::look(Met met) {
  Ready ready;
  {
    const std::lock_guard lock(mutex_);
    must_look_.store(false, std::memory_order_relaxed);
    memory_.take_changes([&](Spot spot) { look_at(spot, ready); });
    if (given_up_) {
      look_at_all(ready, [](const Waiting& waiting) {
        if (waiting.condition.kind == ConditionKind::counter) throw GivenUp();
      });
    }
    const std::uint32_t deaths = memory_.deaths();
    if (std::exchange(deaths_seen_, deaths) != deaths) {
      look_at_all(ready, [&](const Waiting& waiting) {
        if (waiting.condition.kind == ConditionKind::counter) throw_if_hopeless(waiting.condition);
      });
    }
    const auto now = Deadline::Clock::now();
    if (next_deadline() <= now) {
      auto first = Deadline::Clock::time_point::max();
      look_at_all(ready, [&](const Waiting& waiting) {
        if (waiting.since + memory_.wait_timeout() <= now) {
          fail(Code::wait_timeout, "{} was deferred {} s for {} of {}", describe_task(*waiting.task),
               std::chrono::duration<double>(memory_.wait_timeout()).count(), describe(waiting.condition),
               memory_.name_of(waiting.condition.address));
        }
        first = std::min(first, waiting.since);
      });
      const bool none = first == Deadline::Clock::time_point::max();
      deadline_ns_.store(none ? INT64_MAX : nanoseconds(first + memory_.wait_timeout()), std::memory_order_relaxed);
    }
  }
  for (auto& [task, cause] : ready) met(*task, std::move(cause));
}

std::vector<DeferredTasks::Waiting> DeferredTasks::list() const {
  std::vector<Waiting> all;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [spot, waiting] : waiting_) all.insert(all.end(), waiting.begin(), waiting.end());
  }
  std::ranges::sort(all, {}, &Waiting::since);
  return all;
}

}  // namespace baton::chip
