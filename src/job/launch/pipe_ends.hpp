// Both ends of a new pipe.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include "base/fail.hpp"
#include "base/unique_fd.hpp"

namespace baton::job {

struct PipeEnds {
  UniqueFd read;
  UniqueFd write;
};

/// Programs that are started do not inherit them.
[[nodiscard]] inline PipeEnds make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail_system("pipe2");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

}  // namespace baton::job
