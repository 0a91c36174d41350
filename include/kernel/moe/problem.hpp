// The sizes of an expert exchange: what all ranks of a domain agree upon.
#pragma once

#include <stdint.h>
#include <string.h>

#include <pto/target/compiler.hpp>

namespace baton::moe {

/// Equal on all ranks. Kernels get it as a tensor of these int32, in this order.
struct Problem {
  int32_t ranks;
  int32_t experts_per_rank;
  int32_t top_k;           // experts of a token
  int32_t tokens_at_most;  // of any rank in any round; a rank may have fewer, or none
  int32_t width;           // elements of a row
  int32_t element_bytes;
  int32_t capacity;  // rows that one rank may send to one expert in a round; 0: no limit

  static PTO_ANYWHERE Problem from(const int32_t* numbers) {
    Problem problem;
    memcpy(&problem, numbers, sizeof problem);
    return problem;
  }
};

enum : int { kProblemInts = sizeof(Problem) / sizeof(int32_t) };

/// What is wrong with the sizes; null if nothing is. Rows are counted in 32 bits.
PTO_ANYWHERE inline const char* problem_fault(const Problem& problem) {
  constexpr int64_t kMost = INT32_MAX;
  if (problem.ranks < 1) return "ranks: at least 1";
  if (problem.experts_per_rank < 1) return "experts_per_rank: at least 1";
  if (problem.top_k < 1) return "top_k: at least 1";
  if (problem.tokens_at_most < 1) return "tokens_at_most: at least 1";
  if (problem.width < 1) return "width: at least 1";
  if (problem.element_bytes < 1) return "element_bytes: at least 1";
  if (problem.capacity < 0) return "capacity: at least 0, which means no limit";
  if (int64_t{problem.ranks} * problem.experts_per_rank > kMost / problem.ranks) return "too many experts";
  if (int64_t{problem.tokens_at_most} * problem.top_k > kMost / problem.ranks) return "too many tokens";
  if (int64_t{problem.width} * problem.element_bytes > kMost) return "too wide";
  return nullptr;
}

}  // namespace baton::moe
