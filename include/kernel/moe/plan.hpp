// Which row goes where: the choices of a rank, sorted by expert.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <moe/layout.hpp>
#include <moe/route_on_lanes.hpp>
#include <pto/common/order.hpp>
#include <pto/target/fail.hpp>

namespace baton::moe {

/// Instead of an expert: the token makes no such choice.
inline constexpr int32_t kNoExpert = -1;
/// Instead of a position: the row is not sent, and counts as zeros in the weighted sum.
inline constexpr int32_t kNotSent = -1;

/// A rank packs its rows by expert; those for one expert in the order of tokens, those of one token in the order of its
/// choices. A view of Layout::plan_ints() int32.
struct Plan {
  const int32_t* starts;     // of each expert, and the end: its first row among the packed ones
  const int32_t* positions;  // of each choice, token by token: its row among the packed ones, or kNotSent

  static AICORE Plan of(const Layout& layout, const int32_t* plan) { return {plan, plan + layout.experts() + 1}; }

  /// The rank whose experts get the packed row at `position`; each rank has `experts_per_rank`.
  AICORE int owner_of(int64_t position, int64_t experts_per_rank) const {
    int owner = 0;
    while (position >= starts[(owner + 1) * experts_per_rank]) ++owner;
    return owner;
  }
};

/// The rows that the experts of a rank got: by expert, and for each expert by source. A view of Layout::block_ints()
/// int32.
struct Blocks {
  const int32_t* starts;  // of block expert * ranks + source, and the end: its first row among the assembled ones
  const int32_t* homes;   // of each block: its first row among those that the source packed

  static AICORE Blocks of(const Layout& layout, const int32_t* blocks) {
    return {blocks, blocks + layout.experts() + 1};
  }
};

/// The elements of `view`, anything with data() and size(), which must have `needed` of them.
template <typename View>
AICORE auto room_in(const View& view, int64_t needed, const char* name, const BatonPlace& place) {
  if (static_cast<int64_t>(view.size()) < needed) {
    kernel::fail(place, BATON_KERNEL_OUT_OF_RANGE, name, " has ", view.size(), " elements, needs ", needed);
  }
  return view.data();
}

/// Scalar data goes through a cache of the core. This writes back what engines and other cores are to read, and drops
/// what they may have changed.
AICORE inline void refresh(const int32_t* first, int64_t count) {
  if (kernel::kManyLanes) {
    // There each line takes as long as all of them.
    dcci(first, ENTIRE_DATA_CACHE, CACHELINE_OUT);
    dsb(DSB_DDR);
    return;
  }
  constexpr int64_t kLine = 64 / int64_t{sizeof(int32_t)};
  for (int64_t i = 0; i < count; i += kLine) dcci(first + i, SINGLE_CACHE_LINE, CACHELINE_OUT);
  dcci(first + count - 1, SINGLE_CACHE_LINE, CACHELINE_OUT);  // the first one may not begin a line
  dsb(DSB_DDR);
}

/// plan = the choices of a rank, sorted: experts[token * top_k + k], which count from 0 on over all ranks. Of more rows
/// for an expert than the capacity has room for, the first ones are sent.
template <typename Experts, typename PlanInts>
AICORE void route(const Layout& layout, const Experts& experts, int64_t tokens, const PlanInts& plan,
                  kernel::Where where = kernel::Where::current()) {
  const BatonPlace place = kernel::place_of("moe::route", where);
  const Problem& problem = layout.problem();
  if (tokens < 0 || tokens > problem.tokens_at_most) {
    kernel::fail(place, BATON_KERNEL_OUT_OF_RANGE, tokens, " tokens; the exchange is made for at most ",
                 problem.tokens_at_most);
  }
  const int64_t choices = tokens * problem.top_k;
  const int32_t* chosen = room_in(experts, choices, "experts", place);
  int32_t* starts = room_in(plan, layout.plan_ints(), "plan", place);
  int32_t* counts = starts + 1;
  int32_t* positions = counts + layout.experts();
  const auto check = [&](int64_t choice) {
    const int32_t expert = chosen[choice];
    if (expert == kNoExpert || (expert >= 0 && expert < layout.experts())) return;
    kernel::fail(place, BATON_KERNEL_OUT_OF_RANGE, "token ", choice / problem.top_k, " chose expert ", expert,
                 "; there are ", layout.experts());
  };
  if constexpr (kernel::kManyLanes) {
    const Choices all{chosen, choices, static_cast<int32_t>(layout.experts()), problem.capacity, starts, positions};
    if (!count_on_lanes(all, kNoExpert, kNotSent)) {
      for (int64_t choice = 0; choice < choices; ++choice) check(choice);
    }
    add_up(starts, layout.experts() + 1);
    move_on_lanes(all, kNotSent);
  } else {
    for (int64_t expert = -1; expert < layout.experts(); ++expert) counts[expert] = 0;
    for (int64_t choice = 0; choice < choices; ++choice) {
      check(choice);
      const int32_t expert = chosen[choice];
      const bool sent = expert != kNoExpert && (problem.capacity == 0 || counts[expert] < problem.capacity);
      positions[choice] = sent ? counts[expert]++ : kNotSent;
    }
    add_up(starts, layout.experts() + 1);
    for (int64_t choice = 0; choice < choices; ++choice) {
      if (positions[choice] != kNotSent) positions[choice] += starts[chosen[choice]];
    }
  }
  refresh(starts, layout.plan_ints());
}

}  // namespace baton::moe
