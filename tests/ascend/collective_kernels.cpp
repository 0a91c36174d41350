// The kernels of tests/collectives that call collectives, as a library.
#include "../collectives/chip_kernels.cpp"

BATON_KERNEL_ENTRY(collectives_test_call);
