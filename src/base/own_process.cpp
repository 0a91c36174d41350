#include <baton/own_process.hpp>

#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "base/fail.hpp"

namespace baton {
namespace {

/// How many forks lie between this process and the program that was started. Changed by the only thread of a new child.
std::atomic<std::uint64_t> forks{0};

std::uint64_t counted_forks() noexcept {
  static const int registered =
      ::pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);
  return forks.load(std::memory_order_relaxed);
}

}  // namespace

OwnProcess::OwnProcess() noexcept : forks_(counted_forks()), pid_(::getpid()) {}

bool OwnProcess::is_this() const noexcept { return forks.load(std::memory_order_relaxed) == forks_; }

void OwnProcess::refuse(std::string_view what) const {
  throw Error(
      Code::released,
      fmt::format("{} belongs to process {}; process {}, a forked child of it, cannot use it", what, pid_, ::getpid()),
      {"Python: multiprocessing.set_start_method('spawn') starts children without copies of the parent"},
      "Use it in the process that made it, or make one in the child.");
}

}  // namespace baton
