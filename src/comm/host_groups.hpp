// The members of a domain by host: which share memory with this rank, and which takes the mail of each other host.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/path.hpp"

namespace baton::comm {

/// Numbers are those of members. Every member of a domain computes the same groups, seen from its own host.
class HostGroups {
 public:
  using Group = std::vector<std::uint32_t>;

  /// `path` is null where all ranks are of this host.
  HostGroups(const std::vector<std::uint32_t>& members, std::uint32_t own_rank, const Path* path);

  /// Members of this host, ascending: they share a segment, which the first of them makes.
  [[nodiscard]] const Group& here() const noexcept { return here_; }
  /// One group for each other host that has members. The first of a group takes what is meant for its host.
  [[nodiscard]] const std::vector<Group>& elsewhere() const noexcept { return elsewhere_; }
  [[nodiscard]] bool spans_hosts() const noexcept { return !elsewhere_.empty(); }
  /// By member: 0, 1, 2 ... in the order of their first members.
  [[nodiscard]] const std::vector<int>& hosts() const noexcept { return hosts_; }
  [[nodiscard]] bool is_far(std::uint32_t member) const noexcept { return spans_hosts() && far_[member]; }

 private:
  Group here_;
  std::vector<Group> elsewhere_;
  std::vector<bool> far_;
  std::vector<int> hosts_;
};

}  // namespace baton::comm
