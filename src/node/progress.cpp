// The way of tasks to their chips and back.
#include <algorithm>
#include <chrono>
#include <utility>

#include <baton/options.hpp>

#include "base/checked_order.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"
#include "node/worker_state.hpp"

namespace baton::node {
void WorkerState::write_out(int chip, std::span<const std::byte> message) {
  ChipLink& to = link(chip);
  std::size_t written = 0;
  if (to.backlog.empty()) {
    const StreamWriter::Written result = to.tasks.write(message);
    const auto index = static_cast<std::size_t>(chip);
    if (result.reader_was_idle || chips_->is_far(index)) chips_->ring(index);
    written = result.bytes;
  }
  if (written == message.size()) return;
  to.backlog.insert(to.backlog.end(), message.begin() + static_cast<std::ptrdiff_t>(written), message.end());
  to.backlogged.store(true, std::memory_order_relaxed);
}

void WorkerState::send(int chip, graph::TaskId id, std::span<const std::byte> message) {
  link(chip).flying.push_back(id);
  write_out(chip, message);
}

/// Sends what can be sent now: first what the ring had no room for, then tasks that wait for nobody elsewhere.
void WorkerState::pump(int chip) {
  ChipLink& to = link(chip);
  if (!to.backlog.empty()) {
    const StreamWriter::Written result = to.tasks.write(to.backlog);
    const auto index = static_cast<std::size_t>(chip);
    if (result.reader_was_idle || chips_->is_far(index)) chips_->ring(index);
    to.backlog.erase(to.backlog.begin(), to.backlog.begin() + static_cast<std::ptrdiff_t>(result.bytes));
    to.backlogged.store(!to.backlog.empty(), std::memory_order_relaxed);
  }
  while (!to.queue.empty()) {
    Unit& next = unit(to.queue.front());
    if (next.phase == Unit::Phase::waiting) {
      if (next.unmet > 0) return;
      next.phase = Unit::Phase::sent;
      --blocked_;
      send(chip, next.id, next.message);
      next.message = {};
    }
    to.queue.pop_front();
  }
}

bool WorkerState::take_reports(ChipLink& from) {
  bool any = false;
  while (const auto record = from.reports.next()) {
    any = true;
    MessageReader message(*record);
    const auto number = message.get<std::uint64_t>();
    from.failures.emplace(number, get_failure(message));
    from.reports.release();
  }
  return any || from.reports.has_part();
}

bool WorkerState::progress() {
  bool changed = false;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    ChipLink& from = links_[i];
    // Pairs with the store in ChipMailbox::tell_completed(): reports and effects of these records are visible.
    const std::uint64_t completed = from.box->completed.load(std::memory_order_seq_cst);
    if (from.reports.readable() && take_reports(from)) chips_->ring(i);
    // Only waits for notifications end without being asked for.
    if (from.watched.load(std::memory_order_relaxed) > 0 && take_replies(from)) {
      changed = true;
      if (chips_->is_far(i)) chips_->ring(i);
    }
    if (completed != from.seen) {
      changed = true;
      from.found_stopped = false;
      while (from.seen < completed && !from.flying.empty()) {
        ++from.seen;
        const graph::TaskId id = from.flying.front();
        from.flying.pop_front();
        if (id == 0) continue;
        const auto failure = from.failures.empty() ? from.failures.end() : from.failures.find(from.seen);
        if (failure == from.failures.end()) {
          complete(id, nullptr);
        } else {
          complete(id, &failure->second);
          from.failures.erase(failure);
        }
      }
      from.seen = completed;
      from.box->seen.store(completed, std::memory_order_seq_cst);
    }
    if (!from.backlog.empty()) pump(static_cast<int>(i));
  }
  if (changed) {
    forget_complete();
    tell_waiters();
  }
  return changed;
}

void WorkerState::complete(graph::TaskId id, const Failure* failure) {
  Unit& done = unit(id);
  if (done.phase == Unit::Phase::done) return;
  if (failure != nullptr && done.run != nullptr) {
    Failure told = *failure;
    told.notes.push_back(describe(done));
    fail_run(*done.run, std::move(told));
  }
  // A wait for a notification ends with its run.
  if (done.phase != Unit::Phase::done) finish(done);
}

