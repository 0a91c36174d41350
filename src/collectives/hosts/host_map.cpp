#include "collectives/hosts/host_map.hpp"

#include <algorithm>

namespace baton::collectives {

HostMap::HostMap(const Domain& domain) : rank_(domain.rank()), hosts_(domain.hosts()) {
  ranks_.resize(at(*std::max_element(hosts_.begin(), hosts_.end()) + 1));
  for (int rank = 0; rank < size(); ++rank) {
    std::vector<int>& members = ranks_[at(host_of(rank))];
    index_.push_back(static_cast<int>(members.size()));
    members.push_back(rank);
  }
  here_ = host_of(rank_);
  most_lanes_ = size();
  int before = 0;
  for (int host = 0; host < hosts(); ++host) {
    first_.push_back(before);
    before += count(host);
    most_members_ = std::max(most_members_, count(host));
    most_lanes_ = std::min(most_lanes_, count(host));
  }
}

bool HostMap::is_in_order() const noexcept {
  for (int rank = 0; rank < size(); ++rank) {
    if (position_of(rank) != rank) return false;
  }
  return true;
}

LaneMembers HostMap::members_of(int host, int lane, int lanes) const noexcept {
  // The first whose index * lanes / count is this lane, or a later one.
  const auto begin_of = [&](int one) { return (one * count(host) + lanes - 1) / lanes; };
  return {begin_of(lane), begin_of(lane + 1) - begin_of(lane)};
}

int HostMap::most_in_a_lane(int lanes) const noexcept {
  int most = 0;
  for (int host = 0; host < hosts(); ++host) {
    for (int lane = 0; lane < lanes; ++lane) most = std::max(most, members_of(host, lane, lanes).count);
  }
  return most;
}

int HostMap::most_in_a_lane_of_all(int lanes) const noexcept {
  int most = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    int all = 0;
    for (int host = 0; host < hosts(); ++host) all += members_of(host, lane, lanes).count;
    most = std::max(most, all);
  }
  return most;
}

}  // namespace baton::collectives
