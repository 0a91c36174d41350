#include "comm/host_groups.hpp"

#include <map>
#include <numeric>

namespace baton::comm {

HostGroups::HostGroups(const std::vector<std::uint32_t>& members, std::uint32_t own_rank, const Path* path)
    : far_(members.size(), false), hosts_(members.size(), 0) {
  if (path == nullptr) {
    here_.resize(members.size());
    std::iota(here_.begin(), here_.end(), 0U);
    return;
  }
  std::map<std::uint32_t, Group> by_host;
  for (std::uint32_t member = 0; member < members.size(); ++member) {
    by_host[path->host_of(members[member])].push_back(member);
  }
  std::map<std::uint32_t, int> numbers;
  for (std::uint32_t member = 0; member < members.size(); ++member) {
    hosts_[member] =
        numbers.try_emplace(path->host_of(members[member]), static_cast<int>(numbers.size())).first->second;
  }
  here_ = std::move(by_host[path->host_of(own_rank)]);
  by_host.erase(path->host_of(own_rank));
  for (auto& [host, group] : by_host) {
    for (const std::uint32_t member : group) far_[member] = true;
    elsewhere_.push_back(std::move(group));
  }
}

}  // namespace baton::comm
