// Bytes of a descriptor on their way to another host: output of a rank, input for rank 0.
#pragma once

#include <functional>
#include <string_view>

#include "base/unique_fd.hpp"
#include "job/launch/event_loop.hpp"

namespace baton::job {

/// Reads as much as there is room for at the other end, which begins with kStreamRoom.
class StreamSender {
 public:
  using Send = std::function<void(std::string_view bytes)>;
  using End = std::function<void()>;

  StreamSender(EventLoop& loop, UniqueFd from, Send send, End end);
  ~StreamSender();
  StreamSender(const StreamSender&) = delete;
  StreamSender& operator=(const StreamSender&) = delete;

  [[nodiscard]] bool open() const noexcept { return static_cast<bool>(from_); }
  /// The other end has passed `bytes` on.
  void add_room(std::uint64_t bytes);
  /// The writers are gone: what is there now is the last, although others may hold the pipe.
  void drain();

 private:
  void go_on();
  void finish();

  EventLoop& loop_;
  UniqueFd from_;
  Send send_;
  End end_;
  std::uint64_t room_;
  bool always_readable_ = false;  // a file, of which epoll wants to know nothing
  bool draining_ = false;
  std::size_t left_to_drain_ = 0;
};

}  // namespace baton::job
