// Gives rank 0 what people type.
#pragma once

#include <string>

#include "base/unique_fd.hpp"
#include "job/launch/event_loop.hpp"

namespace baton::job {

/// Standard input for rank 0. A file or a pipe is handed over as it is. A terminal cannot be: ranks are process groups
/// of their own, and the kernel stops those that read a terminal from the background. So its lines go through a pipe.
class InputRelay {
 public:
  InputRelay(EventLoop& loop, int input_fd);
  ~InputRelay();
  InputRelay(const InputRelay&) = delete;
  InputRelay& operator=(const InputRelay&) = delete;

  /// The descriptor that becomes rank 0's standard input.
  [[nodiscard]] int rank_fd() const noexcept { return pipe_read_ ? pipe_read_.get() : input_fd_; }
  /// Rank 0 runs: baton's copy of its end is closed, and reading begins.
  void start();
  /// Call when baton may have come to the foreground.
  void look_again();

 private:
  void read_terminal();
  void write_pipe();
  void stop();

  EventLoop& loop_;
  int input_fd_;
  UniqueFd terminal_;
  UniqueFd pipe_read_;
  UniqueFd pipe_write_;
  std::string pending_;
};

}  // namespace baton::job
