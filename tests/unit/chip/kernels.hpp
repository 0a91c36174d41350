// The kernels of kernels.cpp.
#pragma once

#include <cstdint>

inline constexpr int kTileFloats = 16 * 64;

extern "C" {
void add_kernel(std::int64_t* args);
void allreduce_kernel(std::int64_t* args);
void copy_kernel(std::int64_t* args);
void wild_store_kernel(std::int64_t* args);
void wild_copy_kernel(std::int64_t* args);
void deep_kernel(std::int64_t* args);
void assert_kernel(std::int64_t* args);
void trap_kernel(std::int64_t* args);
void throw_kernel(std::int64_t* args);
void terminate_kernel(std::int64_t* args);
void uncaught_kernel(std::int64_t* args);
void spin_kernel(std::int64_t* args);
void set_and_spin_kernel(std::int64_t* args);
void ask_time_kernel(std::int64_t* args);
void poll_kernel(std::int64_t* args);
void pause_kernel(std::int64_t* args);
void forgotten_flag_kernel(std::int64_t* args);
void wait_kernel(std::int64_t* args);
}
