// Whether one event of a history can happen before another has: a run of the same events with the other left out.
//
// Clocks say that an event had to come first only where one reason suffices. Where several reasons exclude each other
// ("through this rank or through that one"), they may miss an order; a run finds it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "check/history.hpp"
#include "check/ordering.hpp"

namespace baton::check {

class Reachability {
 public:
  /// `first_values`: of words that were changed before the history begins.
  Reachability(const History& history, const std::map<WordKey, std::int64_t>& first_values);

  /// Whether event `target` can happen in a run that never comes to `excluded`. Errs towards "yes".
  [[nodiscard]] bool reaches_without(std::size_t target, std::size_t excluded) const;

 private:
  struct WordState {
    std::int64_t sum = 0;
    bool has_sets = false;
    bool has_additions = false;
    std::vector<std::int64_t> sets;
  };
  struct Run {
    std::map<WordKey, WordState> words;
    std::unordered_map<std::uint64_t, std::size_t> handed;
  };
  [[nodiscard]] bool is_enabled(std::size_t index, const Run& run) const;

  const History& history_;
  std::vector<std::vector<std::size_t>> actors_;  // the events of each, in order
  std::vector<std::size_t> hands_before_;         // of each event: how often its token had been handed over
  Run start_;
};

}  // namespace baton::check
