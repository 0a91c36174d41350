#include "job/launch/orphanage.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/fail.hpp"
#include "job/launch/descendants.hpp"

namespace baton::job {

Orphanage::Orphanage() {
  ::prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
  if (::prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) fail_system("prctl(PR_SET_CHILD_SUBREAPER)");
}

Orphanage::~Orphanage() { ::prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_); }

void Orphanage::reap(const std::function<void(pid_t, int)>& on_end) {
  for (;;) {
    siginfo_t info{};
    // Looks first, and leaves the child as it is.
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0) return;
    if (not_ours_.contains(info.si_pid)) return;
    int status = 0;
    if (::waitpid(info.si_pid, &status, WNOHANG) == info.si_pid) on_end(info.si_pid, status);
  }
}

bool Orphanage::kill_all() {
  bool any = false;
  for (const pid_t pid : children_of_this_process()) {
    if (not_ours_.contains(pid)) continue;
    ::kill(pid, SIGKILL);
    any = true;
  }
  return any;
}

}  // namespace baton::job
