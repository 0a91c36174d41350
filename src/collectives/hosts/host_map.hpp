// The members of a domain by host, and which of them carry what goes between hosts.
//
// A host has as many lanes as the smallest one has members: member i of a host, counted there, carries lane i and talks
// to the members of the other hosts that carry the same one. What is for a member, or from it, goes by its lane; the
// members of a lane are neighbours.
#pragma once

#include <vector>

#include <baton/domain.hpp>

namespace baton::collectives {

/// Members [first, first + count) of a host, counted there.
struct LaneMembers {
  int first;
  int count;
};

class HostMap {
 public:
  explicit HostMap(const Domain& domain);

  [[nodiscard]] int hosts() const noexcept { return static_cast<int>(ranks_.size()); }
  /// The host of this rank, and how this rank is counted there.
  [[nodiscard]] int here() const noexcept { return here_; }
  [[nodiscard]] int own_index() const noexcept { return index_of(rank_); }
  /// The members of a host, ascending.
  [[nodiscard]] const std::vector<int>& ranks(int host) const noexcept { return ranks_[at(host)]; }
  [[nodiscard]] int count(int host) const noexcept { return static_cast<int>(ranks(host).size()); }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(hosts_.size()); }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int host_of(int rank) const noexcept { return hosts_[at(rank)]; }
  [[nodiscard]] int index_of(int rank) const noexcept { return index_[at(rank)]; }
  /// In the order of hosts: the members of host 0 first, then those of host 1.
  [[nodiscard]] int position_of(int rank) const noexcept { return first_[at(host_of(rank))] + index_of(rank); }
  [[nodiscard]] int first_position(int host) const noexcept { return first_[at(host)]; }

  /// Whether the members of each host are neighbours.
  [[nodiscard]] bool is_in_order() const noexcept;

  /// How many members the largest host has, and the smallest: as many lanes there can be.
  [[nodiscard]] int most_members() const noexcept { return most_members_; }
  [[nodiscard]] int most_lanes() const noexcept { return most_lanes_; }
  /// Who uses a lane, if there are `lanes`.
  [[nodiscard]] LaneMembers members_of(int host, int lane, int lanes) const noexcept;
  [[nodiscard]] int lane_of(int rank, int lanes) const noexcept {
    return index_of(rank) * lanes / count(host_of(rank));
  }
  /// The most members of one host that use the same lane, and the most of all hosts together.
  [[nodiscard]] int most_in_a_lane(int lanes) const noexcept;
  [[nodiscard]] int most_in_a_lane_of_all(int lanes) const noexcept;

 private:
  static std::size_t at(int index) noexcept { return static_cast<std::size_t>(index); }

  int rank_;
  std::vector<int> hosts_;               // by rank
  std::vector<int> index_;               // by rank
  std::vector<std::vector<int>> ranks_;  // by host
  std::vector<int> first_;               // by host
  int here_ = 0;
  int most_members_ = 0;
  int most_lanes_ = 0;
};

}  // namespace baton::collectives
