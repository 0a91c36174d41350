// A clock that the event loop waits for.
#pragma once

#include <chrono>
#include <functional>

#include "base/unique_fd.hpp"
#include "job/launch/event_loop.hpp"

namespace baton::job {

class Timer {
 public:
  /// Not set. The handler may set and stop it.
  Timer(EventLoop& loop, std::function<void()> handler);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  enum class Mode { once, again_and_again };
  void set(std::chrono::nanoseconds period, Mode mode);

 private:
  EventLoop& loop_;
  UniqueFd timer_;
};

}  // namespace baton::job
