// What becomes of processes whose parents in the job have ended.
#pragma once

#include <sys/types.h>

#include <functional>
#include <unordered_set>

namespace baton::job {

/// While it exists, this process is the parent of every orphan among its descendants: it can reap and end them.
class Orphanage {
 public:
  Orphanage();
  ~Orphanage();
  Orphanage(const Orphanage&) = delete;
  Orphanage& operator=(const Orphanage&) = delete;

  /// Children with owners elsewhere: neither reaped nor ended here.
  void leave_alone(pid_t pid) { not_ours_.insert(pid); }
  /// The owner has reaped it.
  void forget(pid_t pid) { not_ours_.erase(pid); }

  /// Reaps the orphans that have ended and tells their pids and wait statuses. Stops early at an ended child that is to
  /// be left alone; call again when its owner has reaped it.
  void reap(const std::function<void(pid_t, int)>& on_end);

  /// Sends SIGKILL to every orphan that is there now. False if there is none.
  bool kill_all();

 private:
  int was_subreaper_ = 0;
  std::unordered_set<pid_t> not_ours_;
};

}  // namespace baton::job
