// The expert exchange with the rows of each step shared by several blocks. Elements are bfloat16.
#include <baton_kernel.hpp>
#include <moe/moe.hpp>

using Element = bfloat16_t;
using namespace baton::moe;

namespace {

AICORE Part part_of_block(int64_t* args) { return {get_block_idx(args), get_block_num(args)}; }

}  // namespace

BATON_KERNEL(route_tokens, In<int32_t> problem, In<int32_t> experts, Out<int32_t> plan, int32_t token_count) {
  route(Layout(Problem::from(problem.data())), experts, token_count, plan);
}

BATON_KERNEL(store, In<int32_t> problem, In<Element> tokens, In<int32_t> plan, Out<int32_t> stored, uint8_t* window,
             const CommContext* context, int32_t token_count, int32_t round) {
  (void)stored;
  const Exchange<Element> exchange(Problem::from(problem.data()), context, window, args);
  exchange.store_rows(tokens, token_count, plan, round, part_of_block(args));
}

/// Complete when the rows of all ranks have arrived.
BATON_KERNEL(tell, In<int32_t> problem, In<int32_t> plan, In<int32_t> stored, Out<int32_t> arrived, uint8_t* window,
             const CommContext* context, int32_t round) {
  (void)stored;
  (void)arrived;
  const Exchange<Element> exchange(Problem::from(problem.data()), context, window, args);
  exchange.tell_sent(plan);
  exchange.complete_with(Counter::rows_arrived, round);
}

BATON_KERNEL(gather_rows, In<int32_t> problem, In<int32_t> plan, In<Element> tokens, In<int32_t> arrived,
             Out<Element> rows, Out<int32_t> blocks, uint8_t* window, const CommContext* context, int32_t token_count) {
  (void)arrived;
  const Exchange<Element> exchange(Problem::from(problem.data()), context, window, args);
  exchange.assemble(plan, tokens, token_count, rows, blocks, part_of_block(args));
}

/// After all blocks: a sender of the next rows may go on.
BATON_KERNEL(taken, In<int32_t> problem, In<Element> rows, uint8_t* window, const CommContext* context, int32_t which) {
  (void)rows;
  const Exchange<Element> exchange(Problem::from(problem.data()), context, window, args);
  exchange.tell_taken(static_cast<Counter>(which));
}

BATON_KERNEL(store_back, In<int32_t> problem, In<Element> results, In<int32_t> blocks, Out<int32_t> stored,
             uint8_t* window, const CommContext* context, int32_t round) {
  (void)stored;
  const Exchange<Element> exchange(Problem::from(problem.data()), context, window, args);
  exchange.store_returns(results, blocks, round, part_of_block(args));
}

/// Complete when the results of all ranks have arrived.
BATON_KERNEL(tell_back, In<int32_t> problem, In<int32_t> stored, Out<int32_t> home, uint8_t* window,
             const CommContext* context, int32_t round) {
  (void)stored;
  (void)home;
  const Exchange<Element> exchange(Problem::from(problem.data()), context, window, args);
  exchange.tell_returned();
  exchange.complete_with(Counter::returns_arrived, round);
}

BATON_KERNEL(sum_up, In<int32_t> problem, In<int32_t> plan, In<Element> results, In<int32_t> blocks, In<float> weights,
             In<int32_t> home, Out<Element> sums, uint8_t* window, const CommContext* context, int32_t token_count) {
  (void)home;
  const Exchange<Element> exchange(Problem::from(problem.data()), context, window, args);
  exchange.combine(plan, results, blocks, weights, token_count, sums, part_of_block(args));
}
