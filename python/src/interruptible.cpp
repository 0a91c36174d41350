#include "interruptible.hpp"
#include "gil.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

namespace baton::python {
namespace {

/// A signal that comes between asking Python and sleeping does not interrupt the sleep; it is seen this much later.
constexpr long kLostSignalNs = 200'000'000;

struct Call {
  std::function<void()> body;
  std::exception_ptr error;
  Event done;
};

}  // namespace

void Event::wait() {
  while (true) {
    int status = 0;
    {
      const Unlocked unlocked;
      timespec until{};
      ::clock_gettime(CLOCK_MONOTONIC, &until);
      until.tv_nsec += kLostSignalNs;
      if (until.tv_nsec >= 1'000'000'000) {
        until.tv_nsec -= 1'000'000'000;
        ++until.tv_sec;
      }
      status = ::sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &until);
    }
    if (status == 0) return;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

bool on_main_thread() noexcept { return ::getpid() == static_cast<pid_t>(::syscall(SYS_gettid)); }

void note_abandoned() noexcept {
  // After all destructors of libraries that exist by now, so it runs before them.
  static const int registered = ::on_exit(
      [](int status, void* /*unused*/) {
        std::fflush(nullptr);
        ::_exit(status);
      },
      nullptr);
  static_cast<void>(registered);
}

void run_interruptibly(std::function<void()> body) {
  if (!on_main_thread()) {
    const Unlocked unlocked;
    body();
    return;
  }
  auto call = std::make_shared<Call>();
  call->body = std::move(body);
  std::thread([call] {
    try {
      call->body();
    } catch (...) {
      call->error = std::current_exception();
    }
    call->body = nullptr;
    call->done.post();
  }).detach();
  try {
    call->done.wait();
  } catch (...) {
    note_abandoned();
    throw;
  }
  if (call->error) std::rethrow_exception(call->error);
}

}  // namespace baton::python
