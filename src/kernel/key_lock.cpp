#include "kernel/key_lock.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <memory>
#include <mutex>
#include <thread>

#include "base/fail.hpp"
#include "base/service_thread.hpp"

namespace baton::kernel {
namespace {

/// `type` is F_WRLCK or F_UNLCK. Locks of an open file description, not of a process: threads exclude each other too.
int change(int fd, int command, short type, ContentHash key) noexcept {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(key.low >> 2U);
  range.l_len = 1;
  int result = 0;
  do {
    result = ::fcntl(fd, command, &range);
  } while (result != 0 && errno == EINTR);
  return result == 0 ? 0 : errno;
}

/// What the thread that waits for the lock and the one that waits for that thread have in common.
struct Waiting {
  UniqueFd file;
  UniqueFd event;
  ContentHash key;
  std::mutex mutex;
  bool finished = false;  // under the mutex
  int error_number = 0;   // under the mutex
};

/// The system call has no deadline, so a thread makes it. One that comes too late frees the lock with its file.
void start_waiting(const std::shared_ptr<Waiting>& waiting) {
  // Signals of the program are not for this thread, which inherits the mask.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    start_thread([waiting] {
      const int error_number = change(waiting->file.get(), F_OFD_SETLKW, F_WRLCK, waiting->key);
      {
        const std::lock_guard guard(waiting->mutex);
        waiting->finished = true;
        waiting->error_number = error_number;
      }
      ::eventfd_write(waiting->event.get(), 1);
    }).detach();
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

std::optional<KeyLock> KeyLock::wait(const std::string& path, ContentHash key, const Deadline& deadline) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) fail_system(fmt::format("opening {}", path));
  const int error_number = change(file.get(), F_OFD_SETLK, F_WRLCK, key);
  if (error_number == 0) return KeyLock(std::move(file), key);
  if (error_number != EAGAIN && error_number != EACCES) fail_system(fmt::format("locking {}", path), error_number);

  const auto waiting = std::make_shared<Waiting>();
  waiting->file = std::move(file);
  waiting->event = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  if (!waiting->event) fail_system("eventfd");
  waiting->key = key;
  start_waiting(waiting);
  pollfd entry{waiting->event.get(), POLLIN, 0};
  while (::poll(&entry, 1, deadline.poll_timeout_ms()) <= 0 && !deadline.passed()) {
  }
  const std::lock_guard guard(waiting->mutex);
  if (!waiting->finished) return std::nullopt;
  if (waiting->error_number != 0) fail_system(fmt::format("locking {}", path), waiting->error_number);
  return KeyLock(std::move(waiting->file), key);
}

KeyLock::~KeyLock() {
  // Not left to close(): a child that another thread forked meanwhile has the same open file.
  if (file_) static_cast<void>(change(file_.get(), F_OFD_SETLK, F_UNLCK, key_));
}

}  // namespace baton::kernel
