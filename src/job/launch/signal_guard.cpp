#include "job/launch/signal_guard.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include "base/fail.hpp"

namespace baton::job {

SignalGuard::SignalGuard() {
  sigset_t caught;
  ::sigemptyset(&caught);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD}) {
    ::sigaddset(&caught, number);
  }
  signals_.reset(::signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) fail_system("signalfd");
  ::pthread_sigmask(SIG_BLOCK, &caught, &old_mask_);
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, &old_pipe_);
  // A program that is started with SIGCHLD ignored does not learn how its children ended.
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &action, &old_child_);
}

SignalGuard::~SignalGuard() {
  while (next()) {  // what came too late must not strike when it is let through again
  }
  restore();
}

std::optional<int> SignalGuard::next() {
  signalfd_siginfo info;
  if (::read(signals_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return static_cast<int>(info.ssi_signo);
}

bool SignalGuard::was_ignored(int number) const {
  struct sigaction action {};
  return ::sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

void SignalGuard::restore() const noexcept {
  ::sigaction(SIGPIPE, &old_pipe_, nullptr);
  ::sigaction(SIGCHLD, &old_child_, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

}  // namespace baton::job
