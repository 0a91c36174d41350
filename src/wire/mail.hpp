// Messages between the processes of a job. Each is one datagram: this header, at most one file descriptor beside it.
#pragma once

#include <compare>
#include <cstdint>

namespace baton::wire {

inline constexpr std::uint32_t kMailMagic = 0x4c49414d;  // "MAIL" in memory
inline constexpr std::uint32_t kMailVersion = 1;

enum class MailKind : std::uint32_t {
  segment = 1,  // a segment for the allocation `key`; the descriptor is its memfd
  control = 2,  // the control segment of a job, sent to its launcher; the descriptor is its memfd
  left = 3,     // the sender left the job: its watcher looks for another rank to watch
};

/// Which collective allocation a segment belongs to: the same at every member, different for any two allocations.
struct AllocationKey {
  std::uint64_t domain;    // which domain
  std::uint64_t sequence;  // which allocation of that domain

  friend bool operator==(const AllocationKey&, const AllocationKey&) = default;
  friend auto operator<=>(const AllocationKey&, const AllocationKey&) = default;
};

struct Mail {
  std::uint32_t magic;
  std::uint32_t version;
  MailKind kind;
  std::uint32_t sender;  // rank in the job
  AllocationKey key;
  std::uint64_t bytes;  // size of the segment
};
static_assert(sizeof(Mail) == 40);

}  // namespace baton::wire
