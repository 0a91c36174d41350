// The kernels of order_kernels.cpp.
#pragma once

#include <cstdint>

#include <pto/target/qualifiers.hpp>

enum class Forget : std::int64_t {
  nothing,
  transitive,  // nothing; the order it needs is transitive
  load_before_add,
  add_before_next_load,
  add_before_store,
  store_before_next_add,
  store_before_load,
  store_before_notify,
  load_before_move,
  move_before_matmul,
  matmul_before_store,
  count_before_gather,
  gather_before_store,
  scatter_before_load,
};

extern "C" {
AICORE void pipeline_kernel(std::int64_t* args);
AICORE void matmul_kernel(std::int64_t* args);
AICORE void notifier_kernel(std::int64_t* args);
AICORE void selecting_kernel(std::int64_t* args);
}
