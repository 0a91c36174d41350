// What the runtime passes to an orchestration, lent to the thread that runs the orchestration.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <baton/own_process.hpp>

#include "interruptible.hpp"

namespace baton::python {

/// Thrown on the thread of the runtime when the orchestration threw on its own.
struct OrchestrationFailed {};

enum class Outcome : std::uint8_t { good, failed };

template <class T>
class Lent {
 public:
  /// The thread of the runtime: returns when the orchestration is over.
  void lend(T& object) {
    object_ = &object;
    lent_.post();
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return errand_ != nullptr || outcome_.has_value(); });
      if (const auto errand = std::exchange(errand_, nullptr)) {
        lock.unlock();
        try {
          errand->body(object);
        } catch (...) {
          errand->error = std::current_exception();
        }
        errand->body = nullptr;
        errand->done.post();
        lock.lock();
        continue;
      }
      last_.reset();
      if (*outcome_ == Outcome::failed) throw OrchestrationFailed{};
      return;
    }
  }
  /// There will be nothing to lend.
  void cancel() { lent_.post(); }

  /// The thread of the orchestration: the object, null if there is none.
  [[nodiscard]] T* await() {
    lent_.wait();
    return object_;
  }
  /// Runs `body` on the thread of the runtime, so that Ctrl-C can end the wait for it. It owns all that it uses.
  void run_there(std::function<void(T&)> body) {
    process_.check("this run");
    auto errand = std::make_shared<Errand>();
    errand->body = std::move(body);
    {
      const std::lock_guard lock(mutex_);
      errand_ = errand;
    }
    changed_.notify_one();
    at_work_ = true;
    errand->done.wait();
    at_work_ = false;
    if (errand->error) std::rethrow_exception(errand->error);
  }
  /// Whether Ctrl-C ended the wait for something that goes on over there: the object is not to be touched here.
  [[nodiscard]] bool at_work() const noexcept { return at_work_; }
  /// Is destroyed over there when the orchestration is over.
  void leave(std::shared_ptr<void> last) { last_ = std::move(last); }
  void give_back(Outcome outcome) {
    {
      const std::lock_guard lock(mutex_);
      outcome_ = outcome;
    }
    changed_.notify_one();
  }

 private:
  struct Errand {
    std::function<void(T&)> body;
    std::exception_ptr error;
    Event done;
  };
  OwnProcess process_;
  T* object_ = nullptr;
  Event lent_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Errand> errand_;  // guarded by mutex_
  std::optional<Outcome> outcome_;  // guarded by mutex_
  std::shared_ptr<void> last_;      // the orchestration's until give_back()
  bool at_work_ = false;            // of the thread of the orchestration
};

}  // namespace baton::python
