// Tokens go to the ranks of their experts: asynchronous puts, each with a signal that follows its bytes.
#include <baton_kernel.hpp>
#include <moe/moe.hpp>

using Element = ELEMENT;  // of a token
using namespace baton::moe;

BATON_MOE_DESCRIBE;

/// Sorts the choices by expert and packs the rows for other ranks in that order.
BATON_KERNEL(prepare, In<int32_t> problem, In<Element> tokens, In<int32_t> experts, Out<int32_t> plan,
             Out<Element> outbox, uint8_t* window, const CommContext* context, int32_t token_count) {
  const Exchange<Element> exchange(Problem::from(problem.data()), context, window, args);
  route(exchange.layout(), experts, token_count, plan);
  exchange.pack(tokens, token_count, plan, outbox);
}

/// Complete when the engine has put everything: the next round may pack then.
BATON_KERNEL(send_rows, In<int32_t> problem, In<int32_t> plan, In<Element> outbox, uint8_t* window,
             const CommContext* context, int32_t round) {
  const Exchange<Element> exchange(Problem::from(problem.data()), context, window, args);
  exchange.send_rows(plan, outbox, round);
}

/// The rows of all ranks by expert. All have arrived: the task takes the token of a notification wait.
BATON_KERNEL(recv_assemble, In<int32_t> problem, In<int32_t> plan, In<Element> tokens, Out<Element> rows,
             Out<int32_t> blocks, uint8_t* window, const CommContext* context, int32_t token_count) {
  const Exchange<Element> exchange(Problem::from(problem.data()), context, window, args);
  exchange.assemble(plan, tokens, token_count, rows, blocks);
  exchange.tell_taken(Counter::rows_taken);
}
