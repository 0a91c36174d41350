#include "job/launch/random_name.hpp"

#include <sys/random.h>

#include <array>

#include <fmt/ranges.h>

#include "base/fail.hpp"

namespace baton::job {

std::string random_name() {
  std::array<unsigned char, 16> bytes;
  // So few bytes always come at once.
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) fail_system("getrandom");
  return fmt::format("{:02x}", fmt::join(bytes, ""));
}

}  // namespace baton::job
