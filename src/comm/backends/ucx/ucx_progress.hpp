// The thread that deals with messages while no other thread of the rank looks for them.
#pragma once

#include <atomic>
#include <thread>

#include "comm/backends/ucx/ucx_path.hpp"

namespace baton::ucx {

class ProgressThread {
 public:
  explicit ProgressThread(UcxPath& path);
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;
  ~ProgressThread();

  /// In a forked child, which has no such thread: forget it.
  void abandon() noexcept { thread_.detach(); }

 private:
  void run();

  UcxPath& path_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace baton::ucx
