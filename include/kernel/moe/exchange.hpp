// Expert dispatch and combine: rows go to the ranks of their experts, results come back and are added up.
//
//   route, pack --> outbox --send_rows--> inboxes --assemble--> rows by expert --> the experts' own work
//   route ------store_rows, tell_sent-------^
//   combine <-- returns <--send_returns-- results by expert
//              ^------store_returns, tell_returned---'
//
// What a rank has for its own experts is neither sent nor sent back: it is read where it is.
//
// Steps of one rank are tasks, or parts of one; between a send and what follows it on another rank is a counter, which
// a task waits for: a notification wait, a condition, or wait(). Rounds are numbered from 1 on by all ranks alike.
// Ranks that made the exchange for different sizes learn of it: the first kernel to see it, and every other that waits
// or comes later, fails. The window is of no use then.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <collectives/tile_elements.hpp>
#include <moe/agreement.hpp>
#include <moe/courier.hpp>
#include <moe/plan.hpp>

namespace baton::moe {

/// One of several blocks that share the rows of a step.
struct Part {
  int64_t index = 0;
  int64_t count = 1;
};

/// One rank's side of an exchange.
template <typename Element>
class Exchange {
 public:
  /// `window` is this rank's: Layout::window_bytes() in a window of the domain. `args` are those of the kernel.
  AICORE Exchange(const Problem& problem, const CommContext* context, uint8_t* window, int64_t* args,
                  kernel::Where where = kernel::Where::current())
      : layout_(problem), context_(context), window_(window), args_(args), where_(where) {
    check();
  }

  AICORE const Layout& layout() const { return layout_; }
  AICORE int rank() const { return static_cast<int>(context_->rankId); }
  AICORE int ranks() const { return layout_.problem().ranks; }

  /// A counter of this rank, and what it has after `round` rounds.
  AICORE int32_t* counter(Counter which) const { return part_of<int32_t>(layout_.counter(which)); }
  AICORE int32_t expected(Counter which, int32_t round) const { return layout_.per_round(which) * round; }
  AICORE void wait(Counter which, int32_t round) const {
    const pto::comm::Signal here(counter(which));
    pto::comm::TWAIT(here, expected(which, round), pto::comm::WaitCmp::GE);
    agreement().check_counter(counter(which));
    pipe_barrier(PIPE_ALL);
  }
  /// The task is complete when the counter says that the round is.
  AICORE void complete_with(Counter which, int32_t round) const {
    AsyncCtx completion = get_async_ctx(args_);
    save_expected_notification_counter(completion, counter(which), static_cast<uint32_t>(expected(which, round)));
  }

  // Tensors are arguments of kernels, or anything else with data() and size(); those with less room than Layout says
  // are an error.

  /// outbox = the rows of the plan that go to other ranks, each in its place.
  template <typename Tokens, typename PlanInts, typename Outbox>
  AICORE void pack(const Tokens& tokens, int64_t token_count, const PlanInts& plan, const Outbox& outbox,
                   Part part = {}) const {
    const BatonPlace place = kernel::place_of("moe::pack", where_);
    const Element* from = room_in(tokens, token_count * width(), "tokens", place);
    Element* to = room_in(outbox, layout_.sent_at_most() * width(), "outbox", place);
    const Plan made = plan_of(plan, place);
    const int64_t top_k = layout_.problem().top_k;
    for (int64_t token = part.index; token < token_count; token += part.count) {
      copy_line_to_each(from + token * width(), width(), top_k, [&](int64_t k) -> Element* {
        const int64_t position = made.positions[token * top_k + k];
        return position == kNotSent || is_own(position, made) ? nullptr : to + position * width();
      });
    }
  }

  /// Puts rows into the inboxes of all other ranks, once those have taken the rows of the round before. The engine
  /// reads the outbox and the plan until the task is complete, or until this returns.
  template <typename PlanInts, typename Outbox>
  AICORE void send_rows(const PlanInts& plan, const Outbox& outbox, int32_t round,
                        Sending sending = Sending::deferred) const {
    const BatonPlace place = kernel::place_of("moe::send_rows", where_);
    const Element* packed = room_in(outbox, layout_.sent_at_most() * width(), "outbox", place);
    const Plan made = plan_of(plan, place);
    wait(Counter::rows_taken, round - 1);
    if (ranks() == 1) return;
    Courier courier(args_, where_);
    for (int step = 1; step < ranks(); ++step) {
      const int peer = neighbour(step);
      const int32_t* starts = made.starts + peer * local_experts();
      const int64_t rows = starts[local_experts()] - starts[0];
      int32_t* header = at_peer<int32_t>(layout_.inbox(rank()), peer);
      int32_t* arrived = at_peer<int32_t>(layout_.counter(Counter::rows_arrived), peer);
      if (rows == 0) {
        courier.put_and_notify(header, starts, local_experts() + 1, arrived);
      } else {
        courier.put(header, starts, local_experts() + 1);
        courier.put_and_notify(at_peer<Element>(layout_.inbox_rows(rank()), peer), packed + starts[0] * width(),
                               rows * width(), arrived);
      }
    }
    courier.finish(sending);
  }

