// Frames over a channel, in an event loop.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "job/frames.hpp"
#include "job/hosts/channel.hpp"
#include "job/launch/event_loop.hpp"

namespace baton::job {

/// Not destroyed by its own handlers. One thread.
class Link {
 public:
  /// May throw Error: then what came made no sense, and the link is closed for that reason.
  using OnFrame = std::function<void(FrameReader&)>;
  /// Called once, unless close() came first, and after all frames that came.
  using OnClosed = std::function<void(const std::string& why)>;

  Link(EventLoop& loop, std::unique_ptr<Channel> channel, OnFrame on_frame, OnClosed on_closed);
  ~Link();
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  [[nodiscard]] bool open() const noexcept { return channel_ != nullptr; }
  /// Never blocks: what the channel does not take waits in a queue. Nothing happens once it is closed.
  void send(std::string_view frame);
  /// Bytes that wait to be sent.
  [[nodiscard]] std::size_t queued_bytes() const noexcept { return queue_.size() - sent_; }
  /// Hands over what has come and no event has told of yet.
  void hear();
  /// Forgets what was not sent.
  void close() noexcept;

 private:
  void flush();
  void fail(const std::string& why);
  void watch();

  EventLoop& loop_;
  std::unique_ptr<Channel> channel_;
  OnFrame on_frame_;
  OnClosed on_closed_;
  FrameAssembler assembler_;
  std::string queue_;
  std::size_t sent_ = 0;  // of queue_
  bool watches_writing_ = false;
  std::optional<std::string> unheard_;  // why nobody reads what is sent; what the other side said before is still read
};

}  // namespace baton::job
