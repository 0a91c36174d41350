// How the thread that takes in buffers wakes the chip of its process, as long as there is one.
#pragma once

#include <functional>
#include <mutex>
#include <utility>

namespace baton::node {

/// What is to be rung lies in memory that the chip gives back when it leaves its job; the thread stays until the
/// process ends.
class ChipBell {
 public:
  /// Rings if the chip listens. Any thread.
  void ring() {
    const std::lock_guard lock(mutex_);
    if (ring_) ring_();
  }

  /// The chip listens while this lives. When it is gone nobody rings any more, also if somebody just did.
  class Listening {
   public:
    Listening(ChipBell& bell, std::function<void()> ring) : bell_(bell) { bell_.set(std::move(ring)); }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;
    ~Listening() { bell_.set(nullptr); }

   private:
    ChipBell& bell_;
  };

 private:
  void set(std::function<void()> ring) {
    const std::lock_guard lock(mutex_);
    ring_ = std::move(ring);
  }

  std::mutex mutex_;
  std::function<void()> ring_;
};

}  // namespace baton::node
