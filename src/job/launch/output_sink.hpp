// Where the merged output goes: baton's own standard output or standard error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/unique_fd.hpp"

namespace baton::job {

/// A queue in front of a descriptor that is written without ever blocking and without touching the flags it shares
/// with other processes.
class OutputSink {
 public:
  explicit OutputSink(int fd);

  /// Whether both write to the same file, terminal or pipe.
  [[nodiscard]] static bool same_file(int a, int b);

  [[nodiscard]] bool is_terminal() const noexcept { return terminal_; }
  /// Whether more may be appended. The bound is soft: what has been read may always be appended.
  [[nodiscard]] bool has_room() const noexcept { return queued_bytes() < kRoomBytes; }
  [[nodiscard]] std::size_t queued_bytes() const noexcept { return queue_.size() - written_; }
  /// The errno that ended it, or 0. What is appended afterwards is dropped.
  [[nodiscard]] int error() const noexcept { return error_; }

  void append(std::string_view bytes);
  /// Writes until the queue is empty or the descriptor takes no more.
  void flush();
  /// Forgets what is queued.
  void discard() noexcept;

  /// For EPOLLOUT, while flush() left bytes behind.
  [[nodiscard]] int poll_fd() const noexcept { return fd_.get(); }

 private:
  enum class Method : std::uint8_t { write, send, write_when_ready };
  static constexpr std::size_t kRoomBytes = 256 * 1024;

  /// As write(), but never blocks.
  [[nodiscard]] long write_some(std::string_view bytes) const;

  UniqueFd fd_;
  Method method_ = Method::write;
  bool terminal_ = false;
  int error_ = 0;
  std::string queue_;
  std::size_t written_ = 0;  // of queue_
};

}  // namespace baton::job
