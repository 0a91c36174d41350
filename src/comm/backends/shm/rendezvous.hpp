// Processes that were started separately become the ranks of a job.
//
// The first to arrive binds the job's name and is the host; the others are its guests. The host admits each rank
// once, waits until all are ready, makes the control segment and hands it to everyone. A guest that dies meanwhile
// fails the job at once, by name; so does a host that dies, at its guests.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <baton/error.hpp>

#include "base/unique_fd.hpp"
#include "comm/backends/shm/mailroom.hpp"
#include "comm/control_setup.hpp"

namespace baton::shm {

/// What a rank has when the job is complete.
struct Membership {
  comm::ControlSegment control;
  std::unique_ptr<Mailroom> mailroom;
  UniqueFd listener;  // the host's, still bound: late arrivals must be refused
};

/// News that not all can come any more, from where this host does not see it.
struct BadNews {
  int fd = -1;                                      // readable when there may be some
  std::function<std::optional<Error>()> what = {};  // nothing: the wait goes on
};

struct RendezvousRequest {
  std::string name;
  std::uint32_t rank;
  std::uint32_t size;
  std::chrono::nanoseconds timeout;
  /// Who meets here, ascending: the ranks of this host. Empty: all.
  std::vector<std::uint32_t> here = {};
  BadNews bad_news = {};

  [[nodiscard]] std::uint32_t count_here() const noexcept {
    return here.empty() ? size : static_cast<std::uint32_t>(here.size());
  }
  [[nodiscard]] bool is_here(std::uint32_t other) const noexcept {
    return here.empty() ? other < size : std::binary_search(here.begin(), here.end(), other);
  }
};

/// Throws join_timeout (who is missing), rank_taken, join_refused or peer_died.
[[nodiscard]] Membership meet(const RendezvousRequest& request);

/// The two sides of meet().
[[nodiscard]] Membership host_job(const RendezvousRequest& request, UniqueFd listener, Deadline deadline);
/// Empty control if the host was gone before it admitted this rank: then meet() begins again.
[[nodiscard]] Membership visit_host(const RendezvousRequest& request, const UniqueFd& connection, Deadline deadline);

}  // namespace baton::shm
