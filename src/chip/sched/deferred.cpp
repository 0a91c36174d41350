#include "chip/sched/deferred.hpp"

#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "base/recorder.hpp"
#include "chip/cores/checked_chip.hpp"
#include "chip/sched/captured_tasks.hpp"
#include "chip/sched/failure.hpp"
#include "wire/control.hpp"

namespace baton::chip {
namespace {

/// From when on others see that a task is deferred: writing it down takes longer than most of these waits.
constexpr std::chrono::milliseconds kLong{150};

std::int64_t nanoseconds(Deadline::Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::string describe_deferred(const Task& task) {
  const std::string_view kernel = task.plan.name;
  return kernel.empty() ? fmt::format("task {}", task.id)
                        : fmt::format("kernel '{}' (task {}), which has returned", kernel, task.id);
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
    const std::uint64_t number = ++last_number_;
    waiting_[spot].push_back({condition, &task, now, events::tracing() ? ticks() : 0, number});
    young_.push_back({spot, number, now});
    count_.fetch_add(1, std::memory_order_relaxed);
    const std::int64_t next = nanoseconds(now + std::min<std::chrono::nanoseconds>(kLong, memory_.wait_timeout()));
    if (next < next_ns_.load(std::memory_order_relaxed)) {
      first = next_ns_.exchange(next, std::memory_order_relaxed) == INT64_MAX;
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

void DeferredTasks::note_deferral(const Waiting& waiting) const {
  const Condition& condition = waiting.condition;
  if (waiting.began == 0 || condition.kind != ConditionKind::counter || condition.operation != nullptr) return;
  memory_.note_deferral(static_cast<const std::int32_t*>(condition.address),
                        static_cast<std::int32_t>(condition.expected), waiting.began, waiting.task->where);
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

Deadline::Clock::time_point DeferredTasks::next_look() const {
  const std::int64_t when = next_ns_.load(std::memory_order_relaxed);
  if (when == INT64_MAX) return memory_.next_look();
  return std::min(memory_.next_look(), Deadline::Clock::time_point(std::chrono::nanoseconds(when)));
}

void DeferredTasks::take_out(const Waiting& waiting) {
  memory_.watch(waiting.condition.address, -1);
  count_.fetch_sub(1, std::memory_order_relaxed);
  if (!waiting.is_long) return;
  long_.erase(waiting.number);
  must_show_ = shown_.erase(waiting.number) != 0 || must_show_;
}

void DeferredTasks::look_at(Spot spot, Ready& ready) {
  const auto found = waiting_.find(spot);
  if (found == waiting_.end()) return;
  std::erase_if(found->second, [&](const Waiting& waiting) {
    try {
      if (!test(waiting.condition)) return false;
      note_met(waiting.condition, *waiting.task);
      note_deferral(waiting);
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

DeferredTasks::Waiting* DeferredTasks::find(const Age& age) {
  const auto found = waiting_.find(age.spot);
  if (found == waiting_.end()) return nullptr;
  const auto one = std::ranges::lower_bound(found->second, age.number, {}, &Waiting::number);
  return one != found->second.end() && one->number == age.number ? &*one : nullptr;
}

void DeferredTasks::expire(const Age& age, Ready& ready) {
  const auto at = waiting_.find(age.spot);
  std::erase_if(at->second, [&](const Waiting& waiting) {
    if (waiting.number != age.number) return false;
    try {
      fail(Code::wait_timeout, "{} was deferred {} s for {} of {}", describe_task(*waiting.task),
           std::chrono::duration<double>(memory_.wait_timeout()).count(), describe(waiting.condition),
           memory_.name_of(waiting.condition.address));
    } catch (...) {
      ready.emplace_back(waiting.task, std::current_exception());
    }
    take_out(waiting);
    return true;
  });
  if (at->second.empty()) waiting_.erase(at);
}

Deadline::Clock::time_point DeferredTasks::next_time() const {
  auto next = Deadline::Clock::time_point::max();
  if (!young_.empty()) next = young_.front().since + std::min<std::chrono::nanoseconds>(kLong, memory_.wait_timeout());
  if (!long_.empty()) next = std::min(next, long_.begin()->second.since + memory_.wait_timeout());
  return next;
}

void DeferredTasks::look_at_times(Deadline::Clock::time_point now, Ready& ready) {
  if (waiting_.empty()) young_.clear();
  while (next_time() <= now) {
    if (!long_.empty() && long_.begin()->second.since + memory_.wait_timeout() <= now) {
      expire(Age(long_.begin()->second), ready);
      continue;
    }
    const Age age = young_.front();
    young_.pop_front();
    Waiting* const waiting = find(age);
    if (waiting == nullptr) continue;
    waiting->is_long = true;
    long_.emplace(age.number, age);
    const Condition& condition = waiting->condition;
    if (condition.kind != ConditionKind::counter || condition.operation != nullptr) continue;
    if (!memory_.shows(static_cast<const std::int32_t*>(condition.address))) continue;
    shown_.emplace(age.number, age);
    must_show_ = true;
  }
  next_ns_.store(nanoseconds(next_time()), std::memory_order_relaxed);
}

void DeferredTasks::show_long_ones() {
  std::vector<DeferredWait> oldest;
  for (const auto& [number, age] : shown_) {
    if (oldest.size() == wire::kWaitRecords) break;
    const Waiting& one = *find(age);
    oldest.push_back({static_cast<const std::int32_t*>(one.condition.address),
                      static_cast<std::int32_t>(one.condition.expected), describe_deferred(*one.task), one.since});
  }
  memory_.show_deferred(oldest, shown_.size() - oldest.size());
  must_show_ = false;
}

void DeferredTasks::look(Beside beside, Met met) {
  Ready ready;
  bool looks = false;
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
    if (next_ns_.load(std::memory_order_relaxed) <= nanoseconds(now)) look_at_times(now, ready);
    // Kernels of this thread may notify: they begin the time until others are looked at anew.
    looks = memory_.next_look() <= now;
    if (must_show_ || (looks && beside == Beside::kernels)) {
      show_long_ones();
      looks = false;
    }
  }
  if (looks) memory_.look_at_others();
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
