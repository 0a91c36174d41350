// Tells `baton check` what the cores, engines and tasks of one chip do, and what orders them.
//
// Each execution of a kernel is an activity, each session of an engine another one: between two of them there is only
// the order that tokens make. The program that submits is activity 0.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/checked_order.hpp"

namespace baton::chip {

/// Any thread may call any function.
class CheckedChip {
 public:
  /// As events know the rank.
  explicit CheckedChip(std::uint32_t rank) noexcept;

  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  /// The same for no other chip, of any process.
  [[nodiscard]] std::uint64_t id() const noexcept { return tasks_.id; }

  [[nodiscard]] Activity next_activity() noexcept {
    return first_activity_ | next_activity_.fetch_add(1, std::memory_order_relaxed);
  }
  /// A session of the engine, whose copies are made one after the other.
  [[nodiscard]] Activity activity_of_session(std::uint64_t session) const noexcept {
    return first_activity_ | kSession | session;
  }
  /// What brings the notifications of an activity to others.
  [[nodiscard]] static Activity carrier_of(Activity activity) noexcept { return activity | kCarrier; }
  /// A token that nobody else has.
  [[nodiscard]] std::uint64_t next_token() noexcept {
    return token_of(id(), TokenKind::once, next_token_.fetch_add(1, std::memory_order_relaxed));
  }

  void hand(Activity by, std::uint64_t token) const noexcept { note_hand({rank_, by}, token); }
  /// After the token was handed over.
  void take(Activity by, std::uint64_t token) const noexcept { note_take({rank_, by}, token); }

  // Tasks; the program is the one that submits.
  void submitted(std::uint64_t task) const noexcept { tasks_.submitted({rank_}, task); }
  void waits_for(std::uint64_t task, std::uint64_t earlier) const noexcept { tasks_.waits_for(rank_, task, earlier); }
  void begun(Activity by, std::uint64_t task) const noexcept { tasks_.begun({rank_, by}, task); }
  void ended(Activity by, std::uint64_t task) const noexcept { tasks_.ended({rank_, by}, task); }
  void awaited(std::uint64_t task) const noexcept { tasks_.awaited({rank_}, task); }
  void awaited_all() const noexcept { tasks_.awaited_all({rank_}); }
  /// A task that runs nothing.
  void passed(std::uint64_t task) noexcept {
    const Activity by = next_activity();
    begun(by, task);
    ended(by, task);
  }

  /// Bytes of a buffer of the chip.
  void record(EventKind kind, CheckedBytes bytes, const char* buffer, const char* operation,
              const EventSource& from) const;

 private:
  // Activities: which chip of its process, what kind, which one.
  static constexpr unsigned kChipShift = 40;
  static constexpr Activity kSession = Activity{1} << 39U;
  static constexpr Activity kCarrier = Activity{1} << 38U;

  std::uint32_t rank_;
  Activity first_activity_;
  CheckedTasks tasks_ = CheckedTasks::of_this_process();
  std::atomic<Activity> next_activity_{1};
  std::atomic<std::uint64_t> next_token_{1};
};

}  // namespace baton::chip
