// Which processor a rank runs on, and that no measuring process outlives its purpose.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <system_error>
#include <vector>

namespace bench {

/// The processors this process may use, ascending.
[[nodiscard]] inline std::vector<int> usable_processors() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) throw std::system_error(errno, std::generic_category(), "affinity");
  std::vector<int> result;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<std::size_t>(i), &set)) result.push_back(i);
  }
  return result;
}

inline void pin_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) throw std::system_error(errno, std::generic_category(), "pinning");
}

/// Gives each rank a processor: its own when there are enough, otherwise in turns. For ranks that have about as much to
/// do: five on one of two processors and three on the other would take two fifths longer, and the kernel needs a while
/// to move one. Returns whether there are enough.
inline bool pin_in_turns(int rank, int ranks) {
  const std::vector<int> processors = usable_processors();
  pin_to(processors[static_cast<std::size_t>(rank) % processors.size()]);
  return static_cast<std::size_t>(ranks) <= processors.size();
}

/// Gives each rank a processor of its own when there are enough; leaves them to the scheduler otherwise.
inline void pin_if_enough(int rank, int ranks) {
  if (static_cast<std::size_t>(ranks) <= usable_processors().size()) pin_in_turns(rank, ranks);
}

/// Ends this process with its parent, and after `seconds` in any case.
inline void limit_lifetime(unsigned seconds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(seconds);
}

}  // namespace bench
