#include "cli/standard_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "base/fail.hpp"

namespace baton::cli {

void open_standard_files() {
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    // The lowest free number is `fd`: the ones below are open.
    if (::open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd) fail_system("opening /dev/null");
  }
}

}  // namespace baton::cli
