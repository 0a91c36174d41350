// The event of a collective.
#pragma once

#include <cstddef>
#include <exception>
#include <string_view>

#include <baton/domain.hpp>

#include "base/recorder.hpp"
#include "collectives/call.hpp"

namespace baton::collectives {

/// An event of a collective, while a trace is written.
class TracedCollective {
 public:
  TracedCollective(const Domain& me, const Call& call, std::string_view algorithm, std::size_t bytes) {
    if (!events::tracing()) [[likely]]
      return;
    event_ = {.begin = ticks(),
              .kind = EventKind::collective,
              .rank = static_cast<std::uint32_t>(me.members()[static_cast<std::size_t>(me.rank())]),
              .object = events::text(name_of(call.operation)),
              .a = bytes,
              .b = events::text(algorithm),
              .c = static_cast<std::uint64_t>(me.size())};
  }
  TracedCollective(const TracedCollective&) = delete;
  TracedCollective& operator=(const TracedCollective&) = delete;
  ~TracedCollective() {
    if (event_.begin == 0) [[likely]]
      return;
    event_.end = ticks();
    if (std::uncaught_exceptions() != 0) event_.outcome = EventOutcome::failed;
    events::record(event_);
  }

 private:
  EventRecord event_;
};

}  // namespace baton::collectives
