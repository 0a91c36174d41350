#include "cli/tune/rules.hpp"

#include <cmath>
#include <map>
#include <tuple>

#include "collectives/selection.hpp"

namespace baton::cli {
namespace {

using collectives::Location;
using collectives::Operation;
using collectives::TunedRule;

/// By bytes: the measurements of all algorithms.
using BySize = std::map<std::size_t, std::vector<Measurement>>;

Algorithm best_of(const std::vector<Measurement>& measured, double margin) {
  const Measurement& any = measured.front();
  const Algorithm usual =
      collectives::default_algorithm(any.operation, any.bytes, any.ranks, any.location, collectives::Reach::all_ranks)
          .algorithm;
  double usual_time = 0;
  const Measurement* best = &any;
  for (const Measurement& one : measured) {
    if (one.algorithm == usual) usual_time = one.microseconds;
    if (one.microseconds < best->microseconds) best = &one;
  }
  return usual_time > 0 && usual_time <= best->microseconds * (1 + margin) ? usual : best->algorithm;
}

std::size_t border_between(std::size_t smaller, std::size_t larger) {
  return static_cast<std::size_t>(std::sqrt(static_cast<double>(smaller) * static_cast<double>(larger)));
}

void add_rows(std::vector<TunedRule>& rules, const BySize& sizes, TunedRule row, double margin) {
  for (auto size = sizes.begin(); size != sizes.end(); ++size) {
    const auto next = std::next(size);
    row.algorithm = best_of(size->second, margin);
    if (next != sizes.end() && best_of(next->second, margin) == row.algorithm) continue;
    row.most_bytes = next == sizes.end() ? collectives::kAnyBytes : border_between(size->first, next->first);
    rules.push_back(row);
  }
}

}  // namespace

std::vector<TunedRule> rules_from(const std::vector<Measurement>& measurements, double margin) {
  std::map<std::tuple<Operation, Location, int>, BySize> groups;
  std::map<Operation, int> most_ranks;
  for (const Measurement& one : measurements) {
    groups[{one.operation, one.location, one.ranks}][one.bytes].push_back(one);
    int& most = most_ranks[one.operation];
    most = std::max(most, one.ranks);
  }
  std::vector<TunedRule> rules;
  for (const auto& [key, sizes] : groups) {
    const auto& [operation, location, ranks] = key;
    TunedRule row;
    row.operation = operation;
    row.location = location;
    row.most_ranks = ranks == most_ranks[operation] ? collectives::kAnyRanks : ranks;
    add_rows(rules, sizes, row, margin);
  }
  return rules;
}

}  // namespace baton::cli
