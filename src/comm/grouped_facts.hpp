// What holds for several ranks, told once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <baton/device_list.hpp>

namespace baton::comm {

/// "rank 3", "ranks 0,2-3".
[[nodiscard]] inline std::string name_ranks(const std::vector<int>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", format_device_list(ranks));
}

/// Facts about ranks, in the order of the lowest rank of each. Ranks are added in ascending order.
class GroupedFacts {
 public:
  void add(int rank, const std::string& fact) {
    auto& ranks = ranks_[fact];
    if (ranks.empty()) order_.push_back(fact);
    ranks.push_back(rank);
  }
  [[nodiscard]] const std::vector<std::string>& facts() const noexcept { return order_; }
  [[nodiscard]] const std::vector<int>& ranks(const std::string& fact) const { return ranks_.at(fact); }
  [[nodiscard]] std::string line(const std::string& fact) const {
    return fmt::format("{}: {}", name_ranks(ranks(fact)), fact);
  }

 private:
  std::map<std::string, std::vector<int>> ranks_;
  std::vector<std::string> order_;
};

}  // namespace baton::comm
