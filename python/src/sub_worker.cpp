// What the processes that run Python functions need beyond Python.
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include <baton/error.hpp>

#include "bind.hpp"

namespace baton::python {
namespace {

/// Ends this process when its parent ends, however that happens, also while a function keeps the GIL. The parent-death
/// signal of the system would not do: it comes when the thread ends that started the process.
void end_with(pid_t parent) {
  const int life = static_cast<int>(::syscall(SYS_pidfd_open, parent, 0));
  if (::getppid() != parent) ::_exit(0);  // it ended before it was looked at
  if (life < 0) {
    throw Error(Code::system, fmt::format("pidfd_open of the parent: {}", std::generic_category().message(errno)));
  }
  // Signals are for the thread that Python handles them on; a new thread inherits the mask.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([life] {
    pollfd entry{life, POLLIN, 0};
    while (::poll(&entry, 1, -1) != 1) {
    }
    ::kill(::getpid(), SIGKILL);
  }).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void bind_sub_worker(nb::module_& module) { module.def("end_with", end_with, nb::arg("parent")); }

}  // namespace baton::python
