#include <baton_kernel.hpp>
#include <moe/moe.hpp>

using namespace baton::moe;

BATON_KERNEL(begin_exchange, In<int32_t> problem, uint8_t* window, const CommContext* context, int32_t as_half) {
  const Problem sizes = Problem::from(problem.data());
  if (as_half != 0) {
    Exchange<half>(sizes, context, window, args).wait(Counter::rows_arrived, 1);
  } else {
    Exchange<bfloat16_t>(sizes, context, window, args).wait(Counter::rows_arrived, 1);
  }
}
