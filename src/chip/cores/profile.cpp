#include "chip/cores/profile.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "base/quote.hpp"

namespace baton::chip {
namespace {

constexpr std::uint64_t kKiB = 1024;

}  // namespace

const std::vector<Profile>& profiles() {
  static const std::vector<Profile> all = {
      {"a2a3sim", 24, {192 * kKiB, 512 * kKiB, 64 * kKiB, 64 * kKiB, 128 * kKiB, 1 * kKiB, 2 * kKiB}},
      {"a5sim", 36, {256 * kKiB, 512 * kKiB, 64 * kKiB, 64 * kKiB, 256 * kKiB, 4 * kKiB, 4 * kKiB}},
  };
  return all;
}

bool is_simulated(std::string_view platform) {
  return std::ranges::any_of(profiles(), [&](const Profile& profile) { return profile.name == platform; });
}

std::string profile_names() {
  std::string names;
  for (const Profile& profile : profiles()) {
    names += names.empty() ? "" : ", ";
    names += profile.name;
  }
  return names;
}

const Profile& profile_named(std::string_view platform) {
  for (const Profile& profile : profiles()) {
    if (profile.name == platform) return profile;
  }
  throw error_in(Situation::no_such_platform, fmt::format("there is no platform {}", quote(platform)),
                 {"known are " + profile_names()});
}

}  // namespace baton::chip