  /// Instead of pack() and send_rows(), where cores store to other ranks as fast as engines do: rows go straight into
  /// the inboxes of other ranks, once those have taken the rows of the round before. After all parts, tell_sent().
  template <typename Tokens, typename PlanInts>
  AICORE void store_rows(const Tokens& tokens, int64_t token_count, const PlanInts& plan, int32_t round,
                         Part part = {}) const {
    const BatonPlace place = kernel::place_of("moe::store_rows", where_);
    const Element* from = room_in(tokens, token_count * width(), "tokens", place);
    const Plan made = plan_of(plan, place);
    wait(Counter::rows_taken, round - 1);
    const int64_t top_k = layout_.problem().top_k;
    for (int64_t token = part.index; token < token_count; token += part.count) {
      copy_line_to_each(from + token * width(), width(), top_k, [&](int64_t k) -> Element* {
        const int64_t position = made.positions[token * top_k + k];
        if (position == kNotSent || is_own(position, made)) return nullptr;
        const int owner = made.owner_of(position, local_experts());
        const int64_t row = position - made.starts[owner * local_experts()];
        return at_peer<Element>(layout_.inbox_rows(rank()), owner) + row * width();
      });
    }
  }

  /// The rows of store_rows() are where they belong: the other ranks learn how many there are for which expert.
  template <typename PlanInts>
  AICORE void tell_sent(const PlanInts& plan) const {
    const Plan made = plan_of(plan, kernel::place_of("moe::tell_sent", where_));
    for (int step = 1; step < ranks(); ++step) {
      const int peer = neighbour(step);
      copy_line(at_peer<int32_t>(layout_.inbox(rank()), peer), made.starts + peer * local_experts(),
                local_experts() + 1);
      notify(Counter::rows_arrived, peer);
    }
  }

  /// rows = what all ranks have for the experts of this one, by expert; blocks say where they came from. Those of other
  /// ranks have arrived. Part 0 writes the blocks.
  template <typename PlanInts, typename Tokens, typename Rows, typename BlockInts>
  AICORE void assemble(const PlanInts& plan, const Tokens& tokens, int64_t token_count, const Rows& rows,
                       const BlockInts& blocks, Part part = {}) const {
    const BatonPlace place = kernel::place_of("moe::assemble", where_);
    const Element* own = room_in(tokens, token_count * width(), "tokens", place);
    Element* to = room_in(rows, layout_.received_at_most() * width(), "rows", place);
    int32_t* block_starts = room_in(blocks, layout_.block_ints(), "blocks", place);
    int32_t* homes = block_starts + layout_.experts() + 1;
    const Plan made = plan_of(plan, place);
    // Many lanes refresh all at once.
    const int ranges = kernel::kManyLanes ? 1 : ranks();
    for (int source = 0; source < ranges; ++source) refresh(starts_from(source, made), local_experts() + 1);
    int64_t first = 0;
    for (int64_t block = 0; block < layout_.experts(); ++block) {
      const int64_t expert = block / ranks();
      const auto source = static_cast<int>(block % ranks());
      const int32_t* starts = starts_from(source, made);
      const int64_t count = starts[expert + 1] - starts[expert];
      if (part.index == 0) {
        block_starts[block] = static_cast<int32_t>(first);
        homes[block] = starts[expert];
      }
      if (count > 0 && source != rank() && block % part.count == part.index) {
        const auto* inbox = part_of<const Element>(layout_.inbox_rows(source));
        copy_line(to + first * width(), inbox + (starts[expert] - starts[0]) * width(), count * width());
      }
      first += count;
    }
    if (part.index == 0) {
      block_starts[layout_.experts()] = static_cast<int32_t>(first);
      refresh(block_starts, layout_.block_ints());
    }
    const int64_t top_k = layout_.problem().top_k;
    for (int64_t token = part.index; token < token_count; token += part.count) {
      copy_line_to_each(own + token * width(), width(), top_k, [&](int64_t k) -> Element* {
        const int64_t position = made.positions[token * top_k + k];
        if (!is_own(position, made)) return nullptr;
        const int64_t expert = own_expert(position, made);
        return to + (first_own_row(expert, made) + position - own_starts(made)[expert]) * width();
      });
    }
  }

  /// Nobody reads what arrived at this rank any more: the inboxes (rows_taken), or the returns (returns_taken). Those
  /// who send may go on.
  AICORE void tell_taken(Counter which) const {
    for (int step = 0; step < ranks(); ++step) notify(which, neighbour(step));
  }

