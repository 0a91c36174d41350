#include "base/service_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <system_error>
#include <utility>

#include "base/fail.hpp"

namespace baton {

std::thread start_thread(std::function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& error) {
    fail(Situation::no_more_threads, "the system gives no thread: {}", error.code().message());
  }
}

std::thread start_service_thread(const char* name, std::function<void()> work) {
  sigset_t all{};
  sigset_t before{};
  ::sigfillset(&all);
  // A thread begins with the mask of the one that starts it.
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = start_thread(std::move(work));
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace baton
