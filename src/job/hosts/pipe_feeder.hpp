// Bytes from another host on their way into a pipe: output of a rank to where it is merged, input to rank 0.
#pragma once

#include <functional>
#include <string>

#include "base/unique_fd.hpp"
#include "job/launch/event_loop.hpp"

namespace baton::job {

/// How many bytes may be on their way before some have been passed on: a rank whose output nobody reads waits, as it
/// would with a pipe.
inline constexpr std::size_t kStreamRoom = std::size_t{64} * 1024;

/// Puts bytes into a pipe as the reader takes them.
class PipeFeeder {
 public:
  /// `passed_on` is told how many bytes have gone into the pipe.
  PipeFeeder(EventLoop& loop, std::function<void(std::size_t)> passed_on);
  ~PipeFeeder();
  PipeFeeder(const PipeFeeder&) = delete;
  PipeFeeder& operator=(const PipeFeeder&) = delete;

  /// The reading end; once.
  [[nodiscard]] UniqueFd take_reader() noexcept { return std::move(reader_); }
  /// Throws Error (protocol) if more come than there is room for.
  void add(std::string_view bytes);
  /// No more come: the reader sees the end behind what is there.
  void end();
  [[nodiscard]] bool open() const noexcept { return static_cast<bool>(writer_); }

 private:
  void write();
  void close() noexcept;

  EventLoop& loop_;
  std::function<void(std::size_t)> passed_on_;
  UniqueFd reader_;
  UniqueFd writer_;
  std::string pending_;
  bool ended_ = false;
};

}  // namespace baton::job
