#include "comm/stillness.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "comm/health.hpp"
#include "comm/wait_record.hpp"

namespace baton::comm {
namespace {

using std::chrono::milliseconds;

/// Between looks of one that found all waiting. On a busy machine threads that were woken for nothing wait long for a
/// processor; so there are many soon, and then as many as the promise of a second needs.
constexpr auto kNextLook = milliseconds(100);
constexpr int kSoonLooks = 10;
constexpr auto kLaterLook = milliseconds(400);
/// Those who find that another one looks keep still: it tells. It may have found a rank lively that is not any more.
constexpr auto kNextTry = milliseconds(3000);
constexpr int kMostTries = 3;
/// One that has not looked for longer has died meanwhile.
constexpr std::int64_t kLongestElection = 5'000'000'000;

/// Of when they began: never 0, which is that of none.
std::uint64_t hash_of(const std::vector<std::int64_t>& waits) {
  std::uint64_t hash = waits.size() + 1;
  for (const std::int64_t began : waits) {
    hash = (hash ^ static_cast<std::uint64_t>(began)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  }
  return hash | 1U;
}

bool is_gone(wire::RankState state) { return state == wire::RankState::left || state == wire::RankState::dead; }

}  // namespace

std::optional<std::vector<std::int64_t>> JobSight::waits() const {
  std::vector<std::int64_t> began;
  for (std::uint32_t rank = first_; rank < end_; ++rank) {
    if (is_gone(state_of(control_, rank))) continue;
    const wire::RankBlock& block = wire::rank_block(control_, rank);
    const auto waits = read_waits(block);
    if (waits.empty() || block.unlisted_impatient.load(std::memory_order_relaxed) != 0) return std::nullopt;
    for (const WaitDescription& wait : waits) {
      if (!wait.is_patient) return std::nullopt;
      began.push_back(wait.since_ns);
    }
  }
  return began;
}

std::optional<std::vector<SleepingThread>> JobSight::sleepers() const {
  const pid_t me = ::gettid();
  std::vector<SleepingThread> threads;
  if (control_.in_process != 0) {
    if (!append_sleeping_threads(::getpid(), me, threads)) return std::nullopt;
    return threads;
  }
  for (std::uint32_t rank = first_; rank < end_; ++rank) {
    if (is_gone(state_of(control_, rank))) continue;
    const auto pid = static_cast<pid_t>(wire::rank_block(control_, rank).pid.load(std::memory_order_relaxed));
    if (!append_sleeping_threads(pid, me, threads)) return std::nullopt;
  }
  return threads;
}

std::optional<HostStillness> HostRanksSight::waits() const {
  const auto began = JobSight(control_, first_, count_).waits();
  if (!began) return std::nullopt;
  HostStillness host{.found = Found::still, .waits = began->empty() ? 0 : hash_of(*began)};
  for (std::uint32_t rank = first_; rank < first_ + count_; ++rank) {
    // Relaxed: read while those who count sleep.
    host.sent += wire::rank_block(control_, rank).far_sent.load(std::memory_order_relaxed);
    host.done += wire::rank_block(control_, rank).far_done.load(std::memory_order_relaxed);
  }
  return host;
}

std::optional<std::vector<SleepingThread>> HostRanksSight::sleepers() const {
  return JobSight(control_, first_, count_).sleepers();
}

Deadline StillnessWatch::next() const noexcept {
  if (!watches_) return deadline_;
  // A wait that may be over at once does not begin with reading the clock.
  return when_ == Clock::time_point{} ? Deadline::within(kFirstLook) : Deadline::at(std::min(deadline_.when(), when_));
}

void StillnessWatch::begin() noexcept {
  static_cast<void>(deadline_.when());
  if (watches_) when_ = Clock::now() + kFirstLook;
}

bool StillnessWatch::is_elected() {
  const std::int64_t now = monotonic_ns();
  // Relaxed: it decides who looks, and publishes nothing.
  std::int64_t looker = control_.looker.load(std::memory_order_relaxed);
  if (looker != 0 && looker != elected_ && now - looker < kLongestElection) return false;
  if (!control_.looker.compare_exchange_strong(looker, now, std::memory_order_relaxed)) return false;
  elected_ = now;
  return true;
}

void StillnessWatch::give_up() noexcept {
  watches_ = false;
  std::int64_t mine = std::exchange(elected_, 0);
  if (mine != 0) control_.looker.compare_exchange_strong(mine, 0, std::memory_order_relaxed);
}

bool StillnessWatch::look() {
  if (!watches_) return false;
  // One looks at a time: to each other they would seem to run.
  if (!is_elected()) {
    when_ = Clock::now() + kNextTry;
    if (++tries_ == kMostTries) give_up();
    return false;
  }
  const JobSight job(control_);
  auto now = look_for_stillness(job);
  when_ = Clock::now() + (++looks_ < kSoonLooks ? kNextLook : kLaterLook);
  const bool same = now.found == Found::still && now.waits == last_;
  last_ = std::move(now.waits);
  // Those that were not elected look again later.
  const bool is_news =
      same && control_.told_waits.exchange(hash_of(last_), std::memory_order_relaxed) != hash_of(last_);
  if (same || now.found == Found::lively) give_up();
  return is_news;
}

}  // namespace baton::comm
