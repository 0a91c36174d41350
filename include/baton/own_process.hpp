// Whether this is still the process that made an object, or a child that fork() gave a copy of it.
#pragma once

#include <cstdint>
#include <string_view>

#include <baton/export.hpp>

namespace baton {

/// A member of objects that have threads, child processes or memory that other processes write to: of these a forked
/// child has copies that must not be used. A question costs a load. Any thread.
class OwnProcess {
 public:
  BATON_API OwnProcess() noexcept;

  /// False in a forked child.
  [[nodiscard]] BATON_API bool is_this() const noexcept;
  /// Throws Error (released) in a forked child. `what` belongs to its parent: "this worker".
  void check(std::string_view what) const {
    if (!is_this()) refuse(what);
  }

 private:
  [[noreturn]] BATON_API void refuse(std::string_view what) const;

  std::uint64_t forks_;
  int pid_;
};

}  // namespace baton
