// The kernels of tests/unit/chip that leave conditions, as a library.
#include <baton_kernel.hpp>

#include "../unit/chip/completion_kernels.cpp"

BATON_KERNEL_ENTRY(await_counter_kernel);
BATON_KERNEL_ENTRY(await_counter_in_queue_kernel);
BATON_KERNEL_ENTRY(get_kernel);
BATON_KERNEL_ENTRY(senseless_kernel);
