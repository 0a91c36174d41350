// The sizes of an expert exchange for a driver that is not written in C++: a function of the kernel library.
#pragma once

#include <pto/target/qualifiers.hpp>

#include <moe/layout.hpp>

namespace baton::moe {

/// What a driver allocates and waits for, in this order.
struct Sizes {
  int64_t window_bytes;
  int64_t plan_ints;
  int64_t block_ints;
  int64_t sent_rows;      // of the outbox
  int64_t received_rows;  // of what assemble() writes
  int64_t counter_bytes[4];
  int64_t counter_per_round[4];
};

/// Null, or what is wrong with the problem.
inline const char* describe(const int32_t* numbers, Sizes* sizes) {
  const Problem problem = Problem::from(numbers);
  if (const char* fault = problem_fault(problem)) return fault;
  const Layout layout(problem);
  *sizes = {layout.window_bytes(),
            layout.plan_ints(),
            layout.block_ints(),
            layout.sent_at_most(),
            layout.received_at_most(),
            {},
            {}};
  for (int32_t i = 0; i < 4; ++i) {
    sizes->counter_bytes[i] = layout.counter(static_cast<Counter>(i));
    sizes->counter_per_round[i] = layout.per_round(static_cast<Counter>(i));
  }
  return nullptr;
}

}  // namespace baton::moe

/// At namespace scope, once in a kernel library: const char* baton_moe_describe(const int32_t problem[7], int64_t
/// sizes[13]).
#define BATON_MOE_DESCRIBE                                                                                      \
  extern "C" __attribute__((visibility("default"))) const char* baton_moe_describe(const int32_t* problem,      \
                                                                                   ::baton::moe::Sizes* sizes); \
  extern "C" const char* baton_moe_describe(const int32_t* problem, ::baton::moe::Sizes* sizes) {               \
    return ::baton::moe::describe(problem, sizes);                                                              \
  }                                                                                                             \
  static_assert(true)
