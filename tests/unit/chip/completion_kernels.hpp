// The kernels of completion_kernels.cpp.
#pragma once

#include <cstdint>

extern "C" {
/// args: scalars: the address of a counter, what it must reach, how many times to register that
void await_counter_kernel(std::int64_t* args);
/// args: scalars: as above, then the completion queue
void await_counter_in_queue_kernel(std::int64_t* args);
/// args: source, destination
void get_kernel(std::int64_t* args);
/// args: source, destination, then scalar: the completion queue
void get_in_queue_kernel(std::int64_t* args);
/// Makes a copy from nowhere a condition. args: destination
void get_from_nowhere_kernel(std::int64_t* args);
/// Registers a condition that makes no sense.
void senseless_kernel(std::int64_t* args);
/// args: source, destination, then scalar: how many copies to submit on one session, of which it awaits the last
void many_copies_kernel(std::int64_t* args);
/// args: scalars: the address of a signal that nobody changes, the address of a word to change afterwards
void wait_and_go_on_kernel(std::int64_t* args);
}
