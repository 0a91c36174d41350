// Whether no rank of a job over several hosts can go on, told from looks at one host after the other.
//
// A look finds that all ranks of a host slept at one moment (comm/stillness_look.hpp), but the moments of two hosts
// differ, and in between messages travel: one that is on its way wakes somebody who was found asleep. So each host is
// looked at twice, the second time after all have been looked at once, and the messages are counted: what its ranks had
// sent to other hosts, and what of that which came to them they had dealt with. If no host has changed from its first
// look to its second, and as many messages were dealt with as were sent, then none was on its way between the two, and
// nobody was there to send one (Mattern's four counters).
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "comm/stillness_look.hpp"

namespace baton::comm {

/// What was seen of a host.
struct HostStillness {
  Found found = Found::lively;
  std::uint64_t waits = 0;  // in which its ranks sleep: a number that is the same for the same ones; 0: in none
  std::uint64_t sent = 0;   // messages to other hosts, from the start
  std::uint64_t done = 0;   // messages from other hosts that have been dealt with

  friend bool operator==(const HostStillness&, const HostStillness&) = default;
};

/// `second` was begun after all of `first` had been seen. One entry for each host, in the same order.
[[nodiscard]] inline bool nobody_goes_on(std::span<const HostStillness> first, std::span<const HostStillness> second) {
  std::uint64_t under_way = 0;
  bool some_wait = false;
  for (const HostStillness& host : second) {
    if (host.found != Found::still) return false;
    under_way += host.sent - host.done;
    some_wait = some_wait || host.waits != 0;
  }
  // Where all have left nobody is stuck.
  return some_wait && under_way == 0 && std::ranges::equal(first, second);
}

}  // namespace baton::comm
