#include "comm/backends/ucx/ucx_progress.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/service_thread.hpp"

namespace baton::ucx {

ProgressThread::ProgressThread(UcxPath& path) : path_(path), poke_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!poke_) fail_system("eventfd");
  thread_ = start_service_thread("baton-ucx", [this] { run(); });
}

ProgressThread::~ProgressThread() {
  if (!thread_.joinable()) return;
  // Pairs with the load in run().
  stop_.store(true, std::memory_order_release);
  const std::uint64_t one = 1;
  static_cast<void>(::write(poke_.get(), &one, sizeof one));
  thread_.join();
}

void ProgressThread::run() {
  // UCX looks after connections of its own now and then.
  constexpr int kLongestSleepMs = 1000;
  // Pairs with the store in the destructor.
  while (!stop_.load(std::memory_order_acquire)) {
    if (!path_.settle()) continue;
    std::array<pollfd, 2> events = {{{poke_.get(), POLLIN, 0}, {path_.event_fd(), POLLIN, 0}}};
    if (::poll(events.data(), events.size(), kLongestSleepMs) < 0 && errno != EINTR) {
      log::warn("no thread deals with messages of other hosts any more: poll failed with errno {}", errno);
      return;
    }
  }
}

}  // namespace baton::ucx
