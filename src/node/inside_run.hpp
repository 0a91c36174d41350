// Whether the calling thread is in a function of a run: what waits for the end of runs would wait for itself there.
#pragma once

namespace baton::node {

class WorkerState;

/// Lives while the thread calls an orchestration or a host function of `worker`.
class InsideRun {
 public:
  explicit InsideRun(const WorkerState& worker) noexcept : worker_(&worker), outer_(innermost_) { innermost_ = this; }
  InsideRun(const InsideRun&) = delete;
  InsideRun& operator=(const InsideRun&) = delete;
  ~InsideRun() { innermost_ = outer_; }

  /// An orchestration may run another worker: all that are around the caller count.
  [[nodiscard]] static bool of(const WorkerState& worker) noexcept {
    for (const InsideRun* one = innermost_; one != nullptr; one = one->outer_) {
      if (one->worker_ == &worker) return true;
    }
    return false;
  }

 private:
  const WorkerState* worker_;
  const InsideRun* outer_;
  inline static thread_local const InsideRun* innermost_ = nullptr;
};

}  // namespace baton::node
