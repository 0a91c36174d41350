#include "job/hosts/link.hpp"

#include <sys/epoll.h>

#include <array>
#include <utility>

#include <baton/error.hpp>

namespace baton::job {

Link::Link(EventLoop& loop, std::unique_ptr<Channel> channel, OnFrame on_frame, OnClosed on_closed)
    : loop_(loop), channel_(std::move(channel)), on_frame_(std::move(on_frame)), on_closed_(std::move(on_closed)) {
  loop_.add(channel_->fd(), EPOLLIN, [this] { hear(); });
}

Link::~Link() { close(); }

void Link::close() noexcept {
  if (!channel_) return;
  loop_.remove(channel_->fd());
  channel_.reset();
  queue_.clear();
  sent_ = 0;
}

void Link::fail(const std::string& why) {
  if (!channel_) return;
  close();
  on_closed_(why);
}

void Link::send(std::string_view frame) {
  if (!channel_ || unheard_) return;
  queue_.append(frame);
  flush();
}

void Link::flush() {
  while (channel_ && sent_ < queue_.size()) {
    const Transfer transfer = channel_->write(std::string_view(queue_).substr(sent_));
    if (transfer.status == TransferStatus::closed) {
      unheard_ = channel_->why_closed();
      sent_ = queue_.size();
    }
    if (transfer.status != TransferStatus::done) break;
    sent_ += transfer.bytes;
  }
  if (!channel_) return;
  if (sent_ == queue_.size() || sent_ > queue_.size() / 2) {
    queue_.erase(0, sent_);
    sent_ = 0;
  }
  watch();
}

/// Waits for room to write while, and only while, something is queued; and for the end, which is an event as well, once
/// nobody hears what is sent.
void Link::watch() {
  const bool writing = !queue_.empty() || unheard_;
  if (writing == watches_writing_) return;
  watches_writing_ = writing;
  loop_.remove(channel_->fd());
  const std::uint32_t events = EPOLLIN | (writing ? std::uint32_t{EPOLLOUT} : 0U);
  loop_.add(channel_->fd(), events, [this] {
    flush();
    hear();
    if (unheard_) fail(*unheard_);
  });
}

void Link::hear() {
  std::array<char, std::size_t{16} * 1024> bytes;
  // To the end of what came: a channel that decrypts holds bytes of which epoll knows nothing.
  while (channel_) {
    const Transfer transfer = channel_->read(bytes);
    if (transfer.status == TransferStatus::would_block) return;
    if (transfer.status == TransferStatus::closed) {
      fail(unheard_.value_or(std::string(channel_->why_closed())));
      return;
    }
    try {
      assembler_.add({bytes.data(), transfer.bytes});
      while (channel_) {
        auto frame = assembler_.next();
        if (!frame) break;
        on_frame_(*frame);
      }
    } catch (const Error& error) {
      fail("sent what makes no sense: " + error.message());
    }
  }
}

}  // namespace baton::job
