// How many files the launcher may open.
#pragma once

#include <sys/resource.h>

namespace baton::job {

/// While it exists, as many as the system permits: each rank takes three.
class OpenFilesLimit {
 public:
  OpenFilesLimit() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit raised{.rlim_cur = before_.rlim_max, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &raised);
  }
  ~OpenFilesLimit() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  OpenFilesLimit(const OpenFilesLimit&) = delete;
  OpenFilesLimit& operator=(const OpenFilesLimit&) = delete;

  /// The limits as they were, for the ranks.
  [[nodiscard]] const rlimit& before() const noexcept { return before_; }

 private:
  rlimit before_{};
};

}  // namespace baton::job
