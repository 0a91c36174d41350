// Makes the started calls of a domain, one after the other.
//
// On a thread of its own, which rests while there is nothing to do; or, for a rank that is a fiber, on another fiber of
// the same thread, so that runs with a seed stay what they are.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include <baton/domain.hpp>

#include "base/parking.hpp"

namespace baton::collectives {

class Starter;

/// A call under way. Belongs to its Event, on the rank's side; the starter does not touch it once it has ended.
class StartedCall {
 public:
  /// Has ended already.
  explicit StartedCall(Domain domain) : domain_(std::move(domain)) { ended_.store(true, std::memory_order_relaxed); }
  StartedCall(Domain domain, std::function<void(const Domain&)> body)
      : domain_(std::move(domain)), body_(std::move(body)) {}

  /// Pairs with the store in Starter::run().
  [[nodiscard]] bool ended() const noexcept { return ended_.load(std::memory_order_seq_cst); }
  void wait() const;
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  friend class Starter;
  /// Keeps the domain, and with it the starter, until the event has ended.
  Domain domain_;
  std::function<void(const Domain&)> body_;
  Starter* starter_ = nullptr;
  std::exception_ptr failure_;
  std::atomic<bool> ended_{false};
};

class Starter {
 public:
  Starter() = default;
  Starter(const Starter&) = delete;
  Starter& operator=(const Starter&) = delete;
  ~Starter();

  /// Adds a call. Before the first of a row `begin` is called, and after the last `end`, while no other row can begin.
  void add(StartedCall& call, const std::function<void()>& begin, std::function<void()> end);
  void wait(const StartedCall& call);

 private:
  void serve();
  void run_all();
  void run(StartedCall& call);

  Doorbell bell_;
  std::mutex mutex_;
  std::deque<StartedCall*> waiting_;
  bool busy_ = false;
  std::function<void()> end_;
  std::atomic<bool> wanted_{false};
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

}  // namespace baton::collectives
