// The numbers of a chip generation. A profile is data: a new generation is a new row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace baton::chip {

/// Bytes of a core's on-chip buffers.
struct BufferBytes {
  std::uint64_t unified;  // UB, of a vector core
  std::uint64_t l1;       // the rest: of a cube core
  std::uint64_t l0a;
  std::uint64_t l0b;
  std::uint64_t l0c;
  std::uint64_t bias;
  std::uint64_t scaling;
};

struct Profile {
  std::string_view name;
  int clusters;  // one cube core and two vector cores each
  BufferBytes buffers;
};

inline constexpr int kVectorsPerCluster = 2;
inline constexpr int kCoresPerCluster = 1 + kVectorsPerCluster;

/// All profiles.
[[nodiscard]] const std::vector<Profile>& profiles();

/// Their names, for a message: "a2a3sim, a5sim".
[[nodiscard]] std::string profile_names();

/// Whether a platform is one of them.
[[nodiscard]] bool is_simulated(std::string_view platform);

/// The profile of a platform such as "a2a3sim". Throws Error (invalid_argument) that lists the known ones.
[[nodiscard]] const Profile& profile_named(std::string_view platform);

}  // namespace baton::chip
