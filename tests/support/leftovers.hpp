// What a job must not leave behind.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace baton::test {

/// Moves this process and its later children into a network namespace of their own, if the system allows it: then every
/// abstract socket in sight is theirs. False: sockets are told apart by their names alone.
bool isolate_sockets();

/// Looks at the machine when it is made, and again when it is asked.
class Leftovers {
 public:
  Leftovers();

  /// Files of shared memory that are new, sockets of the jobs and tokens named, memory of windows in this process.
  /// Empty: nothing was left. `names` are parts of names of sockets.
  [[nodiscard]] std::vector<std::string> found(const std::vector<std::string>& names) const;

 private:
  std::set<std::string> files_before_;
};

/// The names of the abstract sockets in sight that contain one of `parts`.
[[nodiscard]] std::vector<std::string> sockets_named(const std::vector<std::string>& parts);

}  // namespace baton::test