void WorkerState::finish(Unit& done) {
  if (done.phase == Unit::Phase::waiting) --blocked_;
  done.phase = Unit::Phase::done;
  done.message = {};
  done.found = {};
  done.sub.reset();
  if (done.run != nullptr) --done.run->pending;
  if (done.chip == kHost && is_checked()) {
    const CheckedActor by{kNoRank, Activity{1} << 40U | done.id};
    checked_.begun(by, done.id);
    checked_.ended(by, done.id);
  }
  const std::vector<graph::TaskId> dependents = std::move(done.dependents);
  for (const graph::TaskId id : dependents) {
    Unit& next = unit(id);
    if (--next.unmet > 0 || next.phase != Unit::Phase::waiting) continue;
    if (next.chip != kHost) {
      pump(next.chip);
    } else {
      next.phase = Unit::Phase::sent;
      --blocked_;
      sub_workers_->start(next.id, std::move(*next.sub));
    }
  }
}

/// The tasks of the run that have not been sent are not run.
void WorkerState::cancel(RunState& run) {
  if (run.failed) return;
  run.failed = true;
  for (Unit& one : units_) {
    if (one.run == &run && one.phase == Unit::Phase::waiting) finish(one);
  }
  give_up_waits(run);
}

void WorkerState::fail_run(RunState& run, Failure failure) {
  run.failures.push_back(std::move(failure));
  cancel(run);
}

void WorkerState::forget_complete() {
  const graph::TaskId before = first_;
  while (!units_.empty() && units_.front().phase == Unit::Phase::done) {
    // A chip's queue may still name a unit that was never sent.
    if (units_.front().chip != kHost) {
      auto& queue = link(units_.front().chip).queue;
      while (!queue.empty() && queue.front() <= first_) queue.pop_front();
    }
    units_.pop_front();
    ++first_;
  }
  if (first_ == before) return;
  // For `baton check`, edges to them are still to be found.
  if (!is_checked()) map_.forget_before(first_);
  if (!unused_.empty()) drop_unused();
}

void WorkerState::tell_waiters() noexcept {
  // Pairs with the load in news(): either a waiter sees it, or the ring finds the waiter announced.
  epoch_.fetch_add(1, std::memory_order_seq_cst);
  if (chips_) chips_->header().waiters.ring(chips_->scope());
}

bool WorkerState::news(std::uint64_t epoch, Replies replies) const noexcept {
  if (epoch_.load(std::memory_order_seq_cst) != epoch) return true;
  const auto readable = [](const RingView& view) {
    return view.ring->head.load(std::memory_order_seq_cst) != view.ring->tail.load(std::memory_order_seq_cst);
  };
  for (const ChipLink& from : links_) {
    if (from.box->completed.load(std::memory_order_seq_cst) != from.box->seen.load(std::memory_order_seq_cst)) {
      return true;
    }
    if (readable(from.report_ring)) return true;
    const bool told_of_waits =
        from.watched.load(std::memory_order_seq_cst) > 0 && !from.has_reply.load(std::memory_order_seq_cst);
    if ((replies == Replies::count || told_of_waits) && readable(from.reply_ring)) return true;
    if (!from.backlogged.load(std::memory_order_relaxed)) continue;
    const wire::ByteRing& ring = *from.task_ring.ring;
    const std::uint64_t used = ring.head.load(std::memory_order_seq_cst) - ring.tail.load(std::memory_order_seq_cst);
    if (used < from.task_ring.size) return true;
  }
  return false;
}

/// Before the lock is given back: if nobody makes progress from now on although somebody waits for it, the service
/// thread does.
void WorkerState::settle() {
  if (!chips_) return;
  wire::NodeHeader& header = chips_->header();
  const auto backlogged = [](const ChipLink& one) { return !one.backlog.empty(); };
  const bool wanted = attended_ == 0 && (blocked_ > 0 || std::any_of(links_.begin(), links_.end(), backlogged));
  const std::uint32_t armed = wanted ? 1 : 0;
  if (header.armed.load(std::memory_order_relaxed) != armed) header.armed.store(armed, std::memory_order_seq_cst);
  // What was completed before chips could see that somebody cares, or that its predecessor was counted.
  if (wanted && news(epoch_.load(std::memory_order_relaxed), Replies::ignore)) header.service.ring(chips_->scope());
}

