// Waiting for many descriptors at once.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "base/deadline.hpp"
#include "base/unique_fd.hpp"

namespace baton::job {

/// An epoll instance and what to do for each of its descriptors. One thread.
class EventLoop {
 public:
  using Handler = std::function<void()>;

  EventLoop();

  /// `events` as for epoll; level-triggered. The descriptor stays the caller's and is removed before it is closed.
  void add(int fd, std::uint32_t events, Handler handler);
  /// Nothing happens if it is not there.
  void remove(int fd);
  [[nodiscard]] bool watches(int fd) const { return entries_.contains(fd); }

  /// Waits for events until `deadline` and runs their handlers, in the order in which the descriptors became ready.
  /// Handlers may add and remove any descriptor.
  void wait(Deadline deadline);

 private:
  struct Entry {
    std::uint32_t generation;
    Handler handler;
  };

  UniqueFd epoll_;
  std::unordered_map<int, Entry> entries_;
  // Tells an event of a removed descriptor from one of its successor with the same number.
  std::uint32_t generations_ = 0;
};

}  // namespace baton::job
