#include "interruptible.hpp"
#include "gil.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>
#include <utility>

namespace baton::python {
namespace {

/// A signal that comes between asking Python and sleeping does not interrupt the sleep; it is seen this much later.
constexpr long kLostSignalNs = 200'000'000;

struct Call {
  std::function<void()> body;
  std::exception_ptr error;
  Event done;
};

/// A thread that makes calls for the main thread, one after the other.
class Caller {
 public:
  explicit Caller() { ::sem_init(&called_, 0, 0); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  /// In a forked child there is no such thread.
  [[nodiscard]] bool exists() const noexcept { return process_.is_this(); }
  static void start(const std::shared_ptr<Caller>& caller) {
    std::thread([caller] { caller->live(); }).detach();
  }
  void call(std::shared_ptr<Call> call) {
    call_ = std::move(call);
    ::sem_post(&called_);
  }
  /// After the present call, if there is one.
  void end() noexcept { ::sem_post(&called_); }

 private:
  void live() {
    while (true) {
      while (::sem_wait(&called_) != 0) {
      }
      const auto call = std::move(call_);
      if (!call) return;
      try {
        call->body();
      } catch (...) {
        call->error = std::current_exception();
      }
      call->body = nullptr;
      call->done.post();
    }
  }

  const OwnProcess process_;
  ::sem_t called_{};
  std::shared_ptr<Call> call_;  // the main thread's until it posts, then this thread's
};

/// Of the main thread. Never destroyed: its thread waits for calls until the process ends.
std::shared_ptr<Caller>& idle_caller() {
  static auto* const caller = new std::shared_ptr<Caller>;
  return *caller;
}

}  // namespace

void Event::wait() {
  process_.check("what is waited for");
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
  // Taken while it is in use: a signal handler may make a call, too.
  auto caller = std::exchange(idle_caller(), nullptr);
  if (!caller || !caller->exists()) {
    caller = std::make_shared<Caller>();
    Caller::start(caller);
  }
  caller->call(call);
  try {
    call->done.wait();
  } catch (...) {
    caller->end();
    note_abandoned();
    throw;
  }
  if (idle_caller()) {
    caller->end();
  } else {
    idle_caller() = std::move(caller);
  }
  if (call->error) std::rethrow_exception(call->error);
}

}  // namespace baton::python
