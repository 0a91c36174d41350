// The order of pipes by brute force: a graph of everything that happened, and a search through it.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include <pto/order/pipe_clock.hpp>

namespace baton::chip {

using kernel::kPipes;
using kernel::kScalarPipe;

class OrderOracle {
 public:
  static constexpr std::size_t kBytes = 64;
  using Bytes = std::bitset<kBytes>;

  /// Whether the instruction conflicts with an earlier one that is not ordered before it.
  bool issue(std::uint32_t pipes, const Bytes& reads, const Bytes& writes) {
    const std::size_t node = add(pipes);
    bool conflict = false;
    for (const Work& other : works_) {
      const bool touches = (writes & (other.reads | other.writes)).any() || (reads & other.writes).any();
      conflict = conflict || (touches && !before_[node][other.node]);
    }
    works_.push_back({node, reads, writes});
    return conflict;
  }

  void set_flag(std::uint32_t producer, std::uint32_t consumer, int id) {
    sets_[{producer, consumer, id}] = add(1U << producer);
  }
  void wait_flag(std::uint32_t producer, std::uint32_t consumer, int id) {
    const std::size_t set = sets_.at({producer, consumer, id});
    const std::size_t node = add(1U << consumer);
    inherit(node, set);
    if (consumer == kScalarPipe) gates_.push_back(set);
    last_[consumer] = node;
  }
  void barrier() { gates_.push_back(add(0xFF)); }

 private:
  static constexpr std::size_t kMost = 256;
  struct Work {
    std::size_t node;
    Bytes reads;
    Bytes writes;
  };

  /// A node after all that happened on `pipes`, and after all that the scalar pipe waited for.
  std::size_t add(std::uint32_t pipes) {
    const std::size_t node = before_.size();
    before_.emplace_back();
    for (std::uint32_t pipe = 0; pipe < kPipes; ++pipe) {
      if ((pipes >> pipe & 1U) == 0) continue;
      if (last_[pipe] != kMost) inherit(node, last_[pipe]);
      last_[pipe] = node;
    }
    for (const std::size_t gate : gates_) inherit(node, gate);
    return node;
  }
  void inherit(std::size_t node, std::size_t earlier) {
    before_[node] |= before_[earlier];
    before_[node].set(earlier);
  }

  std::vector<std::bitset<kMost>> before_;
  std::array<std::size_t, kPipes> last_ = {kMost, kMost, kMost, kMost, kMost, kMost, kMost, kMost};
  std::vector<std::size_t> gates_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, int>, std::size_t> sets_;
  std::vector<Work> works_;
};

}  // namespace baton::chip
