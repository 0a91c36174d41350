// Which core does a task that is submitted while others run, and what it waits for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <pto/target/cuda/feed.hpp>

namespace baton::cuda {

/// Each core does what it was given in that order, and waits for earlier tasks only: no two wait for each other in a
/// circle. `Cores`, in the functions below, knows of each core how many commands it was given, and ended as far as
/// was seen: given(), load(), was_seen_to_end() and look_at_all() of Residence.
class Assignment {
 public:
  explicit Assignment(std::size_t core_count) : core_count_(core_count), known_(core_count * core_count) {}

  [[nodiscard]] std::size_t task_count() const noexcept { return first_block_.size(); }
  /// The task that comes next is one with a single block, after `predecessors`, which are numbers of tasks.
  template <class Cores>
  [[nodiscard]] std::size_t core_for(Cores& cores, std::span<const std::uint32_t> predecessors) {
    // Behind the last thing that a core does, nothing has to be told to another one. The last ones end last, mostly.
    const std::size_t considered = std::min(predecessors.size(), kPredecessors);
    for (std::size_t i = 1; i <= considered; ++i) {
      const std::span<const Block> blocks = blocks_of(predecessors[predecessors.size() - i]);
      if (blocks.size() == 1 && cores.given(blocks[0].core) == blocks[0].commands) return blocks[0].core;
    }
    return least_loaded(cores);
  }
  /// The first of `count` consecutive cores, for blocks that may have to run at the same time.
  [[nodiscard]] std::size_t cores_for(std::size_t count) noexcept {
    const std::size_t first = next_;
    next_ = (next_ + count) % core_count_;
    return first;
  }
  /// What `core` has to wait for before it begins a task after `predecessors`. It does, from now on.
  template <class Cores>
  [[nodiscard]] std::span<const Awaited> awaited_by(std::size_t core, const Cores& cores,
                                                    std::span<const std::uint32_t> predecessors) {
    awaited_.clear();
    for (const std::uint32_t earlier : predecessors) {
      for (const Block& block : blocks_of(earlier)) {
        std::uint64_t& known = known_[core * core_count_ + block.core];
        if (block.core == core || known >= block.commands) continue;
        if (cores.was_seen_to_end(block.core, block.commands)) continue;
        known = block.commands;
        const auto other = static_cast<std::uint32_t>(block.core);
        auto found = std::ranges::find(awaited_, other, &Awaited::core);
        if (found == awaited_.end()) found = awaited_.insert(found, {other, 0});
        found->ended = static_cast<std::uint32_t>(block.commands);
      }
    }
    return awaited_;
  }
  /// The next task has its number now; its blocks follow.
  void begin_task() { first_block_.push_back(blocks_.size()); }
  /// It has ended when `core` has ended this many commands.
  void add_block(std::size_t core, std::uint64_t commands) { blocks_.push_back({core, commands}); }

  /// All have ended: numbers begin anew.
  void end_tasks() noexcept {
    first_block_.clear();
    blocks_.clear();
    next_ = 0;
  }
  /// The cores count their commands anew.
  void forget_commands() noexcept { std::ranges::fill(known_, 0); }

 private:
  struct Block {
    std::size_t core;
    std::uint64_t commands;
  };
  /// Of the predecessors of a task, this many are considered.
  static constexpr std::size_t kPredecessors = 8;
  /// This many cores are looked at for one that has little to do.
  static constexpr std::size_t kCandidates = 8;
  /// Those that seem to have so much to do may have ended some of it.
  static constexpr std::uint64_t kWorthALook = 4;

  [[nodiscard]] std::span<const Block> blocks_of(std::size_t task) const {
    const std::size_t end = task + 1 == first_block_.size() ? blocks_.size() : first_block_[task + 1];
    return std::span(blocks_).subspan(first_block_[task], end - first_block_[task]);
  }
  template <class Cores>
  [[nodiscard]] std::size_t best_of(const Cores& cores, std::size_t count) noexcept {
    std::size_t best = next_;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t core = cores_for(1);
      if (cores.load(core) == 0) return core;
      if (cores.load(core) < cores.load(best)) best = core;
    }
    return best;
  }
  template <class Cores>
  [[nodiscard]] std::size_t least_loaded(Cores& cores) {
    const std::size_t best = best_of(cores, std::min(kCandidates, core_count_));
    if (cores.load(best) < kWorthALook) return best;
    cores.look_at_all();
    return best_of(cores, core_count_);
  }

  std::size_t core_count_;
  std::size_t next_ = 0;                  // where the search for a core begins
  std::vector<std::size_t> first_block_;  // of each task
  std::vector<Block> blocks_;             // of all tasks
  std::vector<Awaited> awaited_;
  std::vector<std::uint64_t> known_;  // [core][other]: how many commands of the other it has waited for
};

}  // namespace baton::cuda
