// The calls of a rank on a group, made one after the other in the order in which they were added.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace baton::process_group {

/// A call that is made once: by the thread of its queue, or by a thread that waits for it while nobody else makes one.
/// That saves the hand-over to a thread where the program has nothing else to do, which is most of the time of a small
/// call.
class QueuedCall {
 public:
  QueuedCall() = default;
  QueuedCall(const QueuedCall&) = delete;
  QueuedCall& operator=(const QueuedCall&) = delete;
  virtual ~QueuedCall() = default;

  /// Does it, and keeps what it threw. Called without any lock.
  virtual void make() noexcept = 0;

 private:
  friend class CallQueue;
  bool made_ = false;  // guarded by the mutex of the queue
};

class CallQueue {
 public:
  using Clock = std::chrono::steady_clock;
  /// Who keeps the call alive until it is made.
  using Owned = std::shared_ptr<QueuedCall>;

  CallQueue() = default;
  CallQueue(const CallQueue&) = delete;
  CallQueue& operator=(const CallQueue&) = delete;
  ~CallQueue() { close(); }

  /// Returns when all calls are made.
  void drain() {
    std::unique_lock lock(mutex_);
    made_one_.wait(lock, [&] { return !busy_ && waiting_.empty(); });
  }

  /// The same; nothing may be added any more.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    work_.notify_all();
    drain();
    if (thread_.joinable()) thread_.join();
  }

  /// Returns at once; the thread makes the call when those before it are made.
  void start(Owned call) {
    {
      const std::lock_guard lock(mutex_);
      if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
      waiting_.push_back(std::move(call));
    }
    work_.notify_one();
  }

  /// Returns when the call is made, here or elsewhere.
  void make(const Owned& call) {
    std::unique_lock lock(mutex_);
    waiting_.push_back(call);
    wait(lock, *call);
  }

  void wait(const QueuedCall& call) {
    std::unique_lock lock(mutex_);
    wait(lock, call);
  }

  /// False if it has not been made by then. Makes nothing itself: that could take longer.
  [[nodiscard]] bool wait_until(const QueuedCall& call, Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    return made_one_.wait_until(lock, deadline, [&] { return call.made_; });
  }

 private:
  void wait(std::unique_lock<std::mutex>& lock, const QueuedCall& call) {
    while (!call.made_) {
      if (busy_) {
        made_one_.wait(lock);
      } else {
        make_next(lock);
      }
    }
  }

  void make_next(std::unique_lock<std::mutex>& lock) {
    const Owned call = std::move(waiting_.front());
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    call->make();
    lock.lock();
    call->made_ = true;
    busy_ = false;
    made_one_.notify_all();
    if (!waiting_.empty() && thread_.joinable()) work_.notify_one();
  }

  void serve() {
    std::unique_lock lock(mutex_);
    while (true) {
      work_.wait(lock, [&] { return (!busy_ && !waiting_.empty()) || (stopped_ && waiting_.empty()); });
      if (waiting_.empty()) return;
      make_next(lock);
    }
  }

  std::mutex mutex_;
  std::condition_variable work_;      // of the thread: there is something to do
  std::condition_variable made_one_;  // of those who wait for calls
  std::deque<Owned> waiting_;
  bool busy_ = false;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace baton::process_group
