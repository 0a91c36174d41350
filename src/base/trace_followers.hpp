// Who is told when a trace begins or ends in this process: a node passes it on to its chips, which are other processes.
#pragma once

#include <functional>
#include <string>

#include "base/event.hpp"

namespace baton::events {

/// A trace that begins, or, without a path, one that ends.
struct TraceChange {
  std::string path{};
  EventLevel level = EventLevel::last;
};

class TraceFollower {
 public:
  using Tell = std::function<void(const TraceChange&)>;

  /// Calls tell(change) on the thread that begins or ends a trace: after the file is there, and before it is let go.
  /// It does not throw, and does not begin or end a trace.
  explicit TraceFollower(Tell tell);
  TraceFollower(const TraceFollower&) = delete;
  TraceFollower& operator=(const TraceFollower&) = delete;
  /// Is not called any more when this has returned.
  ~TraceFollower();

 private:
  friend void tell_followers(const TraceChange& change);
  Tell tell_;
};

void tell_followers(const TraceChange& change);

}  // namespace baton::events
