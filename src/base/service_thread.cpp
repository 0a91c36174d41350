#include "base/service_thread.hpp"

#include <pthread.h>

#include <csignal>
#include <utility>

namespace baton {

std::thread start_service_thread(const char* name, std::function<void()> work) {
  sigset_t all{};
  sigset_t before{};
  ::sigfillset(&all);
  // A thread begins with the mask of the one that starts it.
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread;
  try {
    thread = std::thread(std::move(work));
  } catch (...) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_setname_np(thread.native_handle(), name);
  return thread;
}

}  // namespace baton
