#include "node/sub_workers.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "base/fail.hpp"
#include "base/service_thread.hpp"

namespace baton::node {

using Clock = std::chrono::steady_clock;

/// Shared with the threads: one whose function was given up outlives the SubWorkers.
class SubWorkers::Pool : public std::enable_shared_from_this<Pool> {
 public:
  Pool(int count, std::chrono::nanoseconds limit, OnEnd on_end)
      : count_(count), limit_(std::min<std::chrono::nanoseconds>(limit, kLongest)), on_end_(std::move(on_end)) {}

  void start(std::uint64_t id, SubTask task) {
    const std::lock_guard lock(mutex_);
    while (runners_.size() < static_cast<std::size_t>(count_)) add_runner();
    if (limit_.count() > 0 && !watch_.joinable()) watch_ = start_thread([this] { watch(); });
    tasks_.emplace_back(id, std::move(task));
    changed_.notify_one();
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      changed_.notify_all();
      begun_.notify_all();
    }
    // Nothing is given up from here on, as all tasks have ended, so the list stays as it is.
    if (watch_.joinable()) watch_.join();
    for (const auto& runner : runners_) runner->thread.join();
  }

 private:
  /// A thread of the pool. Guarded by mutex_.
  struct Runner {
    std::thread thread;
    std::uint64_t task = 0;
    std::optional<Clock::time_point> since;  // while it is in a function
    bool given_up = false;
  };

  /// Nobody waits for longer, and later times overflow.
  static constexpr std::chrono::hours kLongest{24 * 365};

  void add_runner() {
    const auto added = std::make_shared<Runner>();
    added->thread = start_thread([pool = shared_from_this(), added] { pool->work(*added); });
    runners_.push_back(added);
  }

  void work(Runner& self) {
    while (true) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      auto [id, task] = std::move(tasks_.front());
      tasks_.pop_front();
      self.task = id;
      self.since = Clock::now();
      begun_.notify_one();
      lock.unlock();
      std::exception_ptr failure;
      try {
        task.function(ChipArgs(task.tensors, task.scalars));
      } catch (...) {
        failure = std::current_exception();
      }
      // What the function holds on to may be what the node waits to be rid of.
      task = {};
      lock.lock();
      if (self.given_up) return;
      self.since.reset();
      lock.unlock();
      on_end_(id, failure);
    }
  }

  /// Sleeps until the next function is late, or one begins while none runs.
  void watch() {
    std::unique_lock lock(mutex_);
    while (!stop_) {
      const auto oldest = std::ranges::min_element(
          runners_, {}, [](const auto& one) { return one->since.value_or(Clock::time_point::max()); });
      if (!(*oldest)->since) {
        begun_.wait(lock);
        continue;
      }
      const auto late = *(*oldest)->since + limit_ + kGrace;
      if (Clock::now() < late) {
        begun_.wait_until(lock, late);
        continue;
      }
      const std::uint64_t id = (*oldest)->task;
      (*oldest)->given_up = true;
      (*oldest)->thread.detach();
      runners_.erase(oldest);
      add_runner();
      lock.unlock();
      on_end_(id, std::make_exception_ptr(too_late()));
      lock.lock();
    }
  }

  [[nodiscard]] Error too_late() const {
    return error_in(Situation::function_late,
                    fmt::format("a host function has run for more than {:.3g} s, and was given up",
                                std::chrono::duration<double>(limit_).count()),
                    {"its thread and its memory stay until it returns"});
  }

  const int count_;
  const std::chrono::nanoseconds limit_;
  const OnEnd on_end_;
  std::mutex mutex_;
  std::condition_variable changed_;  // there are tasks, or it stops
  std::condition_variable begun_;    // a function begins, or it stops
  // Guarded by mutex_:
  std::deque<std::pair<std::uint64_t, SubTask>> tasks_;
  std::vector<std::shared_ptr<Runner>> runners_;  // none that was given up
  bool stop_ = false;
  std::thread watch_;
};

SubWorkers::SubWorkers(int count, std::chrono::nanoseconds limit, OnEnd on_end)
    : pool_(std::make_shared<Pool>(count, limit, std::move(on_end))) {}

SubWorkers::~SubWorkers() { pool_->stop(); }

void SubWorkers::start(std::uint64_t id, SubTask task) { pool_->start(id, std::move(task)); }

}  // namespace baton::node
