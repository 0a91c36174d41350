// Ends of ranks that come before there is a control segment to write them to.
#pragma once

#include <sys/eventfd.h>

#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "base/unique_fd.hpp"
#include "comm/rendezvous.hpp"

namespace baton::ucx {

/// Any thread.
class EarlyEnds {
 public:
  using Told = std::function<void(const comm::RankEnd&)>;

  EarlyEnds() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!event_) fail_system("eventfd");
  }

  /// Readable once there is one.
  [[nodiscard]] int fd() const noexcept { return event_.get(); }

  void note(const comm::RankEnd& end) {
    const std::lock_guard lock(mutex_);
    if (told_) return told_(end);
    ends_.push_back(end);
    ::eventfd_write(event_.get(), 1);
  }
  /// From now on they go there, those that have come first.
  void forward(Told told) {
    const std::lock_guard lock(mutex_);
    told_ = std::move(told);
    for (const comm::RankEnd& end : std::exchange(ends_, {})) told_(end);
  }
  /// The first of a rank of which `matters` holds. After it fd() waits for the next.
  template <class Matters>
  [[nodiscard]] std::optional<comm::RankEnd> first(const Matters& matters) {
    const std::lock_guard lock(mutex_);
    eventfd_t count = 0;
    ::eventfd_read(event_.get(), &count);
    for (const comm::RankEnd& end : ends_) {
      if (matters(end.rank)) return end;
    }
    return std::nullopt;
  }

 private:
  UniqueFd event_;
  std::mutex mutex_;
  Told told_;                        // guarded by mutex_, like the next
  std::vector<comm::RankEnd> ends_;  // until there is somebody to tell
};

}  // namespace baton::ucx
