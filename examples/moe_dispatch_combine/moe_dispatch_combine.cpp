// Tokens go to their experts, results come back, and each token gets the weighted sum of its results.
#include <baton_kernel.hpp>
#include <moe/moe.hpp>

using Element = ELEMENT;  // of a token
using namespace baton::moe;

BATON_MOE_DESCRIBE;

/// Sorts the choices by expert and stores the rows in that order, and their counts, where the ranks of the experts read
/// them. Complete when those of all ranks have arrived here: a task that reads the plan waits for that.
BATON_KERNEL(dispatch, In<int32_t> problem, In<Element> tokens, In<int32_t> experts, Out<int32_t> plan, uint8_t* window,
             const CommContext* context, int32_t token_count, int32_t round) {
  const Exchange<Element> exchange(Problem::from(problem.data()), context, window, args);
  route(exchange.layout(), experts, token_count, plan);
  exchange.store_rows(tokens, token_count, plan, round);
  exchange.tell_sent(plan);
  exchange.complete_with(Counter::rows_arrived, round);
}

/// The rows of all ranks, by expert.
BATON_KERNEL(assemble, In<int32_t> problem, In<int32_t> plan, In<Element> tokens, Out<Element> rows,
             Out<int32_t> blocks, uint8_t* window, const CommContext* context, int32_t token_count) {
  const Exchange<Element> exchange(Problem::from(problem.data()), context, window, args);
  exchange.assemble(plan, tokens, token_count, rows, blocks);
  exchange.tell_taken(Counter::rows_taken);
}

/// Each expert of this rank multiplies its rows by its weights, element by element: results = rows * w.
BATON_KERNEL(run_experts, In<int32_t> problem, In<Element> rows, In<int32_t> blocks, In<float, 2> w,
             Out<Element> results) {
  const Layout layout(Problem::from(problem.data()));
  const Blocks made = Blocks::of(layout, blocks.data());
  const int64_t ranks = layout.problem().ranks;
  const int64_t width = layout.problem().width;
  constexpr bool kIsFloat = std::is_same_v<Element, float>;
  constexpr int kTileBytes = kPiece * static_cast<int>(sizeof(float));
  for (int64_t expert = 0; expert < w.shape(0); ++expert) {
    in_pieces(width, [&](int64_t first, int64_t n) {
      Piece<float> factors(n), product(n);
      Piece<Element> raw(n);  // floats need no conversion: the same tile as `product`
      TASSIGN(factors, 0);
      TASSIGN(product, kTileBytes);
      TASSIGN(raw, kIsFloat ? kTileBytes : 2 * kTileBytes);
      auto weights = w.block(expert, first, 1, n);
      TLOAD(factors, weights);
      for (int64_t row = made.starts[expert * ranks]; row < made.starts[(expert + 1) * ranks]; ++row) {
        auto from = rows.line(row * width + first, n);
        auto to = results.line(row * width + first, n);
        TLOAD(raw, from);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        if constexpr (!kIsFloat) TCVT(product, raw, pto::RoundMode::CAST_NONE);
        TMUL(product, product, factors);
        if constexpr (!kIsFloat) TCVT(raw, product, pto::RoundMode::CAST_RINT);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        TSTORE(to, raw);
        pipe_barrier(PIPE_ALL);  // the next row takes its place
      }
    });
  }
}

/// Sends results back to where their rows came from. Complete when those of other ranks for this rank's tokens have
/// arrived: a task that reads `home` waits for that.
BATON_KERNEL(give_back, In<int32_t> problem, In<Element> results, In<int32_t> blocks, Out<int32_t> home,
             uint8_t* window, const CommContext* context, int32_t round) {
  const Exchange<Element> exchange(Problem::from(problem.data()), context, window, args);
  exchange.send_returns(results, blocks, round);
  exchange.complete_with(Counter::returns_arrived, round);
  home.data()[0] = round;
}

/// sums = for each token the sum of its results, by weight.
BATON_KERNEL(combine, In<int32_t> problem, In<int32_t> plan, In<Element> results, In<int32_t> blocks, In<float> weights,
             In<int32_t> home, Out<Element> sums, uint8_t* window, const CommContext* context, int32_t token_count) {
  (void)home;
  const Exchange<Element> exchange(Problem::from(problem.data()), context, window, args);
  exchange.combine(plan, results, blocks, weights, token_count, sums);
  exchange.tell_taken(Counter::returns_taken);
}
