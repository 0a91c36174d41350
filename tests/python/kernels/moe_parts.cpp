// A whole exchange in one kernel, which waits on its core; its steps are done in parts, as several blocks would.
#include <baton_kernel.hpp>
#include <moe/moe.hpp>

using namespace baton::moe;

BATON_MOE_DESCRIBE;

/// The experts do nothing: sums = tokens times the sum of their weights.
BATON_KERNEL(there_and_back, In<int32_t> problem, In<float> tokens, In<int32_t> experts, In<float> weights,
             Out<int32_t> plan, Out<float> outbox, Out<float> rows, Out<int32_t> blocks, Out<float> sums,
             uint8_t* window, const CommContext* context, int32_t token_count, int32_t round, int64_t parts) {
  const Exchange<float> exchange(Problem::from(problem.data()), context, window, args);
  route(exchange.layout(), experts, token_count, plan);
  // Both ways in turns, which ranks may also mix in a round.
  if ((round + exchange.rank()) % 3 == 0) {
    for (int64_t i = 0; i < parts; ++i) exchange.pack(tokens, token_count, plan, outbox, {i, parts});
    exchange.send_rows(plan, outbox, round, Sending::awaited);
  } else {
    for (int64_t i = 0; i < parts; ++i) exchange.store_rows(tokens, token_count, plan, round, {i, parts});
    exchange.tell_sent(plan);
  }
  exchange.wait(Counter::rows_arrived, round);
  for (int64_t i = 0; i < parts; ++i) exchange.assemble(plan, tokens, token_count, rows, blocks, {i, parts});
  exchange.tell_taken(Counter::rows_taken);
  if ((round + exchange.rank()) % 2 == 0) {
    exchange.send_returns(rows, blocks, round, Sending::awaited);
  } else {
    for (int64_t i = 0; i < parts; ++i) exchange.store_returns(rows, blocks, round, {i, parts});
    exchange.tell_returned();
  }
  exchange.wait(Counter::returns_arrived, round);
  for (int64_t i = 0; i < parts; ++i) exchange.combine(plan, rows, blocks, weights, token_count, sums, {i, parts});
  exchange.tell_taken(Counter::returns_taken);
}