bool WorkerState::wait_locked(Lock& lock, const Deadline& deadline, Replies replies, FunctionRef<bool()> holds) {
  ++attended_;
  bool held = false;
  // A wait without a deadline of its own says from time to time what it waits for.
  const bool endless = deadline.when() == Deadline::Clock::time_point::max();
  const auto next_report = [] { return Deadline::within(baton::options().wait_timeout); };
  Deadline report = next_report();
  while (true) {
    if (progress()) report = next_report();
    held = holds();
    if (held || (!endless && deadline.passed())) break;
    settle();
    std::size_t busy = 1;
    for (const ChipLink& one : links_) busy += one.flying.empty() ? 0U : 1U;
    const ParkingPlace place{&chips_->header().waiters, chips_->scope(), crowding_of(busy),
                             /*gives_way_to_strangers=*/false, chips_->lookout()};
    const std::uint64_t epoch = epoch_.load(std::memory_order_seq_cst);
    lock.unlock();
    const bool called = wait_until(
        place,
        [&] {
          chips_->progress();
          return news(epoch, replies);
        },
        endless ? report : deadline, [] {});
    lock.lock();
    if (called || !endless) continue;
    report_stall();
    end_stopped_chips();
    report = next_report();
  }
  --attended_;
  settle();
  return held;
}

void WorkerState::report_stall() const {
  constexpr std::size_t kNamed = 8;
  std::vector<std::string> at_work;
  for (const Unit& unit : units_) {
    if (unit.phase == Unit::Phase::sent) at_work.push_back(describe(unit));
  }
  std::string text =
      fmt::format("no task of this node has completed for {:.3g} s; tasks that are not complete: {}, at work: {}",
                  std::chrono::duration<double>(baton::options().wait_timeout).count(), units_.size(), at_work.size());
  for (std::size_t i = 0; i < std::min(at_work.size(), kNamed); ++i) text += "\n  " + at_work[i];
  if (at_work.size() > kNamed) text += fmt::format("\n  and {} more", at_work.size() - kNamed);
  log::warn("{}", text);
}

void WorkerState::end_stopped_chips() {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    ChipLink& one = links_[i];
    if (one.flying.empty() || !one.death.empty() || !one.ended_for.empty()) continue;
    const bool before = std::exchange(one.found_stopped, chips_->is_stopped(i));
    if (!before || !one.found_stopped) continue;
    one.ended_for = fmt::format("its process was stopped for {:.3g} s or more, and the node ended it",
                                std::chrono::duration<double>(baton::options().wait_timeout).count());
    chips_->kill(i);
  }
}

std::string WorkerState::describe(const Unit& unit) const {
  std::string what = unit.callable == kNoCallable ? "a host function" : "'" + callables_[unit.callable].name + "'";
  if (unit.watcher != kHost) what = "a wait for a notification";
  std::string text = fmt::format("task {} of the node, {}", unit.id, what);
  const int chip = unit.chip != kHost ? unit.chip : unit.watcher;
  if (chip != kHost) {
    text += fmt::format(", on chip {}", chip);
    if (const std::string host = chips_->host(static_cast<std::size_t>(chip)); !host.empty())
      text += " of host " + host;
  }
  if (unit.where.line != 0) text += fmt::format(", submitted at {}:{}", unit.where.file, unit.where.line);
  return text;
}

void WorkerState::sub_ended(graph::TaskId id, const std::exception_ptr& failure) {
  const Lock lock(mutex_);
  if (!failure) {
    complete(id, nullptr);
  } else {
    Failure told = failure_of(failure, Code::rank_failed);
    if (told.remedy.empty()) told.remedy = "Correct the host function; the message has what it threw.";
    complete(id, &told);
  }
  forget_complete();
  tell_waiters();
  settle();
}

}  // namespace baton::node
