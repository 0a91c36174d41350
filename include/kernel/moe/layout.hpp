// Where everything of an expert exchange lies. Kernels and drivers both ask here; nobody else knows.
//
// The window of a rank:
//
//   signals    rows arrived | rows taken | returns arrived | returns taken, a cache line each
//   sizes      what this rank made the exchange for, and who found out that ranks disagree: two cache lines
//   inbox 0    starts[experts_per_rank + 1], then rows: what rank 0 sent
//   ...
//   inbox P-1
//   returns    results of this rank's rows, back from the experts of others, in the order in which it packed the rows
#pragma once

#include <moe/problem.hpp>
#include <pto/target/compiler.hpp>

namespace baton::moe {

/// The counters in the window of a rank. They count on from round to round and are never reset.
enum class Counter : int32_t { rows_arrived, rows_taken, returns_arrived, returns_taken };

class Layout {
 public:
  static constexpr int64_t kLine = 64;
  static constexpr int64_t kCounters = 4;
  static constexpr int64_t kAgreementBytes = 2 * kLine;

  /// `problem` has no fault.
  PTO_ANYWHERE explicit Layout(const Problem& problem) : problem_(problem) {}

  PTO_ANYWHERE const Problem& problem() const { return problem_; }
  PTO_ANYWHERE int64_t experts() const { return int64_t{problem_.ranks} * problem_.experts_per_rank; }
  PTO_ANYWHERE int64_t row_bytes() const { return int64_t{problem_.width} * problem_.element_bytes; }

  /// Choices of experts that a rank makes in a round.
  PTO_ANYWHERE int64_t choices_at_most() const { return int64_t{problem_.tokens_at_most} * problem_.top_k; }
  /// Rows that a rank sends to all experts.
  PTO_ANYWHERE int64_t sent_at_most() const { return limited_by(experts()); }
  /// Rows that a rank sends to the experts of one rank.
  PTO_ANYWHERE int64_t sent_to_a_rank_at_most() const { return limited_by(problem_.experts_per_rank); }
  /// Rows that the experts of a rank get.
  PTO_ANYWHERE int64_t received_at_most() const { return problem_.ranks * sent_to_a_rank_at_most(); }

  // Tensors of a rank, which peers do not see.
  /// int32: see Plan.
  PTO_ANYWHERE int64_t plan_ints() const { return experts() + 1 + choices_at_most(); }
  /// int32: see Blocks.
  PTO_ANYWHERE int64_t block_ints() const { return 2 * experts() + 1; }

  // The window, in bytes from its start.
  static PTO_ANYWHERE int64_t counter(Counter which) { return static_cast<int64_t>(which) * kLine; }
  /// See Agreement. The same for all sizes, as the counters.
  static PTO_ANYWHERE int64_t agreement() { return kCounters * kLine; }
  PTO_ANYWHERE int64_t inbox(int64_t source) const { return agreement() + kAgreementBytes + source * inbox_bytes(); }
  PTO_ANYWHERE int64_t inbox_rows(int64_t source) const { return inbox(source) + inbox_header_bytes(); }
  PTO_ANYWHERE int64_t returns() const { return inbox(problem_.ranks); }
  PTO_ANYWHERE int64_t window_bytes() const { return returns() + aligned(sent_at_most() * row_bytes()); }

  /// How much a counter grows in each round. A rank sends nothing to itself: its rows and results stay where they are.
  PTO_ANYWHERE int32_t per_round(Counter which) const {
    const bool from_others = which == Counter::rows_arrived || which == Counter::returns_arrived;
    return from_others ? problem_.ranks - 1 : problem_.ranks;
  }

 private:
  static PTO_ANYWHERE int64_t aligned(int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }
  PTO_ANYWHERE int64_t limited_by(int64_t expert_count) const {
    if (problem_.capacity == 0) return choices_at_most();
    const int64_t rows = expert_count * problem_.capacity;
    return rows < choices_at_most() ? rows : choices_at_most();
  }
  PTO_ANYWHERE int64_t inbox_header_bytes() const {
    return aligned((int64_t{problem_.experts_per_rank} + 1) * int64_t{sizeof(int32_t)});
  }
  PTO_ANYWHERE int64_t inbox_bytes() const {
    return inbox_header_bytes() + aligned(sent_to_a_rank_at_most() * row_bytes());
  }

  Problem problem_;
};

}  // namespace baton::moe