  /// Puts results, which lie as assemble() left the rows, into the returns of the other ranks that sent the rows, once
  /// those have taken the returns of the round before. The engine reads them until the task is complete, or until this
  /// returns.
  template <typename Results, typename BlockInts>
  AICORE void send_returns(const Results& results, const BlockInts& blocks, int32_t round,
                           Sending sending = Sending::deferred) const {
    const BatonPlace place = kernel::place_of("moe::send_returns", where_);
    const Element* from = room_in(results, layout_.received_at_most() * width(), "results", place);
    const Blocks made = Blocks::of(layout_, room_in(blocks, layout_.block_ints(), "blocks", place));
    wait(Counter::returns_taken, round - 1);
    // Those who get nothing first: a notify while puts are under way does not say what it follows.
    for (int step = 1; step < ranks(); ++step) {
      if (block_count_of(neighbour(step), made) == 0) notify(Counter::returns_arrived, neighbour(step));
    }
    if (ranks() == 1) return;
    Courier courier(args_, where_);
    for (int step = 1; step < ranks(); ++step) send_returns_to(neighbour(step), from, made, courier);
    courier.finish(sending);
  }

  /// Instead of send_returns(), where cores store to other ranks as fast as engines do: results go straight into the
  /// returns of the other ranks, once those have taken the returns of the round before. After all parts,
  /// tell_returned().
  template <typename Results, typename BlockInts>
  AICORE void store_returns(const Results& results, const BlockInts& blocks, int32_t round, Part part = {}) const {
    const BatonPlace place = kernel::place_of("moe::store_returns", where_);
    const Element* from = room_in(results, layout_.received_at_most() * width(), "results", place);
    const Blocks made = Blocks::of(layout_, room_in(blocks, layout_.block_ints(), "blocks", place));
    wait(Counter::returns_taken, round - 1);
    for (int64_t block = part.index; block < layout_.experts(); block += part.count) {
      const auto source = static_cast<int>(block % ranks());
      const int64_t count = made.starts[block + 1] - made.starts[block];
      if (count == 0 || source == rank()) continue;
      copy_line(at_peer<Element>(layout_.returns(), source) + made.homes[block] * width(),
                from + made.starts[block] * width(), count * width());
    }
  }

  /// The results of store_returns() are where they belong.
  AICORE void tell_returned() const {
    for (int step = 1; step < ranks(); ++step) notify(Counter::returns_arrived, neighbour(step));
  }

  /// sums = for each token the sum of the results of its rows by weight: weights[token * top_k + k]. Those of other
  /// ranks have arrived; those of this rank's experts are read from its own results.
  template <typename PlanInts, typename Results, typename BlockInts, typename Weights, typename Sums>
  AICORE void combine(const PlanInts& plan, const Results& results, const BlockInts& blocks, const Weights& weights,
                      int64_t token_count, const Sums& sums, Part part = {}) const {
    const BatonPlace place = kernel::place_of("moe::combine", where_);
    const int64_t top_k = layout_.problem().top_k;
    const Element* own = room_in(results, layout_.received_at_most() * width(), "results", place);
    const Blocks assembled = Blocks::of(layout_, room_in(blocks, layout_.block_ints(), "blocks", place));
    const float* by = room_in(weights, token_count * top_k, "weights", place);
    Element* to = room_in(sums, token_count * width(), "sums", place);
    const Plan made = plan_of(plan, place);
    for (int64_t token = part.index; token < token_count; token += part.count) {
      const int32_t* positions = made.positions + token * top_k;
      weighted_sum(to + token * width(), width(), by + token * top_k, top_k,
                   [&](int64_t k) { return result_of(positions[k], made, assembled, own); });
    }
  }

 private:
  AICORE Agreement agreement() const { return {context_, window_, where_}; }
  AICORE int64_t width() const { return layout_.problem().width; }
  AICORE int64_t local_experts() const { return layout_.problem().experts_per_rank; }
  AICORE int neighbour(int step) const { return (rank() + step) % ranks(); }
  template <typename Type>
  AICORE Type* part_of(int64_t bytes) const {
    return reinterpret_cast<Type*>(window_ + bytes);
  }
  template <typename Type>
  AICORE Type* at_peer(int64_t bytes, int peer) const {
    return pto::comm::CommRemotePtr(context_, part_of<Type>(bytes), peer);
  }

  /// A rank that sees the counter sees what this rank did before.
  AICORE void notify(Counter which, int peer) const {
    pipe_barrier(PIPE_ALL);
    const pto::comm::Signal there(at_peer<int32_t>(layout_.counter(which), peer));
    pto::comm::TNOTIFY(there, 1, pto::comm::NotifyOp::AtomicAdd);
  }

