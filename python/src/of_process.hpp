// What belongs to the process that made it.
#pragma once

#include <unistd.h>

#include <string>

#include <fmt/format.h>

#include <baton/error.hpp>

namespace baton::python {

/// A member of objects that need threads of this process: a forked child has copies of the objects, not of the threads.
class OfProcess {
 public:
  /// False in a forked child.
  [[nodiscard]] bool is_this() const noexcept { return pid_ == ::getpid(); }
  /// Throws Error (released) in a forked child. `what` belongs to its parent: "this chip".
  void check(const char* what) const {
    if (is_this()) return;
    throw Error(Code::released,
                fmt::format("{} belongs to process {}; process {}, a forked child of it, cannot use it", what, pid_,
                            ::getpid()),
                {"multiprocessing.set_start_method('spawn') starts children without copies of the parent"},
                "Use it in the process that made it, or make one in the child.");
  }

 private:
  pid_t pid_ = ::getpid();
};

}  // namespace baton::python
