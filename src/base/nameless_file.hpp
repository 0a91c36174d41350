// Where what is recorded lies until somebody has read it: a file without a name. It is reached through the process that
// made it, and nothing of it is left when that one dies.
#pragma once

#include <string>

#include "base/unique_fd.hpp"

namespace baton {

class NamelessFile {
 public:
  /// Lies where TMPDIR says; else in memory, where writing costs a tenth of what it costs on a disk, if there is much
  /// of it. Throws Error (system).
  NamelessFile();

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  /// For processes of this user, as long as this one has the file.
  [[nodiscard]] std::string path() const;

 private:
  UniqueFd fd_;
};

}  // namespace baton