  template <typename PlanInts>
  AICORE Plan plan_of(const PlanInts& plan, const BatonPlace& place) const {
    return Plan::of(layout_, room_in(plan, layout_.plan_ints(), "plan", place));
  }
  /// The first rows of this rank's experts, as `source` packed them.
  AICORE const int32_t* starts_from(int source, const Plan& plan) const {
    if (source == rank()) return own_starts(plan);
    return part_of<const int32_t>(layout_.inbox(source));
  }

  /// The places among the packed rows that belong to this rank's own experts, which stay empty.
  AICORE const int32_t* own_starts(const Plan& plan) const { return plan.starts + rank() * local_experts(); }
  AICORE bool is_own(int64_t position, const Plan& plan) const {
    return position >= own_starts(plan)[0] && position < own_starts(plan)[local_experts()];
  }
  AICORE int64_t own_expert(int64_t position, const Plan& plan) const {
    int64_t expert = 0;
    while (position >= own_starts(plan)[expert + 1]) ++expert;
    return expert;
  }
  /// Among the assembled rows.
  AICORE int64_t first_own_row(int64_t expert, const Plan& plan) const {
    int64_t first = 0;
    for (int source = 0; source < ranks(); ++source) {
      const int32_t* starts = starts_from(source, plan);
      first += starts[source < rank() ? expert + 1 : expert] - starts[0];
    }
    return first;
  }

  /// What an expert made of the row at `position` of the plan; null if it was not sent.
  AICORE const Element* result_of(int64_t position, const Plan& plan, const Blocks& blocks, const Element* own) const {
    if (position == kNotSent) return nullptr;
    if (!is_own(position, plan)) return part_of<const Element>(layout_.returns()) + position * width();
    const int64_t expert = own_expert(position, plan);
    const int64_t first = blocks.starts[expert * ranks() + rank()];
    return own + (first + position - own_starts(plan)[expert]) * width();
  }

  /// Calls body(row, home, count) for each block of `source` that has rows.
  template <typename Body>
  AICORE void for_blocks_of(int source, const Blocks& blocks, const Body& body) const {
    for (int64_t expert = 0; expert < local_experts(); ++expert) {
      const int64_t block = expert * ranks() + source;
      const int64_t count = blocks.starts[block + 1] - blocks.starts[block];
      if (count > 0) body(int64_t{blocks.starts[block]}, int64_t{blocks.homes[block]}, count);
    }
  }

  AICORE int64_t block_count_of(int source, const Blocks& blocks) const {
    int64_t count = 0;
    for_blocks_of(source, blocks, [&](int64_t, int64_t, int64_t) { ++count; });
    return count;
  }

  AICORE void send_returns_to(int peer, const Element* results, const Blocks& blocks, Courier& courier) const {
    int64_t left = block_count_of(peer, blocks);
    Element* returns = at_peer<Element>(layout_.returns(), peer);
    int32_t* arrived = at_peer<int32_t>(layout_.counter(Counter::returns_arrived), peer);
    for_blocks_of(peer, blocks, [&](int64_t row, int64_t home, int64_t count) {
      if (--left > 0) {
        courier.put(returns + home * width(), results + row * width(), count * width());
      } else {
        courier.put_and_notify(returns + home * width(), results + row * width(), count * width(), arrived);
      }
    });
  }

  AICORE void check() const {
    const Problem& problem = layout_.problem();
    // Throws if the first byte lies outside of the window.
    (void)pto::comm::CommRemotePtr(context_, window_, rank(), where_);
    const Agreement others = agreement();
    if (const char* fault = problem_fault(problem)) others.fail(BATON_KERNEL_INVALID_ARGUMENT, fault);
    if (static_cast<int64_t>(context_->rankNum) != problem.ranks) {
      others.fail(BATON_KERNEL_INVALID_ARGUMENT, "the exchange is made for ", problem.ranks, " ranks, the domain has ",
                  context_->rankNum);
    }
    if (problem.element_bytes != static_cast<int32_t>(sizeof(Element))) {
      others.fail(BATON_KERNEL_INVALID_ARGUMENT, "the exchange is made for elements of ", problem.element_bytes,
                  " bytes, this kernel has ", sizeof(Element));
    }
    if (static_cast<uint64_t>(layout_.window_bytes()) > context_->winSize) {
      others.fail(BATON_KERNEL_OUT_OF_RANGE, "the exchange needs ", layout_.window_bytes(),
                  " bytes of this rank's window, which has ", context_->winSize);
    }
    // Or the last byte.
    (void)pto::comm::CommRemotePtr(context_, window_ + layout_.window_bytes() - 1, rank(), where_);
    others.check(problem, collectives::element_of<Element>());
  }

  Layout layout_;
  const CommContext* context_;
  uint8_t* window_;
  int64_t* args_;
  kernel::Where where_;
};

}  // namespace baton::moe
