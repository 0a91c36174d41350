#include "base/trace_followers.hpp"

#include <pthread.h>

#include <mutex>
#include <utility>
#include <vector>

namespace baton::events {
namespace {

struct Followers {
  std::mutex mutex;
  std::vector<const TraceFollower*> all;
};

/// Never destroyed: a trace may end at the very end of the process.
Followers& followers() {
  static auto* const only = [] {
    auto* const made = new Followers;
    // Not to be held by a thread that a forked child does not have.
    static_cast<void>(::pthread_atfork([] { followers().mutex.lock(); }, [] { followers().mutex.unlock(); },
                                       [] { followers().mutex.unlock(); }));
    return made;
  }();
  return *only;
}

}  // namespace

TraceFollower::TraceFollower(Tell tell) : tell_(std::move(tell)) {
  const std::lock_guard lock(followers().mutex);
  followers().all.push_back(this);
}

TraceFollower::~TraceFollower() {
  const std::lock_guard lock(followers().mutex);
  std::erase(followers().all, this);
}

void tell_followers(const TraceChange& change) {
  const std::lock_guard lock(followers().mutex);
  for (const TraceFollower* follower : followers().all) follower->tell_(change);
}

}  // namespace baton::events
